package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/gitread"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
)

// judgeGit judges a git command.
func (j *lineJudge) judgeGit(argv []shell.Word) {
	rest := argv[1:]
	for len(rest) > 0 && strings.HasPrefix(rest[0].Text, "-") {
		switch o := rest[0].Text; {
		case o == "--no-pager" || o == "-P" || o == "--version" || o == "--no-optional-locks" || o == "--literal-pathspecs":
			rest = rest[1:]
		case o == "-C" && len(rest) > 1:
			if at, name := j.locatePath(rest[1]); at != pathkind.Tree {
				j.addAnswer(Ask, "git.elsewhere", "it works on another tree")
			} else if isBareRepositoryPath(name) {
				j.addAnswer(Ask, "git.elsewhere", "a repository in the tree has settings of its own, which can start programs")
			}
			rest = rest[2:]
		case o == "-c" && len(rest) > 1 && !rest[1].Dynamic && gitread.IsOutputSetting(rest[1].Text):
			rest = rest[2:]
		default:
			j.addAnswer(Deny, "git.option", "git "+o+" can start another program")
			return
		}
	}
	if len(rest) == 0 {
		return
	}
	if isBareRepositoryPath(j.below) || j.inBare || j.away {
		j.addAnswer(Ask, "git.elsewhere", "a repository in the tree has settings of its own, which can start programs")
	}
	if rest[0].Dynamic {
		j.addAnswer(Ask, "shell.dynamic", "the git command is not known before it runs")
		return
	}
	args := make([]string, 0, len(rest))
	seen := true
	for _, w := range rest {
		args = append(args, w.Text)
		seen = seen && (!w.Dynamic || w.Fixed)
	}
	if !seen {
		j.addAnswer(Ask, "path.unseen", "git may be given options that are not known before it runs")
	}
	j.judgeGitVerb(args[0], args[1:], rest[1:])
}

// isBareRepositoryPath reports whether a directory has a usual name of a repository without a work tree.
func isBareRepositoryPath(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return len(part) > 4 && strings.HasSuffix(part, ".git") })
}

func (j *lineJudge) judgeGitVerb(verb string, args []string, words []shell.Word) {
	options, operands := shell.SplitOptions(words)
	has := func(names ...string) bool { return shell.HasOption(options, names) }
	runs := []string{"--output", "--ext-diff", "--textconv", "--no-index", "--exec", "--open-files-in-pager", "--upload-pack", "--receive-pack", "--filters", "--help", "--contents", "--paginate"}
	switch {
	case verb == "diff" && slices.Contains(args, "--no-index") && !has(slices.DeleteFunc(runs, func(o string) bool { return o == "--no-index" })...):
		j.judgeGitNoIndexDiff(args, operands)
		return
	case verb == "archive" && !has(slices.DeleteFunc(runs, func(o string) bool { return o == "--output" })...):
	case has(runs...):
		j.addAnswer(Ask, "git.option", "an option of git may run or write something else")
	}
	j.judgeGitShow(verb, options, operands)
	if j.allowLosslessGit(verb, args, operands, has) {
		return
	}
	switch verb {
	case "status", "diff", "log", "show", "blame", "ls-files":
		if _, err := gitread.CheckReadOnly(append([]string{verb}, args...)); err != nil {
			j.addAnswer(Ask, "git.read", err.Error())
		}
	case "var":
		j.judgeGitConfig(len(args) == 1 && args[0] != "-l")
	case "rev-parse", "describe", "shortlog", "rev-list", "merge-base", "ls-tree", "show-ref", "name-rev", "for-each-ref", "check-ignore", "diff-tree", "cat-file",
		"count-objects", "version", "whatchanged", "cherry", "range-diff", "diff-files", "diff-index", "check-attr", "show-branch", "merge-tree", "fsck":
		j.judgeReads(shell.PathWords(operands))
	case "grep":
		if has("-O", "-f") {
			j.addAnswer(Ask, "git.option", "an option of git may run something else")
		}
	case "reflog", "stash", "remote", "worktree":
		if !slices.Contains([]string{"reflog", "reflog show", "stash list", "stash show", "remote", "remote -v", "worktree list"}, strings.Join(append([]string{verb}, args...), " ")) {
			j.judgeGitWrite(verb, args)
		}
	case "config":
		if slices.ContainsFunc(args, func(a string) bool {
			return regexp.MustCompile(`(?i)credential|extraheader|token|password|askpass`).MatchString(a)
		}) {
			j.addAnswer(Deny, "credentials", "git's settings may hold a secret")
		}
		shows := len(args) == 1 && gitread.IsPrintableSetting(args[0]) || len(args) > 0 && slices.Contains([]string{"--get", "--list", "-l", "--get-all", "--get-regexp", "get", "list"}, args[0])
		j.judgeGitConfig(shows && !has("--global", "--system", "--file", "-f", "--edit", "-e"))
	case "branch", "tag":
		if !gitread.OnlyLists(args) {
			j.addAnswer(Ask, "git.refs", "it changes branches or tags")
		}
	case "add", "mv", "rm":
		j.judgeGitFiles(verb, operands, has)
	case "commit":
		if !has("-m", "--message", "--no-edit", "-F", "--file", "-C", "--fixup") || has("-e", "--edit", "-S", "--gpg-sign", "--amend", "-t", "--template", "-i", "-p", "--pathspec-from-file", "--author", "--date") {
			j.addAnswer(Ask, "git.commit", "it waits for a person, or rewrites a commit")
		}
		j.judgeReads(shell.PathWords(operands))
	case "reset":
		if has("--hard", "--merge", "--keep") {
			j.addAnswer(Ask, "git.discard", "it discards work")
		}
	default:
		j.judgeGitWrite(verb, args)
	}
}

// trustsOnlyWorktree reports whether git's configuration is changed only to mark the worktree as the
// user's own.
func (j *lineJudge) trustsOnlyWorktree(args []string, operands []shell.Word) bool {
	if len(args) != 4 || len(operands) != 2 || args[0] != "--global" || args[1] != "--add" || args[2] != "safe.directory" {
		return false
	}
	at, name := j.locatePath(operands[1])
	return at == pathkind.Tree && name == "."
}

// judgeGitShow judges the files whose contents git is asked to show, in the tree or in a commit.
func (j *lineJudge) judgeGitShow(verb string, options, operands []shell.Word) {
	if !slices.Contains([]string{"diff", "show", "log", "blame", "cat-file", "grep", "diff-tree", "whatchanged", "stash", "format-patch", "range-diff"}, verb) {
		return
	}
	for _, o := range options {
		if strings.HasPrefix(o.Text, "-L") { // the lines of a file: -L1,9:FILE
			operands = append(operands, o)
		}
	}
	for _, w := range operands {
		name := w.Text
		if _, rest, ok := strings.Cut(name, ":"); ok {
			name = rest
		}
		if _, rest, ok := strings.Cut(name, ")"); ok && strings.HasPrefix(name, "(") { // :(top)FILE
			name = rest
		}
		if pathkind.MayMatchSecret(name) {
			j.addAnswer(Ask, "path.secret", "it may show files whose names suggest secrets")
		}
		if d := JudgePath(name, false); d.Rule == "path.secret" && !pathkind.IsShown(j.rules.Show, name) {
			j.addDecision(d)
		} else if pathkind.IsCredential(name) && !pathkind.IsShown(j.rules.Show, name) {
			j.addAnswer(Deny, "credentials", "it names a file that holds credentials")
		}
	}
}

// judgeGitNoIndexDiff judges a comparison of two files, tracked or not.
func (j *lineJudge) judgeGitNoIndexDiff(args []string, operands []shell.Word) {
	rest := slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "--no-index" })
	if _, err := gitread.CheckReadOnly(append([]string{"diff"}, rest...)); err != nil {
		j.addAnswer(Ask, "git.read", err.Error())
	}
	j.judgeReads(operands)
}

// allowLosslessGit allows commands that move work and lose none of it: a stash, a new branch from
// here, changes of the index only, a patch that is only tested or printed.
func (j *lineJudge) allowLosslessGit(verb string, args []string, operands []shell.Word, has func(...string) bool) bool {
	first := ""
	if len(args) > 0 {
		first = args[0]
	}
	seen := !slices.ContainsFunc(operands, func(w shell.Word) bool { return w.Dynamic || w.Glob })
	switch verb {
	case "stash":
		if !slices.Contains([]string{"", "push", "pop", "apply", "list", "show", "-u", "-k", "--include-untracked", "--keep-index", "-m", "--staged", "-S"}, first) || first != "show" && has("-p", "--patch", "--pathspec-from-file", "-a", "--all") {
			return false
		}
		if first == "push" {
			operands = operands[1:]
			j.judgeReads(shell.PathWords(operands))
		}
		return true
	case "switch":
		return (first == "-c" || first == "--create") && len(args) == 2 && seen
	case "config":
		return j.trustsOnlyWorktree(args, operands)
	case "checkout", "restore", "apply":
		return j.allowGitUndo(verb, args, operands, has)
	case "cherry-pick", "revert":
		return len(operands) > 0 && seen && !has("--abort", "--quit", "--skip", "--continue", "-e", "--edit", "-S", "--gpg-sign", "--strategy", "--cleanup") &&
			(verb == "cherry-pick" || slices.ContainsFunc(args, func(a string) bool { return a == "--no-edit" || a == "-n" || a == "--no-commit" }))
	case "worktree", "submodule", "notes", "bundle":
		shows := []string{"worktree list", "submodule status", "submodule summary", "notes list", "notes show", "bundle verify", "bundle list-heads"}
		return slices.Contains(shows, verb+" "+first) && seen
	case "reflog":
		return (first == "" || first == "show" || strings.HasPrefix(first, "-") || first == "HEAD") && seen
	case "init":
		j.judgeWrites(operands)
		return seen && !slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-") && a != "-q" && a != "--quiet" && a != "-b" && !strings.HasPrefix(a, "--initial-branch=")
		})
	case "hash-object":
		j.judgeReads(operands)
		return !has("-w", "--stdin-paths", "--path") && seen
	case "archive":
		return seen && !has("--remote", "--exec", "--add-file", "--add-virtual-file") && j.allowGitArchive(args, operands)
	case "format-patch":
		return seen && !has("-o", "--output-directory", "--signature-file", "--add-header", "--to", "--cc", "--interdiff", "--range-diff", "--attach", "--inline", "--from", "--force-in-body-from")
	}
	return false
}

// allowGitUndo allows undoing changes of named files, a new branch from here, and patches.
func (j *lineJudge) allowGitUndo(verb string, args []string, operands []shell.Word, has func(...string) bool) bool {
	seen := !slices.ContainsFunc(operands, func(w shell.Word) bool { return w.Dynamic || w.Glob })
	if len(args) == 0 {
		return false
	}
	switch verb {
	case "checkout":
		if i := slices.Index(args, "--"); i == 0 || i == 1 && seen && !strings.HasPrefix(args[0], "-") {
			return j.namesUndoableFiles(operands[i:])
		}
		return args[0] == "-b" && len(args) == 2 && seen || seen && j.namesOnlyFiles(args, operands) && j.namesUndoableFiles(operands)
	case "restore":
		if has("-p", "--patch", "--pathspec-from-file", "-m", "--merge", "--ours", "--theirs") {
			return false
		}
		if slices.Contains(args, "-s") || slices.Contains(args, "--source") {
			operands = operands[min(1, len(operands)):]
		}
		if (args[0] == "--staged" || args[0] == "-S") && !has("-W", "--worktree") {
			j.judgeReads(operands)
			return true
		}
		return j.namesUndoableFiles(operands)
	default:
		j.judgeReads(operands)
		return seen && !has("--directory", "--unsafe-paths", "--build-fake-ancestor", "--allow-empty")
	}
}

// namesOnlyFiles reports whether the operands of a checkout without -- can only be files.
func (j *lineJudge) namesOnlyFiles(args []string, operands []shell.Word) bool {
	return j.rules.Undoes != nil && len(args) == len(operands) && !slices.ContainsFunc(operands, func(w shell.Word) bool {
		_, name := j.locatePath(w)
		return strings.HasPrefix(w.Text, "-") || !j.rules.Undoes(w.Text, name)
	})
}

// allowGitArchive allows writing an archive of a commit to a file of the tree.
func (j *lineJudge) allowGitArchive(args []string, operands []shell.Word) bool {
	j.judgeGitShow("show", nil, operands)
	for i, a := range args {
		if value, ok := strings.CutPrefix(a, "-o"); ok && value != "" {
			j.judgeWrites([]shell.Word{shell.LiteralWord(value)})
		} else if ok && i+1 < len(args) {
			j.judgeWrites([]shell.Word{shell.LiteralWord(args[i+1])})
		}
	}
	return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-o") })
}

// namesUndoableFiles reports whether operands are files or directories whose changes are undone, each by
// its own path: not the whole tree or all of its work.
func (j *lineJudge) namesUndoableFiles(operands []shell.Word) bool {
	j.judgeWrites(operands)
	return len(operands) > 0 && !slices.ContainsFunc(operands, func(w shell.Word) bool {
		at, name := j.locatePath(w)
		return w.Dynamic || strings.ContainsAny(w.Text, "*?[") && !w.Glob || at != pathkind.Tree || name == "." || strings.HasPrefix(w.Text, ":") || isWorkDirectory(name) || strings.Trim(name, "*.?[]!/") == ""
	})
}

// judgeGitWrite judges commands that change more than the task's own work.
func (j *lineJudge) judgeGitWrite(verb string, args []string) {
	switch verb {
	case "push", "send-pack", "update-ref", "symbolic-ref", "filter-branch", "replace", "daemon", "send-email", "instaweb", "credential", "credential-store", "hook", "fast-import":
		j.addAnswer(Deny, "git.shared", "git "+verb+" changes shared refs, or runs programs")
	case "fetch", "pull", "clone", "ls-remote", "submodule", "remote", "archive":
		if verb == "remote" && len(args) > 0 {
			j.addAnswer(Deny, "git.shared", "it changes where git pushes to and fetches from")
			return
		}
		j.addAnswer(Ask, "net.read", "git "+verb+" reads from the network")
	case "checkout", "switch", "restore", "clean", "stash", "revert", "rebase", "merge", "cherry-pick", "am":
		j.addAnswer(Ask, "git.discard", "git "+verb+" may discard work or leave the task's branch")
	default:
		j.addAnswer(Ask, "git.verb", "git "+verb+" is not known to be harmless")
	}
}

// judgeGitConfig denies commands that do more than show harmless settings.
func (j *lineJudge) judgeGitConfig(shows bool) {
	if !shows {
		j.addAnswer(Deny, "git.config", "git's configuration can start programs")
	}
}

// judgeGitFiles judges adding, moving and removing files. Removing keeps committed content; with
// -f it loses later changes.
func (j *lineJudge) judgeGitFiles(verb string, operands []shell.Word, has func(...string) bool) {
	if has("-e", "-i", "-p", "--edit", "--interactive", "--patch", "--pathspec-from-file") && verb == "add" {
		j.addAnswer(Ask, "git.option", "it waits for a person")
	}
	j.judgeWrites(operands)
	if verb != "rm" || has("--cached") || !has("-r") {
		return
	}
	for _, w := range operands {
		at, name := j.locatePath(w)
		switch {
		case at == pathkind.Tree && strings.Trim(name, "*.?[]!/") == "":
			j.addAnswer(Deny, "tree.delete", "it deletes the worktree itself")
		case at == pathkind.Tree && isWorkDirectory(name) && has("-f", "--force"):
			j.addAnswer(Ask, "git.discard", "it also discards uncommitted changes; leave -f out")
		}
	}
}
