package policy

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// frontEnd requires approval if a well-known program would run code that is not judged, fetch
// other programs, or publish.
func (j *judgement) frontEnd(name string, args []shell.Word) {
	verbs := stack.CommandsOf().Asks[name]
	options, operands := shell.SplitOptions(args)
	for i, w := range operands {
		if slices.Contains(verbs, w.Text) && (i == 0 || i <= len(options) && len(w.Text) > 1 || name == "setup.py") {
			j.add(Ask, "code.inline", name+" "+w.Text+" may fetch, send, or run code that is not judged")
		}
	}
	if verbs != nil && len(operands) > 0 && operands[0].Dynamic && !operands[0].Fixed {
		j.add(Ask, "shell.dynamic", "what "+name+" does is not known before it runs")
	}
}

// configured returns the options without those whose value is a file of the tree or the name
// of a dependency's part: configuration, plugins, preloaded code. That is code of the tree,
// as its tests are.
func (j *judgement) configured(e program.Entry, options, args []shell.Word) []shell.Word {
	if !strings.HasPrefix(e.Rule, "build.") {
		return options
	}
	return slices.DeleteFunc(slices.Clone(options), func(o shell.Word) bool {
		option, value, joined := strings.Cut(o.Text, "=")
		if !shell.TakesPath(option) || option == "-c" && e.Rule == "build.make" || option == "-p" && e.Rule != "build.python" {
			return false
		}
		if joined {
			o.Text = value
			return j.ownFile(o)
		}
		for i, w := range args {
			if w.Text == o.Text && (i+1 == len(args) || !j.ownFile(args[i+1]) && !strings.HasPrefix(args[i+1].Text, "no:")) {
				return false
			}
		}
		return true
	})
}

// toggles reports whether an unknown variable only switches something in the tree's own code,
// which the program runs.
func (j *judgement) toggles(name string, value shell.Word, argv []shell.Word) bool {
	return !value.Dynamic && !value.Glob && program.Plain(name, value.Text) && j.runsTree(argv)
}

// runsTree reports whether a command builds or tests, and so runs code of the tree.
func (j *judgement) runsTree(argv []shell.Word) bool {
	if len(argv) == 0 || argv[0].Dynamic || argv[0].Glob {
		return false
	}
	name := argv[0].Text
	if strings.Contains(name, "/") {
		at, _ := j.locatePath(argv[0])
		return at == pathkind.Tree
	}
	e, _ := program.Find(name)
	return e.Answer == string(Allow) && strings.HasPrefix(e.Rule, "build.") || buildsOrInterprets(name)
}

// valgrind judges the program that runs in it.
func (j *judgement) valgrind(argv []shell.Word) {
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		option, value, _ := strings.Cut(rest[0].Text, "=")
		if rest[0].Dynamic || strings.HasPrefix(option, "--db") || strings.HasPrefix(option, "--vgdb") {
			j.add(Ask, "wrapper.option", "an option of valgrind may start something else")
		}
		if strings.ContainsAny(value, "/~") {
			j.writes([]shell.Word{shell.Literal(value)})
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		j.simple(rest)
	}
}
