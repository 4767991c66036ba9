package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// judgeGit judges what the table cannot say about git: its settings, and whether checkout leaves
// the branch.
func (j *commandLineJudge) judgeGit(argv []argumentWord) {
	args := argv[1:]
	for len(args) > 0 && args[0].isOption() {
		option, _, joined := strings.Cut(args[0].text, "=")
		switch {
		case option == "-c" && len(args) > 1:
			j.judgeGitSetting(args[1])
			args = args[2:]
			continue
		case option == "--exec-path" && joined, option == "--config-env":
			j.addAnswer(Deny, "git.config", "")
		case (option == "-C" || option == "--git-dir" || option == "--work-tree" || option == "--namespace") && !joined && len(args) > 1:
			args = args[1:]
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return
	}
	verb, args := args[0].text, args[1:]
	switch verb {
	case "config":
		j.judgeGitConfig(args)
	case "checkout", "switch":
		j.judgeCheckout(verb, args)
	case "difftool", "mergetool":
		if hasOption(args, "-x") || hasOption(args, "--extcmd") {
			j.addAnswer(Deny, "git.config", "")
		}
	case "bisect", "submodule":
		if len(args) > 1 && (args[0].text == "run" || args[0].text == "foreach") {
			j.judgeNested(joinTexts(args[1:]))
		}
	case "rebase":
		for i, w := range args {
			if (w.text == "-x" || w.text == "--exec") && i+1 < len(args) {
				j.judgeNested(args[i+1].text)
			}
		}
	}
}

func joinTexts(words []argumentWord) string {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.text
	}
	return strings.Join(texts, " ")
}

// startingSetting matches a setting of git that starts programs, changes where they are read
// from or where commits go, or may hold a secret.
var startingSetting = regexp.MustCompile(`(?i)^(alias|credential|url|include|includeif|http|https|remote|protocol|pager|filter|submodule|gpg|trailer|hook|transfer|receive|uploadpack|guitool|browser|man|sendemail|instaweb)\.` +
	`|^core\.(pager|editor|sshcommand|hookspath|fsmonitor|askpass|gitproxy|worktree|attributesfile|excludesfile|alternaterefscommand)$` +
	`|^(sequence\.editor|init\.templatedir|diff\.external|log\.showsignature|branch\.[^.]*\.(remote|pushremote)|push\..*|uploadarchive.*|extensions\..*)$` +
	`|\.(cmd|command|textconv|driver|process|clean|smudge|program|helper|path|tool|external)$`)

// secretSetting matches a setting that may hold a secret.
var secretSetting = regexp.MustCompile(`(?i)credential|extraheader|token|password|askpass`)

// judgeGitSetting judges KEY=VALUE.
func (j *commandLineJudge) judgeGitSetting(w argumentWord) {
	key, value, _ := strings.Cut(w.text, "=")
	if w.dynamic && key == w.text || startingSetting.MatchString(key) && (w.dynamic || !slices.Contains([]string{"", "cat", "true", ":", "false"}, value)) {
		j.addAnswer(Deny, "git.config", "")
	}
}

// judgeGitConfig judges git config: reading is free, but for what may hold a secret.
func (j *commandLineJudge) judgeGitConfig(args []argumentWord) {
	operands := withoutOptions(args)
	if len(operands) > 0 && slices.Contains([]string{"get", "list", "set", "unset", "edit"}, operands[0].text) {
		args = append(literalWords("--"+operands[0].text), operands[1:]...)
		operands = operands[1:]
	}
	for _, w := range operands {
		if secretSetting.MatchString(w.text) {
			j.addAnswer(Deny, "credentials", "")
		}
	}
	reads := len(operands) == 1 || slices.ContainsFunc([]string{"--get", "--get-all", "--get-regexp", "--list", "-l", "--show-origin"}, func(o string) bool { return hasOption(args, o) })
	switch {
	case hasOption(args, "--edit") || hasOption(args, "-e"):
		j.addAnswer(Deny, "git.config", "")
	case reads && !hasOption(args, "--unset") && !hasOption(args, "--unset-all"):
	case len(operands) > 0:
		value := argumentWord{text: operands[0].text + "=", dynamic: operands[0].dynamic}
		for _, w := range operands[1:] {
			value.text, value.dynamic = value.text+w.text, value.dynamic || w.dynamic
		}
		j.judgeGitSetting(value)
	}
}

// judgeCheckout asks about leaving the task's branch, and about discarding work that nothing
// keeps. A new branch from here, and the files of a commit, are neither.
func (j *commandLineJudge) judgeCheckout(verb string, args []argumentWord) {
	if slices.ContainsFunc([]string{"-b", "-B", "-c", "-C", "--create", "--orphan"}, func(o string) bool { return hasOption(args, o) }) {
		if hasOption(args, "-B") || verb == "switch" && hasOption(args, "-C") {
			j.addAnswer(Ask, "git.refs", "")
		}
		return
	}
	end := slices.IndexFunc(args, func(w argumentWord) bool { return w.text == "--" })
	var names []argumentWord
	for _, w := range args {
		if !w.isOption() {
			names = append(names, w)
		}
	}
	files := end >= 0 || len(names) > 0 && verb == "checkout" && !slices.ContainsFunc(names, func(w argumentWord) bool { return !j.isCheckedOutFile(w) })
	switch {
	case files && !j.rules.Snapshots && j.rules.Undoes == nil:
		j.addAnswer(Ask, "git.discard", "")
	case files, len(names) > 1 && verb == "checkout": // COMMIT FILE
	case len(names) > 0 || len(args) > 0:
		j.addAnswer(Ask, "git.refs", "")
	}
}

// isCheckedOutFile reports whether `git checkout WORD` undoes changes of files.
func (j *commandLineJudge) isCheckedOutFile(w argumentWord) bool {
	if w.dynamic {
		return false
	}
	name := path.Clean(w.text)
	return name == "." || strings.HasPrefix(w.text, "./") || strings.ContainsAny(w.text, "*?") || j.rules.Undoes != nil && j.rules.Undoes(w.text, name)
}
