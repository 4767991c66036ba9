package policy

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// judgeFrontEnd requires approval if a well-known program would run code that is not judged, fetch
// other programs, or publish.
func (j *lineJudge) judgeFrontEnd(name string, args []shell.Word) {
	verbs := stack.CommandsOf().Asks[name]
	options, operands := shell.SplitOptions(args)
	for i, w := range operands {
		if slices.Contains(verbs, w.Text) && (i == 0 || i <= len(options) && len(w.Text) > 1 || name == "setup.py") {
			j.addAnswer(Ask, "code.inline", name+" "+w.Text+" may fetch, send, or run code that is not judged")
		}
	}
	if verbs != nil && len(operands) > 0 && operands[0].Dynamic && !operands[0].Fixed {
		j.addAnswer(Ask, "shell.dynamic", "what "+name+" does is not known before it runs")
	}
}

// dropTreeConfigOptions returns the options without those whose value is a file of the tree or the name
// of a dependency's part: configuration, plugins, preloaded code. That is code of the tree,
// as its tests are.
func (j *lineJudge) dropTreeConfigOptions(e program.ProgramRule, options, args []shell.Word) []shell.Word {
	if !strings.HasPrefix(e.Rule, "build.") {
		return options
	}
	return slices.DeleteFunc(slices.Clone(options), func(o shell.Word) bool {
		option, value, joined := strings.Cut(o.Text, "=")
		if !shell.OptionTakesPath(option) || option == "-c" && e.Rule == "build.make" || option == "-p" && e.Rule != "build.python" {
			return false
		}
		if joined {
			o.Text = value
			return j.isOwnFile(o)
		}
		for i, w := range args {
			if w.Text == o.Text && (i+1 == len(args) || !j.isOwnFile(args[i+1]) && !strings.HasPrefix(args[i+1].Text, "no:")) {
				return false
			}
		}
		return true
	})
}

// isHarmlessSetting reports whether an unknown variable only switches something in the tree's own code,
// which the program runs.
func (j *lineJudge) isHarmlessSetting(name string, value shell.Word, argv []shell.Word) bool {
	return !value.Dynamic && !value.Glob && program.IsPlainSetting(name, value.Text) && j.runsTreeCode(argv)
}

// runsTreeCode reports whether a command builds or tests, and so runs code of the tree.
func (j *lineJudge) runsTreeCode(argv []shell.Word) bool {
	if len(argv) == 0 || argv[0].Dynamic || argv[0].Glob {
		return false
	}
	name := argv[0].Text
	if strings.Contains(name, "/") {
		at, _ := j.locatePath(argv[0])
		return at == pathkind.Tree
	}
	e, _ := program.FindProgram(name)
	return e.Answer == string(Allow) && strings.HasPrefix(e.Rule, "build.") || buildsOrInterprets(name)
}

// judgeValgrind judges the program that runs in it.
func (j *lineJudge) judgeValgrind(argv []shell.Word) {
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		option, value, _ := strings.Cut(rest[0].Text, "=")
		if rest[0].Dynamic || strings.HasPrefix(option, "--db") || strings.HasPrefix(option, "--vgdb") {
			j.addAnswer(Ask, "wrapper.option", "an option of valgrind may start something else")
		}
		if strings.ContainsAny(value, "/~") {
			j.judgeWrites([]shell.Word{shell.LiteralWord(value)})
		}
		rest = rest[1:]
	}
	if len(rest) > 0 {
		j.judgeSimpleCommand(rest)
	}
}
