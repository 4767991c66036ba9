package policy

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const maxPart = 160 // bytes of a quoted part

// setCurrentNode sets the part that is being judged.
func (j *lineJudge) setCurrentNode(n syntax.Node) {
	switch n.(type) {
	case *syntax.CallExpr, *syntax.Redirect, *syntax.DeclClause, *syntax.FuncDecl, *syntax.CoprocClause, *syntax.ParamExp,
		*syntax.TestClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.ArithmExp, *syntax.ForClause, *syntax.WhileClause:
		j.currentNode = n
	}
}

// nodeSource returns the part of the command line at a node, cut if it is long, or all of it for
// nil.
func (j *lineJudge) nodeSource(n syntax.Node) string {
	if n == nil {
		return truncatePart(j.commandLine)
	}
	from, to := n.Pos(), n.End()
	if !from.IsValid() || !to.IsValid() || from.Offset() >= to.Offset() || to.Offset() > uint(len(j.commandLine)) {
		return ""
	}
	return truncatePart(j.commandLine[from.Offset():to.Offset()])
}

func truncatePart(text string) string {
	text = strings.TrimSpace(text)
	if len(text) > maxPart {
		return strings.ToValidUTF8(text[:maxPart], "") + "..."
	}
	return text
}

// alternativeText returns an allowed alternative to a command that a rule refuses. Text between
// backquotes is a tool, or an allowed command.
func alternativeText(rule, reason string, locked bool) string {
	group, _, _ := strings.Cut(rule, ".")
	all := permittedAlternatives()
	if locked {
		all = append(alternativesWithLockedGit(), all...)
	}
	for _, w := range all {
		if w.rule == rule || w.rule == group {
			if w.word == "" || strings.Contains(reason, w.word) {
				return w.way
			}
		}
	}
	return "write what you need as a script in the worktree with `write_file`, and run it: `bash script.sh`"
}

// permittedAlternative is an allowed alternative for a rule, if the reason contains a word. The first
// match counts.
type permittedAlternative struct{ rule, word, way string }

// alternativesWithLockedGit are alternatives for a tree whose git directory is read-only: commands that
// write it are useless there.
func alternativesWithLockedGit() []permittedAlternative {
	return []permittedAlternative{
		{"tree.delete", "", "name the files to remove: `rm FILE`"},
		{"git.discard", "", "undo your own changes with `edit_file`: git's directory is read-only here"},
		{"git.refs", "", "stay on the branch: git's directory is read-only here"},
		{"git.commit", "", "leave the changes in the tree: a person commits them"},
		{"git.shared", "", "leave the changes in the tree: a person commits and pushes them"},
	}
}

func permittedAlternatives() []permittedAlternative {
	const (
		file    = "write the script to a file in the worktree or /tmp with `write_file` or a here-document (`cat > /tmp/script.sh <<'EOF'` and so on), and run that: `bash /tmp/script.sh`"
		literal = "give the literal path: run the command that prints it by itself, then use the path that it printed; or use `read_file` and `search_code`"
		tree    = "name files in the worktree, below /tmp (private to you; `mktemp -d` works) or in the caches of dependencies, which are read-only"
		root    = "leave out the cd: each command starts at the root of the worktree, so paths are relative to it; `cd DIR && COMMAND` goes to a directory below it, or to /tmp"
		home    = "the home directory is private to the sandbox and empty at first; give one command another, " +
			"in the worktree or below /tmp: `HOME=/tmp/home go run .`, `XDG_CONFIG_HOME=/tmp/home ./app`"
		keep = "do without it; if the task needs it, say in `finish` what a person should do"
	)
	return []permittedAlternative{
		{"shell.empty", "", "give a command, such as `ls`"},
		{"shell.unparsed", "", "look for an unclosed quote or bracket, or " + file},
		{"shell.invisible", "", "write it in plain ASCII, or " + file},
		{"shell.dynamic", "", "write the program, or the code, out literally; or " + file},
		{"shell.directory", "", "go there with `cd DIR && COMMAND` in each call: each call starts at the root of the worktree"},
		{"shell.source", "", "give the path with a slash (`. ./env.sh`), and keep the script in the worktree"},
		{"shell", "", file},
		{"code", "", "write the code to a file in the worktree or /tmp with `write_file`, and run that: `python3 /tmp/script.py`, `node /tmp/script.js`"},
		{"path.outside", "in the home", home + "; put files in the worktree or below /tmp, by their paths"},
		{"path.outside", "writes", tree},
		{"path.outside", "installs", "install below the worktree or /tmp: `make install PREFIX=/tmp/out`"},
		{"path.outside", "literal", tree},
		{"path.outside", "leaves", root},
		{"path.outside", "goes", root},
		{"path.outside", "", tree + "; `go list -m -f '{{.Dir}}' all`, `npm root` and `python3 -m site` say where those are"},
		{"path.unseen", "removes", "name the files to remove: `rm FILE`"},
		{"path.unseen", "", literal},
		{"path.git", "", "use git's commands: `git status`, `git log`, `git diff`"},
		{"path.agent-config", "", keep},
		{"path.secret", "", "read the example beside it, such as `cat .env.example`, or the code that reads it with `search_code`; a person can show the file with policy.show"},
		{"path", "", tree},
		{"credentials", "variable", "print a variable that holds no secret: `echo \"$PATH\"`"},
		{"credentials", "environment", "print a variable that holds no secret: `echo \"$PATH\"`"},
		{"credentials", "", "do without it: agents are shown no secrets; `search_code` finds where the code reads them, and tests use made-up values"},
		{"tree.delete", "", "name the files to remove: `rm FILE`, `git rm -r DIR`, or undo your changes to one: `git checkout -- FILE`"},
		{"git.discard", "", "put your changes aside with `git stash`, or undo those to single files: `git checkout -- FILE`, `git restore FILE`"},
		{"git.refs", "", "stay on the branch: what you change is committed and landed for you; `git stash` and `git switch -c NAME` work"},
		{"git.commit", "", "give the message: `git commit -m MESSAGE`; you do not have to commit"},
		{"git.elsewhere", "", "run git at the root of the worktree: `git status`"},
		{"git.shared", "", "leave it: what you change lands when you call `finish`, and you do not have to push"},
		{"git", "", "use git without that: `git status`, `git diff`, `git log`, `git show HEAD`, `git blame FILE`; or the `git` tool"},
		{"net", "", "there is no network: use what is installed (`npm ls`, `pip list`, `go list -m all`), and the servers that you start on localhost"},
		{"deps", "", "use what is installed or named in the lock file (`npm ci`, `pip install -r requirements.txt`, `go mod download`); if a new dependency is needed, say so in `finish`"},
		{"cargo", "", "use what is in the lock file (`cargo build`, `cargo test`); if a new crate is needed, say so in `finish`"},
		{"env.programs", "HOME decides", home},
		{"env.programs", "XDG_", home},
		{"env.unknown", "TMPDIR", home},
		{"env.programs", "", "name the program by its path instead, such as `./node_modules/.bin/eslint .`; PATH is set already"},
		{"env", "", "leave out the variable, set it in a script in the worktree: `bash script.sh`, or name a place in the worktree or below /tmp: `NOTES_FILE=/tmp/notes.json go run .`"},
		{"host.damage", "never ends", "limit the loop (`for i in 1 2 3; do COMMAND; done`), or start a server with `background`"},
		{"host", "", keep},
		{"privilege", "", "run it with your own permissions (`COMMAND`): what you need is installed, and you may write to the worktree and /tmp"},
		{"process.kill", "", "stop what you started in the background with the tool `job`, or with `kill %1` in the same command"},
		{"text", "", "change the file with `edit_file`, or read it with `read_file` or `sed -n 1,40p FILE`"},
		{"file.find", "", "let find only print (`find . -name '*.log'`), then name the files to change"},
		{"file", "", "use plain options, such as `tar -xzf FILE`, `unzip -d DIR FILE`, `cp FILE NEW`, `chmod +x FILE`"},
		{"wrapper", "", "run the command without the program in front of it, such as `timeout 60 COMMAND`"},
		{"own", "", "do without it: the user denied it; use `ask` if the task cannot be done otherwise"},
		{"mcp", "", "use your own tools: `read_file`, `search_code`, `edit_file`"},
		{"unknown", "outside", "run a program by its name, or one in the worktree or /tmp"},
		{"unknown", "", "use a program that is known (`ls`, `grep`, `sed`, `find`, `git`, the project's build tool), or " + file},
	}
}
