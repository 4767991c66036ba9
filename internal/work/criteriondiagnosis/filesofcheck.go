package criteriondiagnosis

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// most limits how many files of a check are named.
const most = 200

// filesOfCheck returns the files that the check of a criterion consists of.
func (w *criteriaDiagnosis) filesOfCheck(ctx context.Context, x *examinedCriterion) ([]string, error) {
	git := w.Worker.Trees.PrivateRepo()
	out, err := git.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", w.view.Tip)
	if err != nil {
		return nil, err
	}
	files := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	named := filesOfCheckCommand(x.criterion.Check, files)
	for _, f := range x.red.Findings {
		if stack.ServesTests(f.File) && slices.Contains(files, f.File) {
			named = append(named, f.File)
		}
	}
	for _, name := range tests.FindAllString(x.criterion.Check, 10) {
		out, err := git.Run(ctx, "grep", "-l", "-z", "-w", "-F", "-e", name, w.view.Tip, "--")
		if err != nil {
			continue // it is in no file
		}
		for file := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
			if file = strings.TrimPrefix(file, w.view.Tip+":"); stack.ServesTests(file) {
				named = append(named, file)
			}
		}
	}
	if len(named) == 0 && x.gate.Tests {
		named = testsBelowNamedDirs(x.criterion.Check, files)
	}
	slices.Sort(named)
	named = slices.Compact(named)
	return named[:min(len(named), most)], nil
}

// tests matches the usual names of tests in a command.
var tests = regexp.MustCompile(`\b[Tt]est\w*[A-Z_]\w*`)

// commandFileWords returns the parts of a command that may name a file.
func commandFileWords(command string) []string {
	all := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t'\"`;&|()<>=,", r) })
	for i, word := range all {
		word, _, _ = strings.Cut(word, "::")
		all[i] = strings.TrimSuffix(path.Clean(word), "/...")
	}
	return all
}

// filesOfCheckCommand returns the files in a command that are certainly part of the check, and not its
// subject: tests, and scripts of the shell.
func filesOfCheckCommand(command string, files []string) []string {
	var all []string
	for _, word := range commandFileWords(command) {
		script := strings.HasSuffix(word, ".sh") || strings.HasSuffix(word, ".bats")
		if (script || stack.ServesTests(word)) && slices.Contains(files, word) {
			all = append(all, word)
		}
	}
	return all
}

// testsBelowNamedDirs returns the tests below the directories that a command names, or all if it names
// none.
func testsBelowNamedDirs(command string, files []string) []string {
	var dirs []string
	for _, word := range commandFileWords(command) {
		if word != "." && word != "..." && slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, word+"/") }) {
			dirs = append(dirs, word+"/")
		}
	}
	var all []string
	for _, f := range files {
		if stack.IsTest(f) && (len(dirs) == 0 || slices.ContainsFunc(dirs, func(d string) bool { return strings.HasPrefix(f, d) })) {
			all = append(all, f)
		}
	}
	return all
}
