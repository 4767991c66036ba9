package policy

import (
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// isOwnFile reports whether it is certainly a file of the tree that may be changed.
func (j *lineJudge) isOwnFile(w shell.Word) bool {
	at, name := j.locatePath(w)
	return !w.Dynamic && !w.Glob && w.Text != "" && at == pathkind.Tree && !strings.HasPrefix(w.Text, "-") && !strings.ContainsAny(w.Text, "=:@~") && JudgePath(name, true).IsAllowed()
}

// judgeProjectProgram judges a program that the project provides under its own name.
func (j *lineJudge) judgeProjectProgram(argv []shell.Word) {
	j.applyCallerRules(argv)
	options, operands := shell.SplitOptions(argv[1:])
	if shell.HasOption(options, []string{"--exec", "--eval", "-e", "--command"}) {
		j.addAnswer(Ask, "code.inline", "an option of "+argv[0].Text+" may run something else")
	}
	if len(operands) > 0 && leavesMachine(operands[0].Text) {
		j.addAnswer(Ask, "net.send", "its name suggests that it publishes something")
	}
	j.judgeWrites(shell.PathWords(operands))
}

// programInVirtualEnv returns the well-known program that a tree contains at a path, such as that of a
// virtual environment, or "" for the tree's own programs.
func (j *lineJudge) programInVirtualEnv(w shell.Word) string {
	at, p := j.locatePath(w)
	if at != pathkind.Tree {
		return ""
	}
	switch dir, name := path.Split(p); {
	case stack.CommandsOf().Wrappers[name] != "":
		return stack.CommandsOf().Wrappers[name]
	case dir == "node_modules/.bin/" || strings.HasSuffix(dir, "venv/bin/") || strings.HasSuffix(dir, "env/bin/") || dir == "vendor/bin/":
		if name == "pip" || name == "pip3" || strings.HasPrefix(name, "python") || name == "npm" || name == "npx" || name == "node" || name == "tsx" || name == "ts-node" {
			return strings.TrimRight(name, ".0123456789")
		}
	}
	return ""
}
