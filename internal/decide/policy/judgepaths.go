package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
)

// judgePaths judges the files that a program's arguments name. A program that is not known to
// write is taken to read them.
func (j *commandLineJudge) judgePaths(name string, argv []argumentWord) {
	class, args := j.table.classes[name], argv[1:]
	switch {
	case class == "wrapper" || class == "shell" || class == "runner" || name == "eval" || name == "trap":
		return // what they run is judged
	case name == "find" || name == "fd":
		args = slices.DeleteFunc(slices.Clone(args), func(w argumentWord) bool { return strings.ContainsAny(w.text, "*?") && !strings.Contains(w.text, "/") })
	case class == "pattern":
		args = argumentsWithoutPattern(args)
		if name == "sed" || name == "gsed" || name == "perl" || name == "yq" {
			if hasOption(args, "-i") || slices.ContainsFunc(args, func(w argumentWord) bool {
				return strings.HasPrefix(w.text, "-i") || strings.HasPrefix(w.text, "--in-place")
			}) {
				class = "write"
			}
		}
	}
	for i, w := range args {
		switch {
		case i > 0 && (args[i-1].text == "-m" || args[i-1].text == "--message"):
		case class == "text":
			j.judgeCredential(w)
		case name == "mv" && i < len(args)-1, name == "dd" && strings.HasPrefix(w.text, "if="):
			j.judgePath(w, name == "mv") // another name would show it
		case class == "write", class == "last" && i == len(args)-1:
			j.judgeWrittenPath(w)
		default:
			j.judgePath(w, false)
		}
	}
}

// argumentsWithoutPattern returns the arguments of a search or an editor without what it searches for.
func argumentsWithoutPattern(args []argumentWord) (files []argumentWord) {
	given := hasOption(args, "-e") || hasOption(args, "-f") || hasOption(args, "--regexp") || hasOption(args, "--file") || hasOption(args, "--files")
	for i, w := range args {
		value := i > 0 && slices.Contains([]string{"-e", "--regexp", "-A", "-B", "-C", "-m"}, args[i-1].text)
		switch {
		case value:
		case !given && !w.isOption():
			given = true
		default:
			files = append(files, w)
		}
	}
	return files
}

// possiblePathTexts returns what of a word may be a path: it, the value that is joined to it, the path
// behind a commit or a disk.
func possiblePathTexts(w argumentWord) []string {
	text := w.text
	if text == "" || strings.ContainsAny(text, " \t\n") || strings.Contains(text, "://") {
		return nil
	}
	texts := []string{text}
	if text[0] == '-' {
		texts = nil
		if len(text) > 2 && text[1] != '-' {
			texts = append(texts, text[2:])
		}
	}
	for _, cut := range []string{"=", ":", "@"} {
		if before, value, ok := strings.Cut(text, cut); ok && value != "" && (cut != "@" || before == "") {
			return append(texts[:0], value)
		}
	}
	return texts
}

// nameInWorktree returns a path's name in the worktree, and whether it is there.
func (j *commandLineJudge) nameInWorktree(text string) (string, bool) {
	if j.rules.Dir != "" && path.IsAbs(text) {
		at, name := pathkind.LocatePath(path.Clean(text), j.rules.Dir)
		return name, at == pathkind.Tree
	}
	name := path.Clean(text)
	return name, !path.IsAbs(text) && text[0] != '~' && name != ".." && !strings.HasPrefix(name, "../")
}

// judgeCredential denies the places of credentials outside the tree.
func (j *commandLineJudge) judgeCredential(w argumentWord) {
	for _, text := range possiblePathTexts(w) {
		if _, in := j.nameInWorktree(text); !in && pathkind.IsCredentialFile(text) {
			j.addAnswer(Deny, "credentials", w.text)
		}
	}
}

// judgePath judges a file that a command reads, or may write.
func (j *commandLineJudge) judgePath(w argumentWord, write bool) {
	j.judgeCredential(w)
	for _, text := range possiblePathTexts(w) {
		name, in := j.nameInWorktree(text)
		if !in {
			continue
		}
		switch pathkind.ProtectionOf(name, write) {
		case pathkind.Git:
			if write || path.Base(name) == "config" || path.Base(name) == "credentials" {
				j.addAnswer(Deny, "path.git", w.text)
			}
		case pathkind.AgentConfig:
			j.addAnswer(Deny, "path.agent-config", w.text)
		case pathkind.MaySecret:
			if !pathkind.MatchesShowPattern(j.rules.Show, name) {
				j.addAnswer(Ask, "path.secret", w.text)
			}
		default:
			// .* alone, and regular expressions, are not meant for them
			if base := path.Base(name); base != ".*" && !strings.ContainsAny(base, "^$") && pathkind.MayMatchSecret(base) && !pathkind.MatchesShowPattern(j.rules.Show, name) {
				j.addAnswer(Ask, "path.secret", w.text)
			}
		}
	}
}

// judgeWrittenPath judges a file that a command creates, changes or removes: what it holds is not
// shown.
func (j *commandLineJudge) judgeWrittenPath(w argumentWord) {
	j.judgeCredential(w)
	for _, text := range possiblePathTexts(w) {
		name, in := j.nameInWorktree(text)
		if !in {
			continue
		}
		switch pathkind.ProtectionOf(name, true) {
		case pathkind.Git:
			j.addAnswer(Deny, "path.git", w.text)
		case pathkind.AgentConfig:
			j.addAnswer(Deny, "path.agent-config", w.text)
		default:
		}
	}
}

// judgeRemoval denies removing what is around the tree, and asks about removing the tree itself.
func (j *commandLineJudge) judgeRemoval(argv []argumentWord) {
	args := argv[1:]
	if !hasOption(args, "-r") && !hasOption(args, "-R") && !hasOption(args, "--recursive") {
		return
	}
	for _, w := range args {
		if w.isOption() || w.dynamic || w.text == "" {
			continue
		}
		switch name := path.Clean(strings.TrimRight(w.text, "*")); {
		case name == "/" || name == "~" || name == ".." || strings.HasPrefix(name, "../") && strings.Trim(name, "./") == "":
			j.addAnswer(Deny, "tree.delete", w.text)
		case name == "." || name == j.rules.Dir:
			j.addAnswer(Ask, "tree.delete", w.text)
		}
	}
}

// setuidMode matches a mode that lets others run a file as its owner.
var setuidMode = regexp.MustCompile(`^[ugoa]*[+=][rwxX]*[st]|^0?[1-7][0-7]{3}$`)

// judgeMode denies that others may run a file as its owner.
func (j *commandLineJudge) judgeMode(argv []argumentWord) {
	for _, w := range argv[1:] {
		if setuidMode.MatchString(w.text) {
			j.addAnswer(Deny, "privilege", "")
		}
	}
}
