// Package gitread recognises git commands that only read: none of their
// options writes a file, starts a program, or reads outside the worktree.
package gitread

import (
	"fmt"
	"slices"
	"strings"
)

// verbs are the allowed verbs of the git tool, with their allowed options besides the common
// ones. Options are listed and not excluded, because git accepts any unambiguous prefix of
// one: --outp writes a file too.
var verbs = map[string][]string{ //nolint:gochecknoglobals // a table that is never written
	"status":   {"--short", "-s", "--porcelain", "--branch", "-b", "--untracked-files", "-u", "--ignored", "--long", "-sb", "-z", "-v", "--show-stash", "--ahead-behind", "--no-renames"},
	"diff":     {"--cached", "--staged", "--merge-base", "--quiet", "-q"},
	"log":      {"--oneline", "--graph", "--all", "--decorate", "--reverse", "--follow", "--merges", "--no-merges", "--first-parent", "--abbrev-commit"},
	"show":     {"--oneline", "--decorate", "--abbrev-commit"},
	"blame":    {"-w", "-M", "-C", "-s", "-e", "-l", "--porcelain", "--line-porcelain", "--root"},
	"ls-files": {"--others", "-o", "--modified", "-m", "--deleted", "-d", "--cached", "-c", "--stage", "-s", "--exclude-standard", "--full-name", "-t", "-z", "--ignored", "-i", "--error-unmatch", "--eol", "--deduplicate", "--unmerged", "--directory"},
}

// diffOptions are allowed after diff, log and show. An option with a value must have it after
// an equals sign or directly after its letter.
var diffOptions = []string{ //nolint:gochecknoglobals // a table that is never written
	"--stat", "--numstat", "--shortstat", "--summary", "--name-only", "--name-status", "--patch", "-p", "-u", "--no-patch", "-s", "--raw",
	"--ignore-all-space", "-w", "--ignore-space-change", "-b", "--ignore-blank-lines", "--word-diff", "--color-words", "--no-color", "--unified",
	"--diff-filter", "--find-renames", "-M", "--find-copies", "-C", "--no-renames", "--minimal", "--histogram", "--patience", "--function-context", "-W",
	"--check", "--exit-code", "--full-index", "--no-ext-diff", "--no-textconv", "--pickaxe-regex", "--pickaxe-all", "--no-prefix", "--relative",
	"--format", "--pretty", "--date", "--since", "--after", "--until", "--before", "--author", "--committer", "--grep", "--max-count", "--skip",
	"-z", "--color", "--compact-summary", "--dirstat", "--text", "-a", "--binary", "-R", "--ignore-cr-at-eol", "--ignore-space-at-eol", "--ignore-submodules",
	"--topo-order", "--date-order", "--author-date-order", "--left-right", "--cherry-pick", "--cherry-mark", "--boundary", "--simplify-by-decoration", "--tags", "--branches",
	"--remotes", "--abbrev", "--no-abbrev", "--no-abbrev-commit", "--invert-grep", "--all-match", "--ancestry-path", "--full-history", "--ws-error-highlight", "--cc", "-m",
	"-i", "--regexp-ignore-case", "--extended-regexp", "-E", "--fixed-strings", "-F", "-n", "--no-decorate", "--no-notes",
}

// CheckReadOnly verifies that a git call only reads, and returns the arguments after git, hardened.
// args must not be empty.
func CheckReadOnly(args []string) ([]string, error) {
	verb := args[0]
	own, ok := verbs[verb]
	if !ok {
		return nil, fmt.Errorf("git %q is not for this tool; args begins with status, diff, log, show, blame or ls-files", verb)
	}
	checked := []string{verb}
	diffs := verb == "diff" || verb == "log" || verb == "show"
	if diffs {
		checked = append(checked, "--no-ext-diff", "--no-textconv") // neither may run a program of the tree
	}
	paths := false
	for _, a := range args[1:] {
		if a == "--" {
			paths = true
		} else if strings.HasPrefix(a, "-") && !paths {
			if !isAllowedOption(verb, a, own, diffs) {
				return nil, fmt.Errorf("git %s %q is not for this tool", verb, a)
			}
		} else if err := checkRevOrPath(a); err != nil {
			return nil, err
		}
		checked = append(checked, a)
	}
	return checked, nil
}

func isAllowedOption(verb, a string, own []string, diffs bool) bool {
	if strings.HasPrefix(a, "--") {
		name, _, _ := strings.Cut(a, "=")
		return slices.Contains(own, name) || diffs && slices.Contains(diffOptions, name)
	}
	digits := strings.Trim(a[1:], "0123456789") == ""
	switch {
	case len(a) == 1:
		return false
	case digits: // -5: a number of commits
		return verb == "log" || verb == "show"
	case slices.Contains(own, a), diffs && slices.Contains(diffOptions, a):
		return true
	}
	letter, value := a[:2], a[2:]
	number := strings.Trim(value, "0123456789") == ""
	switch letter {
	case "-S", "-G":
		return diffs
	case "-L":
		return verb == "log" || verb == "blame"
	case "-n", "-U", "-M", "-C":
		return number && (diffs || verb == "blame" && (letter == "-M" || letter == "-C"))
	case "-u":
		return verb == "status" && (value == "no" || value == "all" || value == "normal")
	}
	return false
}

// checkRevOrPath refuses arguments that make git read outside the worktree: diff reads any two
// files if one of them is elsewhere.
func checkRevOrPath(a string) error {
	if strings.HasPrefix(a, "/") || slices.Contains(strings.Split(a, "/"), "..") || strings.ContainsRune(a, 0) {
		return fmt.Errorf("%q is outside the worktree", a)
	}
	return nil
}
