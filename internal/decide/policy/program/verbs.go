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

// VerbRules is the table's entry for a program whose first argument is a verb.
type VerbRules struct {
	Operands string // write, each or text
	Only     bool   // only Options are allowed, instead of all but those that need approval
	Options  []string

	verbs, runs, dirs, values []string
}

// FindVerbs returns the entry of a program in the table of verbs.
func FindVerbs(name string) (VerbRules, bool) {
	for text := range strings.Lines(stack.VerbRows() + verbs) {
		f := strings.Split(text, "|")
		if len(f) != 7 || strings.TrimSpace(f[0]) != name || strings.HasPrefix(text, "#") {
			continue
		}
		v := VerbRules{
			Operands: strings.TrimSpace(f[3]), Options: strings.Fields(f[6]),
			verbs: strings.Fields(f[1]), runs: strings.Fields(f[2]), dirs: strings.Fields(f[4]), values: strings.Fields(f[5]),
		}
		if len(v.Options) > 0 && v.Options[0] == "only" {
			v.Only, v.Options = true, v.Options[1:]
		}
		return v, true
	}
	return VerbRules{}, false
}

// AllowsVerb reports whether a verb is known, alone or with the word after it.
func (v VerbRules) AllowsVerb(verb, next string) bool {
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

// AddsDependencies reports whether operands of the verb would be new dependencies.
func (v VerbRules) AddsDependencies(verb string) bool { return slices.Contains(v.verbs, verb+"*") }

// WordsBeforeProgram returns the number of words, including the verb, before the program that is run. It is
// 0 for a verb that is a program itself, and -1 for a verb that runs none.
func (v VerbRules) WordsBeforeProgram(verb, next string) int {
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

// TakesDirectory reports whether an option's value is a working directory.
func (v VerbRules) TakesDirectory(option string) bool { return slices.Contains(v.dirs, option) }

// TakesValue reports whether an option has a value that is not a directory.
func (v VerbRules) TakesValue(option string) bool { return slices.Contains(v.values, option) }

// AllowsOption reports whether an option is allowed for a program that allows only some.
func (v VerbRules) AllowsOption(option string) bool {
	return !v.Only || slices.Contains(v.Options, option) || v.TakesDirectory(option) || v.TakesValue(option)
}

// NeedsQuestionExactly reports whether an option needs approval exactly as written, for programs without
// combined short options.
func (v VerbRules) NeedsQuestionExactly(option string) bool {
	name, value, _ := strings.Cut(option, "=")
	if slices.Contains(v.Options, "=-D") && strings.HasPrefix(name, "-D") {
		return !onlySkipsOrTests(name[len("-D"):]) && !IsToggle(name[len("-D"):], value) && !isPlainBuildProperty(name[len("-D"):], value)
	}
	return slices.Contains(v.Options, "="+name)
}

// isPlainBuildProperty reports whether a build property has a plain value, and a name that does not refer
// to programs or paths.
func isPlainBuildProperty(name, value string) bool {
	return regexp.MustCompile(`^[\w.,*#!+-]{0,80}$`).MatchString(value) && !regexp.MustCompile(`(?i)exec|jvm|argline|ext|class|home|repo|url|deploy|agent|compiler|plugin|script|command|tool|config|settings|file|path|dir|main|java\.|user|launch`).MatchString(name)
}

// onlySkipsOrTests reports whether a build property only selects what is skipped or tested.
func onlySkipsOrTests(name string) bool {
	if strings.HasSuffix(name, ".skip") || strings.HasPrefix(name, "skip") {
		return true
	}
	return slices.Contains(stack.CommandsOf().Properties, name)
}
