package changeeffects

import (
	"context"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// ChangeRelation describes how a change relates to its task and to tests, according to the texts of
// its files.
type ChangeRelation struct {
	Edited  []string // test files that existed before
	Gone    []string // deleted files
	Touched []string // names of the declarations around the changed lines
	Texts   bool     // only comments and documents differ
	Checks  bool     // the tests that it adds assert something
	Added   string   // the lines that it adds to tests
}

// ReadChangeRelation compares the files that differ between two commits.
func ReadChangeRelation(ctx context.Context, repo git.Repo, from, to string) (ChangeRelation, error) {
	changed, err := repo.ChangedFiles(ctx, from, to)
	if err != nil {
		return ChangeRelation{}, err
	}
	r := ChangeRelation{Texts: len(changed) > 0 && len(changed) <= maxCompared}
	var tests []tamper.ChangedFileVersions
	for n, c := range changed {
		serves := stack.ServesTests(c.Path)
		if c.Status == "D" {
			r.Gone = append(r.Gone, c.Path)
		}
		if serves && c.Status != "A" {
			r.Edited = append(r.Edited, c.Path)
		}
		if n >= maxCompared {
			continue
		}
		f, err := readBothVersions(ctx, repo, from, to, c)
		if err != nil {
			return ChangeRelation{}, err
		}
		r.Texts = r.Texts && accept.ChangesOnlyText(c.Path, f.Old, f.New)
		if serves {
			tests = append(tests, f)
			if f.New != nil {
				r.Added += strings.Join(differingLinesOf(optionalLines(f.New), optionalLines(f.Old)).texts, "\n") + "\n"
			}
			continue
		}
		r.Touched = append(r.Touched, enclosingNames(f)...)
	}
	slices.Sort(r.Touched)
	r.Touched, r.Checks = slices.Compact(r.Touched), tamper.AddsChecks(tests)
	return r, nil
}

// differingLines are the lines of one text that the other lacks, by number from 1.
type differingLines struct {
	numbers []int
	texts   []string
}

func differingLinesOf(a, b []string) (d differingLines) {
	have := map[string]int{}
	for _, l := range b {
		have[strings.TrimSpace(l)]++
	}
	for i, l := range a {
		if l = strings.TrimSpace(l); have[l] > 0 {
			have[l]--
		} else if l != "" {
			d.numbers, d.texts = append(d.numbers, i+1), append(d.texts, l)
		}
	}
	return d
}

func optionalLines(text *string) []string {
	if text == nil {
		return nil
	}
	return plainTextLines(*text)
}

// mostPlaces limits the changed places of a file for which the enclosing name is looked up.
const mostPlaces = 60

// enclosingNames returns the names of the declarations around the lines that only one version
// of a file has.
func enclosingNames(f tamper.ChangedFileVersions) []string {
	var all []string
	both := [][2]*string{{f.Old, f.New}, {f.New, f.Old}}
	for _, side := range both {
		lines := optionalLines(side[0])
		numbers := differingLinesOf(lines, optionalLines(side[1])).numbers
		last, places := -1, 0
		for _, n := range numbers {
			if n != last+1 || lastFunctionName(f.Path, lines[n-1:n]) != "" {
				if places++; places > mostPlaces {
					break
				}
				for _, name := range []string{codemap.EnclosingName(f.Path, *side[0], n), lastFunctionName(f.Path, lines[:n])} {
					if len(name) > 1 {
						all = append(all, name)
					}
				}
			}
			last = n
		}
	}
	return all
}

// lastFunctionName returns the name of the last function declared in the lines of a file.
func lastFunctionName(file string, lines []string) string {
	syntax, ok := stack.SyntaxOf(file)
	if !ok || syntax.Heads == "" {
		return ""
	}
	heads := regexp.MustCompile(syntax.Heads)
	for _, l := range slices.Backward(lines) {
		groups := heads.FindStringSubmatch(l)
		for i := len(groups) - 1; i > 0; i-- {
			if groups[i] != "" && !slices.Contains(strings.Fields("if else for while until switch catch return new throw case await"), groups[i]) {
				return groups[i]
			}
		}
	}
	return ""
}

const (
	maxGrep  = 4 << 20 // bytes of git's output
	maxNames = 40
)

// DeclaredNames returns the names that are declared in the code of a commit: as the name of a
// file without its extensions, or in a line of code.
func DeclaredNames(ctx context.Context, repo git.Repo, commit string, names []string) ([]string, error) {
	names = names[:min(len(names), maxNames)]
	if len(names) == 0 {
		return nil, nil
	}
	listed, err := repo.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	var known []string
	add := func(name string) {
		if !slices.Contains(known, name) {
			known = append(known, name)
		}
	}
	for file := range strings.SplitSeq(listed, "\x00") {
		stem, _, _ := strings.Cut(path.Base(file), ".")
		if slices.Contains(names, stem) && !stack.ServesTests(file) && !stack.IsProse(file) {
			add(stem)
		}
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	declares := declarationPattern(strings.Join(quoted, "|"))
	out, _, err := repo.RunWithLimit(ctx, maxGrep, "grep", "-I", "-E", "--no-color", "-e", declares, commit, "--")
	if x, ok := errors.AsType[*git.ExitError](err); ok && x.Status == 1 {
		return known, nil // no line declares one
	}
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		file, text, _ := strings.Cut(strings.TrimPrefix(line, commit+":"), ":")
		if stack.ServesTests(file) || stack.IsProse(file) {
			continue
		}
		for i, n := range names {
			if !slices.Contains(known, n) && regexp.MustCompile(declarationPattern(quoted[i])).MatchString(text) {
				add(n)
			}
		}
	}
	return known, nil
}

// declarationPattern returns a pattern, for git and for Go, of lines that declare one of some names.
func declarationPattern(names string) string {
	const head = `(^|[^[:alnum:]_])`
	names = "(" + names + ")"
	const kinds = `(def|class|func|fn|function|interface|struct|trait|enum|module|sub|defp|type|object|protocol)`
	return head + kinds + `[[:space:]]+(\([^)]*\)[[:space:]]*|self\.)?` + names + `([^[:alnum:]_]|$)` +
		`|` + head + `(const|let|var)[[:space:]]+` + names + `[[:space:]]*=[[:space:]]*(async[[:space:]]*)?(\(|function)` +
		`|^[[:space:]]*([[:alnum:]_<>*&]+[[:space:]]+)*` + names + `[[:space:]]*\([^()]*\)[[:space:]]*\{`
}

// FailingTestTextReader returns a function for the text of a failed test in a commit: its part of the
// file named by its finding or its name, or "" if it is not found.
func FailingTestTextReader(ctx context.Context, repo git.Repo, commit string) func(f nexus.Finding) string {
	read := map[string]string{}
	text := func(file string) string {
		t, ok := read[file]
		if !ok && len(read) < maxFiles {
			t = fileTextAt(ctx, repo, commit, file)
			read[file] = t
		}
		return t
	}
	return func(f nexus.Finding) string {
		label := f.Test
		if label == "" {
			label = f.File
		}
		name, _, _ := strings.Cut(label, "::")
		for _, file := range []string{f.File, name} {
			if file == "" || !stack.ServesTests(file) {
				continue
			}
			if found := accept.TestText(file, text(file), label); found != "" {
				return found
			}
		}
		return ""
	}
}
