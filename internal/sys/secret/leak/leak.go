// Package leak finds secrets in the added lines of a change, with the rules of gitleaks. Comments
// that allow a finding are ignored: the author of the secret may have written the comment.
package leak

import (
	"bufio"
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zricethezav/gitleaks/v8/config"
)

// LeakedSecret is one found secret. It does not contain the secret itself.
type LeakedSecret struct {
	File   string // slash-separated, as in the patch
	Line   int    // in the new file, from 1
	Column int    // from 1
	Rule   string // its name
	Kind   string // kind of the secret, for people
}

// SecretLeakFinder finds leaks; its zero value is ready. It reads the rules at its first use. It may be used
// by many goroutines.
type SecretLeakFinder struct {
	once    sync.Once
	mu      sync.Mutex // guards the patterns below, which are compiled on demand
	rules   []leakRule
	allowed []compiledAllowList // for all rules
	err     error
}

// FindAdded returns the secrets that a patch in git's format adds, in the order of the patch. A secret
// that the patch also removes elsewhere was moved, and is not returned. The error is about the
// rules, or that of the context.
func (f *SecretLeakFinder) FindAdded(ctx context.Context, patch string) ([]LeakedSecret, error) {
	f.once.Do(func() { f.rules, f.allowed, f.err = parseRules([]byte(config.DefaultConfig)) })
	if f.err != nil {
		return nil, f.err
	}
	files, gone := readPatchLines(patch)
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []LeakedSecret
	for _, file := range files {
		all = append(all, f.findLeaksInText(ctx, file, gone)...)
		if err := context.Cause(ctx); err != nil { // the search is incomplete
			return nil, err
		}
	}
	return all, nil
}

func (f *SecretLeakFinder) findLeaksInText(ctx context.Context, a addedFileText, gone string) []LeakedSecret {
	var leaks []LeakedSecret
	for _, found := range f.searchText(ctx, a.file, a.text.String()) {
		if found.line >= len(a.lines) || strings.Contains(gone, found.secret) {
			continue
		}
		leaks = append(leaks, LeakedSecret{
			File: a.file, Line: a.lines[found.line], Column: max(1, found.column), Rule: found.rule.id, Kind: secretKindOfRule(found.rule.about),
		})
	}
	slices.SortStableFunc(leaks, func(x, y LeakedSecret) int {
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column), cmp.Compare(x.Rule, y.Rule))
	})
	// A line that matches several rules is reported once.
	return slices.CompactFunc(leaks, func(x, y LeakedSecret) bool { return x.Line == y.Line })
}

// secretKindOfRule shortens a rule's description to the kind of secret.
func secretKindOfRule(says string) string {
	says, _, _ = strings.Cut(says, ",")
	for _, verb := range []string{"Uncovered ", "Identified ", "Detected ", "Discovered ", "Found ", "Recognized ", "Spotted "} {
		if rest, ok := strings.CutPrefix(says, verb); ok {
			return rest
		}
	}
	return says
}

// addedFileText has the added lines of one file.
type addedFileText struct {
	file  string
	text  strings.Builder // the lines
	lines []int           // their numbers in the new file
}

// hunkPattern matches the header of a hunk: the start and the number of lines in the old and the new
// file.
const hunkPattern = `^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`

// readPatchLines returns the added lines of a patch, by file, and all its removed lines. It counts lines by
// the headers of the hunks, so that no content can be mistaken for a header.
func readPatchLines(patch string) (files []addedFileText, gone string) {
	head := regexp.MustCompile(hunkPattern)
	var removed strings.Builder
	var at *addedFileText
	var old, fresh, line int
	lines := bufio.NewScanner(strings.NewReader(patch))
	lines.Buffer(nil, max(64<<10, len(patch)+1))
	for lines.Scan() {
		text := lines.Text()
		switch {
		case old > 0 || fresh > 0:
			sign, body := byte(' '), ""
			if text != "" {
				sign, body = text[0], text[1:]
			}
			switch sign {
			case '+':
				if strings.ContainsRune(body, 0) {
					body = "" // a binary file
				}
				at.text.WriteString(body + "\n")
				at.lines = append(at.lines, line)
				fresh, line = fresh-1, line+1
			case '-':
				removed.WriteString(body + "\n")
				old--
			case '\\':
			default:
				old, fresh, line = old-1, fresh-1, line+1
			}
		case strings.HasPrefix(text, "+++ "):
			files = append(files, addedFileText{file: parsePatchFileName(text[4:])})
			at = &files[len(files)-1]
		default:
			m := head.FindStringSubmatch(text)
			if m == nil || at == nil {
				continue
			}
			old, line, fresh = parseHunkCount(m[1]), parseHunkCount(m[2]), parseHunkCount(m[3])
		}
	}
	return files, removed.String()
}

// parseHunkCount parses a number in a hunk's header, which is 1 if it is omitted.
func parseHunkCount(s string) int {
	n, err := strconv.Atoi(cmp.Or(s, "1"))
	if err != nil {
		return 0
	}
	return n
}

// parsePatchFileName parses a file name in git's form: after b/, in quotes if it has special characters, with a
// tab at its end if it has spaces.
func parsePatchFileName(s string) string {
	if s = strings.TrimSuffix(s, "\t"); strings.HasPrefix(s, `"`) {
		if plain, err := strconv.Unquote(s); err == nil {
			s = plain
		}
	}
	return strings.TrimPrefix(s, "b/")
}
