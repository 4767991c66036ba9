package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// homeVariables returns variables that set where a program stores its own files.
func homeVariables() []string {
	return []string{"HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"}
}

// setsPrivateHome reports whether an assignment gives one command another home or data directory that
// agents may write, and the command is a program of the tree: it finds only its own files
// there. Programs that read from there which other programs to run, such as git, are
// excluded. Without a sandbox there is no private home that it could differ from.
func (j *lineJudge) setsPrivateHome(a *syntax.Assign, argv []shell.Word) bool {
	plain := a.Name != nil && a.Value != nil && !a.Append && a.Index == nil && a.Array == nil
	return plain && j.setsPrivatePlace(a.Name.Value, j.evaluateWord(a.Value), argv)
}

// setsPrivatePlace reports whether a variable sets such a place for a command: its home, or a
// directory that only the program of the tree knows, such as its data directory.
func (j *lineJudge) setsPrivatePlace(name string, v shell.Word, argv []shell.Word) bool {
	if j.rules.Open || !slices.Contains(homeVariables(), name) && (program.IsHiddenVariable(name) || !program.IsPlainSetting(name, "place") || !isPlainPath(v.Text)) {
		return false
	}
	if v.Dynamic || v.Glob || v.Home || v.Listed || v.Each || v.Text == "" || strings.ContainsAny(v.Text, ":$`") {
		return false
	}
	at, p := j.locatePath(v)
	made := at == pathkind.Tmp && strings.HasPrefix(p, "/tmp/") || at == pathkind.Tree && JudgePath(p, true).IsAllowed()
	return made && j.runsTreeProgram(argv)
}

// isPlainPath reports whether a value is a path and nothing else.
func isPlainPath(value string) bool {
	return strings.Contains(value, "/") && !strings.ContainsFunc(value, func(r rune) bool {
		return r != '/' && r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// runsTreeProgram reports whether a command runs a program of the tree, or one that was built from it
// in the private /tmp, and no earlier command that reads configuration from the home
// directory.
func (j *lineJudge) runsTreeProgram(argv []shell.Word) bool {
	if len(argv) == 0 || argv[0].Dynamic || argv[0].Glob {
		return false
	}
	own := func(w shell.Word) bool {
		at, p := j.locatePath(w)
		return !w.Dynamic && !w.Glob && (at == pathkind.Tree && JudgePath(p, false).IsAllowed() || at == pathkind.Tmp && strings.HasPrefix(p, "/tmp/"))
	}
	name := argv[0].Text
	switch rest := argv[1:]; {
	case strings.Contains(name, "/"):
		return own(argv[0])
	case name == "go": // its own configuration is switched off, see GOENV in stack
		return len(rest) > 0 && (rest[0].Text == "run" || rest[0].Text == "test")
	case isInterpreter(name):
		return len(rest) > 0 && !hasInlineCode(argv) && (rest[0].Text == "-m" || !strings.HasPrefix(rest[0].Text, "-") && own(rest[0]))
	case name == "sh" || name == "bash" || name == "dash":
		return len(rest) > 0 && !strings.HasPrefix(rest[0].Text, "-") && own(rest[0])
	default:
		return false
	}
}
