package policy

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/gitread"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
)

// judgeUnconfinedCall asks about a command that no sandbox confines, unless it is in the short table of
// those that read, build and test.
func (j *commandLineJudge) judgeUnconfinedCall(n *syntax.CallExpr, argv []argumentWord) {
	if len(argv) == 0 {
		if len(n.Assigns) > 0 {
			j.addAnswer(Ask, "open.unlisted", "")
		}
		return
	}
	for _, a := range n.Assigns {
		if !slices.Contains([]string{"CI", "NODE_ENV", "NO_COLOR", "FORCE_COLOR", "TERM", "LANG", "LC_ALL", "TZ"}, a.Name.Value) {
			j.addAnswer(Ask, "open.unlisted", "")
		}
	}
	if !j.isSafeUnconfinedCommand(argv) {
		j.addAnswer(Ask, "open.unlisted", "")
	}
}

func (j *commandLineJudge) isSafeUnconfinedCommand(argv []argumentWord) bool {
	if slices.ContainsFunc(j.rules.Allow, func(e string) bool { return beginsWithWords(argv, e, false) }) {
		return true
	}
	for argv[0].text == "timeout" {
		if argv = commandAfterTimeout(argv); len(argv) == 0 {
			return false
		}
	}
	if len(argv) > 2 && programName(argv[0]) == "python" && argv[1].text == "-m" {
		argv = argv[2:]
	}
	name := argv[0].text
	if name == "command" {
		return len(argv) > 1 && (argv[1].text == "-v" || argv[1].text == "-V")
	}
	if takesVariable(argv) {
		return false
	}
	text := slices.Contains([]string{"echo", "printf", "test", "[", "true", "false", ":"}, name)
	for _, w := range argv {
		if w.dynamic && !text || !text && !j.isSafeUnconfinedPath(w) {
			return false
		}
	}
	if name == "git" && len(argv) > 1 {
		args := make([]string, len(argv)-1)
		for i, w := range argv[1:] {
			args[i] = w.text
		}
		_, err := gitread.CheckReadOnly(args)
		return err == nil || args[0] == "rev-parse" && !slices.Contains(args, "--git-dir")
	}
	return slices.ContainsFunc(j.table.rows[name], func(r programRule) bool { return r.answer == Allow && r.matches(argv) })
}

// takesVariable reports whether a command of bash takes the name of a variable: bash runs the commands in
// its subscript.
func takesVariable(argv []argumentWord) bool {
	return slices.Contains([]string{"printf", "test", "["}, argv[0].text) &&
		slices.ContainsFunc(argv, func(w argumentWord) bool { return w.text == "-v" || w.text == "-R" })
}

// commandAfterTimeout returns the command that timeout runs: what follows its options and the duration.
func commandAfterTimeout(argv []argumentWord) []argumentWord {
	args := argv[1:]
	for len(args) > 0 && args[0].isOption() {
		n := 1
		if slices.Contains(wrapperValueOptions(), args[0].text) {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	if len(args) == 0 {
		return nil
	}
	return args[1:]
}

// isSafeUnconfinedPath reports whether a word leads to nothing outside the tree but the system's programs and
// the devices that hold nothing, such as /dev/null.
func (j *commandLineJudge) isSafeUnconfinedPath(w argumentWord) bool {
	parts := strings.FieldsFunc(w.text, func(r rune) bool { return r == '=' || r == ':' || r == ',' })
	for _, text := range slices.Concat(possiblePathTexts(w), []string{w.text}, parts) {
		if text == "" {
			continue
		}
		if strings.Contains("/"+text+"/", "/../") && !strings.HasPrefix(text, "...") {
			return false
		}
		if text[0] == '~' || strings.Contains(text, "://") {
			return false
		}
		if !path.IsAbs(text) {
			continue
		}
		at, _ := pathkind.LocatePath(path.Clean(text), j.rules.Dir)
		device := at == pathkind.Tmp && strings.HasPrefix(path.Clean(text), "/dev/")
		if at != pathkind.Tree && at != pathkind.System && !device {
			return false
		}
	}
	return !strings.Contains(w.text, "://")
}
