package codemap

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Limits of the list of existing tests.
const (
	testsBytes   = 1_500 // about 500 tokens
	testsFiles   = 4     // files of the task whose tests are listed
	testsCallers = 2     // callers of all these files, likewise
)

// ExistingTests lists the tests of some files in a commit, of files that depend on these, and,
// if in is set, in the directory of a package: one line for each test file, the nearest first.
// If not all names fit, the last files have only a count of their tests. It is empty if there
// are none.
func (m *RepositoryMapper) ExistingTests(ctx context.Context, repo git.Repo, commit string, files []string, in string) (string, error) {
	if m == nil || m.Tokens <= 0 || commit == "" || len(files) == 0 && in == "" {
		return "", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.surveyCommit(ctx, repo, commit); err != nil {
		return "", err
	}
	return m.survey.ExistingTests(ctx, files, in)
}

// ExistingTests is [RepositoryMapper.ExistingTests] for one commit.
func (s *CommitSurvey) ExistingTests(ctx context.Context, files []string, in string) (string, error) {
	found, err := s.nearbyTests(ctx, files)
	if err != nil {
		return "", err
	}
	for _, f := range s.files {
		if in != "" && isUnderDirectory(in, f.path) && stack.ServesTests(f.path) && !slices.Contains(found, f.path) {
			found = append(found, f.path)
		}
	}
	var at []int
	for _, name := range found {
		if i, err := s.findFile(name); err == nil && s.files[i].size <= maxFile && git.IsObjectID(s.files[i].id) {
			at = append(at, i)
		}
	}
	names := map[string][]string{}
	if err := s.forEachText(ctx, s.repo, at, func(i int, text string) {
		names[s.files[i].path] = testNames(s.files[i].path, text)
	}); err != nil {
		return "", err
	}
	found = slices.DeleteFunc(found, func(f string) bool { return len(names[f]) == 0 })
	return drawTestLines(found, names, testsBytes), nil
}

// nearbyTests returns test files: those of the files first, then those of their callers.
func (s *CommitSurvey) nearbyTests(ctx context.Context, files []string) ([]string, error) {
	var found, callers []string
	add := func(all ...string) {
		for _, f := range all {
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
		}
	}
	looked := 0
	for _, f := range files {
		f = path.Clean(f)
		if _, err := s.findFile(f); err != nil || looked == testsFiles {
			continue // the task creates it
		}
		if looked++; stack.ServesTests(f) {
			add(f)
			continue
		}
		tests, err := s.FindTests(ctx, f)
		if err != nil {
			return nil, err
		}
		add(tests...)
		on, err := s.FindDependents(ctx, f)
		if err != nil {
			return nil, err
		}
		callers = append(callers, slices.DeleteFunc(on, stack.ServesTests)...)
	}
	for _, f := range callers[:min(len(callers), testsCallers)] {
		tests, err := s.FindTests(ctx, f)
		if err != nil {
			return nil, err
		}
		add(tests...)
	}
	return found, nil
}

// testNames returns the names of the tests that a file declares, in order.
func testNames(file, text string) []string {
	declares := ""
	for _, k := range stack.AllStacks() {
		if declares == "" && slices.Contains(k.Tests.Ends, path.Ext(file)) {
			declares = k.Tests.Declares
		}
	}
	if declares == "" {
		return nil
	}
	var names []string
	pattern := regexp.MustCompile(declares)
	for line := range strings.Lines(text) {
		groups := pattern.FindStringSubmatch(strings.TrimSpace(line))
		for i := len(groups) - 1; i > 0; i-- {
			if groups[i] != "" {
				names = append(names, printableText(groups[i]))
				break
			}
		}
	}
	return names
}

// drawTestLines formats a line for each file, up to a number of bytes.
func drawTestLines(files []string, names map[string][]string, bytes int) string {
	lines, size := make([]string, len(files)), 0
	for i, f := range files {
		lines[i] = printableText(f) + ": " + strings.Join(names[f], ", ") + "\n"
		size += len(lines[i])
	}
	for i := len(files) - 1; i >= 0 && size > bytes; i-- {
		size -= len(lines[i])
		lines[i] = printableText(files[i]) + ": " + pluralCount(len(names[files[i]]), "test") + "\n"
		size += len(lines[i])
	}
	n := len(lines)
	for n > 0 && size > bytes {
		n--
		size -= len(lines[n])
	}
	text := strings.Join(lines[:n], "")
	if more := len(lines) - n; more > 0 {
		text += fmt.Sprintf("and %s more with tests\n", pluralCount(more, "file"))
	}
	return text
}
