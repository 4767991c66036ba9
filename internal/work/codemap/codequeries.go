package codemap

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// SourceLine is a line of a file.
type SourceLine struct {
	File string `json:"file"`
	Line int    `json:"line"` // line number, from 1
	In   string `json:"in,omitempty"`
	Text string `json:"text"`
}

func (p SourceLine) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d %s", p.File, p.Line, p.In))
}

// maxScanned limits how many bytes of a tree are read for one question.
const maxScanned = 64 << 20

// FindSymbol returns the lines that declare a name, and those that use it, by text alone: another
// declaration with the same name counts, and so does a comment. Of a qualified name only the
// last part is searched.
func (s *CommitSurvey) FindSymbol(ctx context.Context, name string) (declared, used []SourceLine, err error) {
	name = name[strings.LastIndexAny(name, ".:#")+1:]
	err = s.scanTexts(ctx, func(f surveyedFile, text string) {
		o, n := f.lang.outlineText(text), 0
		for line := range strings.Lines(text) {
			n++
			if !containsWord(line, name) {
				continue
			}
			p := SourceLine{File: f.path, Line: n, Text: declarationHead(line)}
			own := false
			for _, d := range o.declares {
				if inner := strings.TrimLeft(line, " \t") != line; inner && d.line < n {
					p.In = d.name
				}
				own = own || d.line == n && d.name == name
			}
			if own {
				declared = append(declared, p)
			} else {
				used = append(used, p)
			}
		}
	})
	return declared, used, err
}

// FindDependents returns the files that depend on one: those that import it or its directory, and
// those beside it that use names that only it declares.
func (s *CommitSurvey) FindDependents(ctx context.Context, of string) ([]string, error) {
	all, err := s.DependentsOf(ctx, []string{of})
	return all[of], err
}

// DependentsOf is [CommitSurvey.FindDependents] for several files; it reads the tree once.
func (s *CommitSurvey) DependentsOf(ctx context.Context, files []string) (map[string][]string, error) {
	targets, inside := map[int]string{}, map[string][]string{}
	own := s.uniqueDeclarations()
	for _, of := range files {
		target, err := s.findFile(of)
		if err != nil {
			return nil, err
		}
		if _, twice := targets[target]; !twice {
			targets[target] = of
			inside[path.Dir(of)] = append(inside[path.Dir(of)], of)
		}
	}
	at, all := s.newPathIndex(), map[string][]string{}
	err := s.scanTexts(ctx, func(f surveyedFile, text string) {
		on := map[string]bool{}
		for _, name := range f.lang.outlineText(text).imports {
			i, dir := at.findFile(f.path, name, f.lang.Between != "")
			if of, ok := targets[i]; ok && i >= 0 {
				on[of] = true
			}
			for _, of := range inside[dir] {
				on[of] = on[of] || i < 0 && dir != path.Dir(f.path)
			}
		}
		for _, of := range inside[path.Dir(f.path)] {
			on[of] = on[of] || slices.ContainsFunc(own[of], func(name string) bool { return containsWord(text, name) })
		}
		for of, depends := range on {
			if depends && of != f.path {
				all[of] = append(all[of], f.path)
			}
		}
	})
	return all, err
}

// FindTests returns the tests of a file, the nearest first: of the tests that depend on it or have
// its name, those that use something that it declares.
func (s *CommitSurvey) FindTests(ctx context.Context, of string) ([]string, error) {
	near, err := s.FindDependents(ctx, of)
	if err != nil {
		return nil, err
	}
	target, err := s.findFile(of)
	if err != nil {
		return nil, err
	}
	own, stem := s.uniqueDeclarations()[of], strings.TrimSuffix(path.Base(of), path.Ext(of))
	var all []string
	err = s.scanTexts(ctx, func(f surveyedFile, text string) {
		if !stack.ServesTests(f.path) || f.path == of {
			return
		}
		uses := func(name string) bool { return containsWord(text, name) }
		beside := path.Dir(f.path) == path.Dir(of)
		declares := func(d declarationLine) bool { return (beside || !d.private) && uses(d.name) }
		alike := strings.Contains(path.Base(f.path), stem) && slices.ContainsFunc(own, uses)
		if alike || slices.Contains(near, f.path) && slices.ContainsFunc(s.files[target].declares, declares) {
			all = append(all, f.path)
		}
	})
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(testDistance(a, of), testDistance(b, of)) })
	return all, err
}

// testDistance returns the distance of a test from a file: 0 for a test of its name beside it.
func testDistance(test, of string) int {
	n := 0
	if path.Dir(test) != path.Dir(of) {
		n = 2
	}
	if !strings.Contains(path.Base(test), strings.TrimSuffix(path.Base(of), path.Ext(of))) {
		n++
	}
	return n
}

// findFile returns the index of a file.
func (s *CommitSurvey) findFile(name string) (int, error) {
	i := slices.IndexFunc(s.files, func(f surveyedFile) bool { return f.path == name })
	if i < 0 {
		return 0, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("%q is not a file of commit %.12s that the map shows", name, s.commit),
			Hint: "Name a file as git ls-files does, from the root of the repository.",
		}
	}
	return i, nil
}

// uniqueDeclarations returns, per file, the names that only this file declares.
func (s *CommitSurvey) uniqueDeclarations() map[string][]string {
	times := map[string]int{}
	for _, f := range s.files {
		for _, d := range f.declares {
			times[d.name]++
		}
	}
	all := map[string][]string{}
	for _, f := range s.files {
		for _, d := range f.declares {
			if times[d.name] == 1 && !d.member {
				all[f.path] = append(all[f.path], d.name)
			}
		}
	}
	return all
}

// scanTexts calls do with the code of the tree, tests included.
func (s *CommitSurvey) scanTexts(ctx context.Context, do func(f surveyedFile, text string)) error {
	var all []int
	total := 0
	for i, f := range s.files {
		if f.lang == nil || f.size > maxFile || !git.IsObjectID(f.id) {
			continue
		}
		if total += f.size; total > maxScanned {
			break
		}
		all = append(all, i)
	}
	return s.forEachText(ctx, s.repo, all, func(i int, text string) { do(s.files[i], text) })
}

// containsWord reports whether a text contains a name as a whole word.
func containsWord(text, name string) bool {
	if name == "" {
		return false
	}
	part := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for rest := text; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:len(text)-len(rest)+i])
		after, _ := utf8.DecodeRuneInString(rest[i+len(name):])
		if !part(before) && !part(after) {
			return true
		}
		rest = rest[i+len(name):]
	}
}
