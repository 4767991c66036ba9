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

	"github.com/nexus-ai-builder/nexus/internal/nexus/sorting"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Place is a line of a file.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"` // from 1
	In   string `json:"in,omitempty"`
	Text string `json:"text"`
}

func (p Place) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s:%d %s", p.File, p.Line, p.In))
}

// maxScanned is how many bytes of a tree are read for one question.
const maxScanned = 64 << 20

// Symbol returns the lines that declare a name, and those that use it, by text
// alone: another thing of the same name counts, and a line of a comment does,
// too. Of a qualified name the last part counts.
func (s *Survey) Symbol(ctx context.Context, name string) (declared, used []Place, err error) {
	name = name[strings.LastIndexAny(name, ".:#")+1:]
	err = s.scan(ctx, func(f file, text string) {
		o, n := f.lang.outline(text), 0
		for line := range strings.Lines(text) {
			n++
			if !names(line, name) {
				continue
			}
			p := Place{File: f.path, Line: n, Text: short(line)}
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

// Dependents returns the files that depend on one: those that import it or its
// directory, and those beside it that use what no other file declares.
func (s *Survey) Dependents(ctx context.Context, of string) ([]string, error) {
	target, err := s.find(of)
	if err != nil {
		return nil, err
	}
	own, at := s.own(target), s.index()
	var all []string
	err = s.scan(ctx, func(f file, text string) {
		beside := path.Dir(f.path) == path.Dir(of)
		imports := slices.ContainsFunc(f.lang.outline(text).imports, func(name string) bool {
			i, dir := at.find(f.path, name, f.lang.Between != "")
			return i == target || i < 0 && dir == path.Dir(of) && !beside
		})
		if f.path != of && (imports || beside && slices.ContainsFunc(own, func(name string) bool { return names(text, name) })) {
			all = append(all, f.path)
		}
	})
	return all, err
}

// Tests returns the tests of a file, the nearest first: of those that depend on it
// or have its name, the ones that use something that it declares.
func (s *Survey) Tests(ctx context.Context, of string) ([]string, error) {
	near, err := s.Dependents(ctx, of)
	if err != nil {
		return nil, err
	}
	target, err := s.find(of)
	if err != nil {
		return nil, err
	}
	own, stem := s.own(target), strings.TrimSuffix(path.Base(of), path.Ext(of))
	var all []string
	err = s.scan(ctx, func(f file, text string) {
		if !stack.ServesTests(f.path) || f.path == of {
			return
		}
		uses := func(name string) bool { return names(text, name) }
		beside := path.Dir(f.path) == path.Dir(of)
		declares := func(d declared) bool { return (beside || !d.private) && uses(d.name) }
		alike := strings.Contains(path.Base(f.path), stem) && slices.ContainsFunc(own, uses)
		if alike || slices.Contains(near, f.path) && slices.ContainsFunc(s.files[target].declares, declares) {
			all = append(all, f.path)
		}
	})
	sorting.By(all, func(a, b string) int { return cmp.Compare(far(a, of), far(b, of)) })
	return all, err
}

// far says how far a test is from what it may test: 0 for one of its name beside it.
func far(test, of string) int {
	n := 0
	if path.Dir(test) != path.Dir(of) {
		n = 2
	}
	if !strings.Contains(path.Base(test), strings.TrimSuffix(path.Base(of), path.Ext(of))) {
		n++
	}
	return n
}

// find returns the number of a file.
func (s *Survey) find(name string) (int, error) {
	i := slices.IndexFunc(s.files, func(f file) bool { return f.path == name })
	if i < 0 {
		return 0, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("%q is no file of commit %.12s that a map shows", name, s.commit),
			Hint: "Name a file as git ls-files does, from the root of the repository.",
		}
	}
	return i, nil
}

// own returns the names that a file declares, and no other.
func (s *Survey) own(target int) []string {
	times := map[string]int{}
	for _, f := range s.files {
		for _, d := range f.declares {
			times[d.name]++
		}
	}
	var all []string
	for _, d := range s.files[target].declares {
		if times[d.name] == 1 && !d.member {
			all = append(all, d.name)
		}
	}
	return all
}

// scan calls do with the code of the tree, tests included.
func (s *Survey) scan(ctx context.Context, do func(f file, text string)) error {
	var all []int
	total := 0
	for i, f := range s.files {
		if f.lang == nil || f.size > maxFile || !git.ID(f.id) {
			continue
		}
		if total += f.size; total > maxScanned {
			break
		}
		all = append(all, i)
	}
	return s.texts(ctx, s.repo, all, func(i int, text string) { do(s.files[i], text) })
}

// names reports whether a text has a name as a whole word.
func names(text, name string) bool {
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
