package tamper

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// MergeGate is the gate name of findings about the result of a merge.
const MergeGate = "merge"

// Codes of faults in the result of a merge. Changes to tests and gates beyond both sides have
// the codes of [FindTampering].
const (
	LostFile   = "merge.file"
	LostTest   = "merge.test"
	LostSymbol = "merge.symbol"
	LostLines  = "merge.lines"
	LostMode   = "merge.mode"
)

// Sides contains a file in the four trees of a merge; nil if it does not exist there.
type Sides struct {
	Path   string
	Base   *string // the common base of both sides
	Landed *string // the commits that landed meanwhile
	Change *string // the change that is to land
	Result *string
	Made   *string // git's own merge, if it could merge the file
	Modes  Modes
}

// Modes are git's file modes in the trees, which show whether the file is executable; empty
// if it does not exist there.
type Modes struct{ Base, Landed, Change, Result string }

// CheckMerge compares the result of a merge with both sides. A line, test, exported symbol or
// file is expected if a side added it, or if both kept it; if one side removed it, it is not.
// CheckMerge returns missing and restored things, in the order of the files, and changes of
// the result to tests and gates that neither side made. Each finding has a name by which it
// is explained.
//
// Position, indentation and line breaks do not matter. A line that both sides changed is
// present if a new line of the result has the words of both, in order. A name that the other
// side replaced everywhere may be the new one.
func CheckMerge(files []Sides) []nexus.Finding {
	if len(files) == 0 {
		return nil
	}
	return learn().checkMerge(files)
}

func (h *habits) checkMerge(files []Sides) []nexus.Finding {
	m := merge{habits: h, files: files, exports: map[string]*regexp.Regexp{}}
	for _, f := range files {
		if opaque(f) {
			m.whole(f)
		}
		m.mode(f)
	}
	m.lines()
	m.named(LostTest, "test", m.tests)
	m.named(LostSymbol, "symbol", m.exported)
	m.removals()
	m.tampered()
	order := func(l nexus.Finding) int {
		return slices.IndexFunc(files, func(f Sides) bool { return f.Path == l.File })
	}
	slices.SortStableFunc(m.found, func(a, b nexus.Finding) int { return cmp.Compare(order(a), order(b)) })
	return m.found
}

// merge is one comparison.
type merge struct {
	*habits

	files   []Sides
	exports map[string]*regexp.Regexp // exports of files, by pattern
	gone    map[string]bool           // files that are completely missing
	found   []nexus.Finding
}

func (m *merge) add(name, file string, line int, code, format string, args ...any) {
	m.found = append(m.found, nexus.Finding{
		Gate: MergeGate, File: file, Line: line, Severity: nexus.Major, Code: code, Message: fmt.Sprintf(format, args...), Name: name,
	})
}

// opaque reports whether a file does not consist of lines.
func opaque(f Sides) bool {
	for _, t := range []*string{f.Base, f.Landed, f.Change, f.Result} {
		if t != nil && strings.Contains(*t, "\x00") {
			return true
		}
	}
	return false
}

func equal(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// mode compares whether a file is executable.
func (m *merge) mode(f Sides) {
	want := f.Modes.Landed
	if want == f.Modes.Base {
		want = f.Modes.Change
	}
	file := func(mode string) bool { return mode == "100644" || mode == "100755" }
	if now := f.Modes.Result; file(now) && file(want) && now != want && (now == f.Modes.Base || f.Modes.Landed == f.Modes.Change) {
		m.add(f.Path+": mode", f.Path, 0, LostMode, "its mode is %s, and should be %s", now, want)
	}
}

// whole compares a file that does not consist of lines: the result must equal the side that
// changed it, or all if none did.
func (m *merge) whole(f Sides) {
	if f.Base != nil && equal(f.Landed, f.Base) && equal(f.Change, f.Base) && !equal(f.Result, f.Base) {
		m.add(f.Path+": the version of both sides", f.Path, 0, LostFile, "the result does not have the version of both sides, which neither changed")
	}
	for _, s := range []struct {
		name      string
		text, not *string
	}{{"the landed work", f.Landed, f.Change}, {"the change", f.Change, f.Landed}} {
		if s.text != nil && !equal(s.text, f.Base) && !equal(s.text, f.Result) {
			m.add(f.Path+": the version of "+s.name, f.Path, 0, LostFile, "the result does not have the version of %s", s.name)
		}
	}
}

// expected returns the expected count of a thing from its counts in the base and the sides,
// as in a three-way merge.
func expected(base, landed, change int) int {
	a, b := landed-base, change-base
	switch {
	case a > 0 && b > 0:
		return base + max(a, b)
	case a < 0 && b < 0:
		return base + min(a, b)
	default:
		return max(0, base+a+b)
	}
}

// counted is the count of a thing in each tree.
type counted struct{ base, landed, change, result int }

func (c counted) expected() int { return expected(c.base, c.landed, c.change) }

// whose returns the name of the side from which a thing comes.
func (c counted) whose() string {
	switch landed, change := c.landed > c.base, c.change > c.base; {
	case landed && change:
		return "both sides"
	case landed:
		return "the landed work"
	case change:
		return "the change"
	default:
		return "before both sides"
	}
}

// count4 counts the things in a file.
func count4(f Sides, of func(*string) []string) map[string]counted {
	all := map[string]counted{}
	for i, t := range []*string{f.Base, f.Landed, f.Change, f.Result} {
		for _, k := range of(t) {
			c := all[k]
			*[]*int{&c.base, &c.landed, &c.change, &c.result}[i]++
			all[k] = c
		}
	}
	return all
}

// named compares things with names, at any position.
func (m *merge) named(code, kind string, of func(file string, text *string) []string) {
	missing := map[string]int{}
	var each []map[string]counted
	for _, f := range m.files {
		if opaque(f) {
			each = append(each, nil)
			continue
		}
		all := count4(f, func(t *string) []string { return of(f.Path, t) })
		for name, c := range all { // the order of a sum does not matter
			missing[name] += c.expected() - c.result
		}
		each = append(each, all)
	}
	for i, f := range m.files {
		if m.gone[f.Path] {
			continue
		}
		var names []string
		for name, c := range each[i] {
			if missing[name] > 0 && c.result < c.expected() {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			m.add(fmt.Sprintf("%s: %s %s", f.Path, kind, name), f.Path, 0, code, "the %s %s is missing, which %s has", kind, name, each[i][name].whose())
		}
	}
}

// tests returns the tests that a text declares, without repetition: a repeated name is mostly
// a table.
func (m *merge) tests(file string, text *string) []string {
	if text == nil || !stack.ServesTests(file) && !stack.TestsInside(file) {
		return nil
	}
	names := m.languageOf(file).names(m.stripInert(file, *text))
	slices.Sort(names)
	return slices.Compact(names)
}

// exported returns the exported symbols of a file.
func (m *merge) exported(file string, text *string) []string {
	if text == nil || stack.ServesTests(file) {
		return nil
	}
	s, _ := stack.SyntaxOf(file)
	if s.Exports == "" {
		return nil
	}
	if m.exports[s.Exports] == nil {
		m.exports[s.Exports] = regexp.MustCompile(s.Exports)
	}
	var all []string
	for _, match := range m.exports[s.Exports].FindAllStringSubmatch(*text, -1) {
		for _, name := range slices.Backward(match[1:]) {
			if name != "" {
				all = append(all, name)
				break
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// tampered finds changes of the result to tests and gates that neither side made. Missing
// things were reported before.
func (m *merge) tampered() {
	pair := func(old, now func(Sides) *string) []nexus.Finding {
		var all []File
		for _, f := range m.files {
			if o, n := old(f), now(f); !opaque(f) && !equal(o, n) {
				all = append(all, File{f.Path, o, n})
			}
		}
		return m.findTampering(all)
	}
	base, landed := func(f Sides) *string { return f.Base }, func(f Sides) *string { return f.Landed }
	change, result := func(f Sides) *string { return f.Change }, func(f Sides) *string { return f.Result }
	var told []string
	for _, s := range []struct{ found, did []nexus.Finding }{
		{pair(landed, result), pair(base, change)},
		{pair(change, result), pair(base, landed)},
	} {
		for _, f := range s.found {
			name := f.File + ": " + f.Code
			did := slices.ContainsFunc(s.did, func(d nexus.Finding) bool { return d.File == f.File && d.Code == f.Code })
			if did || f.Code == Deleted || f.Code == Expectation || m.gone[f.File] || slices.Contains(told, name) {
				continue
			}
			told = append(told, name)
			f.Gate, f.Severity, f.Name = MergeGate, nexus.Major, name
			m.found = append(m.found, f)
		}
	}
}
