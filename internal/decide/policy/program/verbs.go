package program

import (
	_ "embed" // the table
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

//go:embed verbs.txt
var verbs string

// Verbs is what the table says about a program whose first word says what it
// does.
type Verbs struct {
	Operands string // write, each or text
	Only     bool   // Options are all that it may be given, and not those that are asked about
	Options  []string

	verbs, runs, dirs, values []string
}

// FindVerbs looks a program up in the table of verbs.
func FindVerbs(name string) (Verbs, bool) {
	for text := range strings.Lines(stack.Verbs() + verbs) {
		f := strings.Split(text, "|")
		if len(f) != 7 || strings.TrimSpace(f[0]) != name || strings.HasPrefix(text, "#") {
			continue
		}
		v := Verbs{
			Operands: strings.TrimSpace(f[3]), Options: strings.Fields(f[6]),
			verbs: strings.Fields(f[1]), runs: strings.Fields(f[2]), dirs: strings.Fields(f[4]), values: strings.Fields(f[5]),
		}
		if len(v.Options) > 0 && v.Options[0] == "only" {
			v.Only, v.Options = true, v.Options[1:]
		}
		return v, true
	}
	return Verbs{}, false
}

// Does reports whether a verb is known, alone or with the word behind it.
func (v Verbs) Does(verb, next string) bool {
	if slices.Contains(v.verbs, verb+":"+next) || slices.Contains(v.verbs, verb) || slices.Contains(v.verbs, verb+"*") {
		return true
	}
	return slices.Contains(v.verbs, "*") && !strings.HasPrefix(verb, "-") && !slices.ContainsFunc(v.verbs, func(no string) bool {
		no, denied := strings.CutPrefix(no, "!")
		parts := strings.Split(strings.TrimPrefix(verb, ":"), ":")
		first, last := parts[0], parts[len(parts)-1]
		if len(no) < 3 {
			return denied && verb == no
		}
		return denied && (strings.HasPrefix(last, no) || strings.HasPrefix(first, no) && !strings.HasPrefix(verb, ":"))
	})
}

// Brings reports whether operands of the verb would be new dependencies.
func (v Verbs) Brings(verb string) bool { return slices.Contains(v.verbs, verb+"*") }

// Runs reports how many words, the verb among them, are before the program
// that is run, 0 for one that stands by itself; -1 is for a verb that runs none.
func (v Verbs) Runs(verb, next string) int {
	switch {
	case slices.Contains(v.runs, verb+":"+next):
		return 2
	case slices.Contains(v.runs, verb):
		return 1
	case slices.Contains(v.runs, "."):
		return 0
	}
	return -1
}

// Dir reports whether an option's value is a directory to work in.
func (v Verbs) Dir(option string) bool { return slices.Contains(v.dirs, option) }

// Value reports whether an option takes a value that is no directory.
func (v Verbs) Value(option string) bool { return slices.Contains(v.values, option) }

// Knows reports whether an option may be given where only some may.
func (v Verbs) Knows(option string) bool {
	return !v.Only || slices.Contains(v.Options, option) || v.Dir(option) || v.Value(option)
}

// Exact reports whether an option is one that is asked about just as it is
// written, as programs have them that take no clusters.
func (v Verbs) Exact(option string) bool {
	name, value, _ := strings.Cut(option, "=")
	if slices.Contains(v.Options, "=-D") && strings.HasPrefix(name, "-D") {
		return !defines(name[len("-D"):]) && !Toggle(name[len("-D"):], value) && !selects(name[len("-D"):], value)
	}
	return slices.Contains(v.Options, "="+name)
}

// selects reports whether a property of a build has a plain value, and a name
// that says nothing of programs and places.
func selects(name, value string) bool {
	return regexp.MustCompile(`^[\w.,*#!+-]{0,80}$`).MatchString(value) && !regexp.MustCompile(`(?i)exec|jvm|argline|ext|class|home|repo|url|deploy|agent|compiler|plugin|script|command|tool|config|settings|file|path|dir|main|java\.|user|launch`).MatchString(name)
}

// defines reports whether a property of a build only says what is skipped or
// tested.
func defines(name string) bool {
	if strings.HasSuffix(name, ".skip") || strings.HasPrefix(name, "skip") {
		return true
	}
	return slices.Contains(stack.CommandsOf().Properties, name)
}
