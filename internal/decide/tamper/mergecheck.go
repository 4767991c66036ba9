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

// MergedFileVersions contains a file in the four trees of a merge; nil if it does not exist there.
type MergedFileVersions struct {
	Path   string
	Base   *string // the common base of both sides
	Landed *string // the commits that landed meanwhile
	Change *string // the change that is to land
	Result *string
	Made   *string // git's own merge, if it could merge the file
	Modes  MergedFileModes
}

// MergedFileModes are git's file modes in the trees, which show whether the file is executable; empty
// if it does not exist there.
type MergedFileModes struct{ Base, Landed, Change, Result string }

// CheckMerge compares the result of a merge with both sides. A line, test, exported symbol or
// file is expected if a side added it, or if both kept it; if one side removed it, it is not.
// CheckMerge returns missing and restored things, in the order of the files, and changes of
// the result to tests and gates that neither side made. Each finding has a name by which it
// is explained.
//
// Position, indentation and line breaks do not matter. A line that both sides changed is
// present if a new line of the result has the words of both, in order. A name that the other
// side replaced everywhere may be the new one.
func CheckMerge(files []MergedFileVersions) []nexus.Finding {
	if len(files) == 0 {
		return nil
	}
	return compilePatterns().checkMerge(files)
}

func (h *tamperPatterns) checkMerge(files []MergedFileVersions) []nexus.Finding {
	m := mergeComparison{tamperPatterns: h, files: files, exports: map[string]*regexp.Regexp{}}
	for _, f := range files {
		if isBinary(f) {
			m.checkBinaryFile(f)
		}
		m.checkMode(f)
	}
	m.checkMissingLines()
	m.checkNamedThings(LostTest, "test", m.declaredTests)
	m.checkNamedThings(LostSymbol, "symbol", m.exportedSymbols)
	m.checkRestoredLines()
	m.checkTampering()
	order := func(l nexus.Finding) int {
		return slices.IndexFunc(files, func(f MergedFileVersions) bool { return f.Path == l.File })
	}
	slices.SortStableFunc(m.found, func(a, b nexus.Finding) int { return cmp.Compare(order(a), order(b)) })
	return m.found
}

// mergeComparison is one comparison.
type mergeComparison struct {
	*tamperPatterns

	files   []MergedFileVersions
	exports map[string]*regexp.Regexp // exports of files, by pattern
	gone    map[string]bool           // files that are completely missing
	found   []nexus.Finding
}

func (m *mergeComparison) addFinding(name, file string, line int, code, format string, args ...any) {
	m.found = append(m.found, nexus.Finding{
		Gate: MergeGate, File: file, Line: line, Severity: nexus.Major, Code: code, Message: fmt.Sprintf(format, args...), Name: name,
	})
}

// isBinary reports whether a file does not consist of lines.
func isBinary(f MergedFileVersions) bool {
	for _, t := range []*string{f.Base, f.Landed, f.Change, f.Result} {
		if t != nil && strings.Contains(*t, "\x00") {
			return true
		}
	}
	return false
}

func isSameText(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// checkMode compares whether a file is executable.
func (m *mergeComparison) checkMode(f MergedFileVersions) {
	want := f.Modes.Landed
	if want == f.Modes.Base {
		want = f.Modes.Change
	}
	file := func(mode string) bool { return mode == "100644" || mode == "100755" }
	if now := f.Modes.Result; file(now) && file(want) && now != want && (now == f.Modes.Base || f.Modes.Landed == f.Modes.Change) {
		m.addFinding(f.Path+": mode", f.Path, 0, LostMode, "its mode is %s, and should be %s", now, want)
	}
}

// checkBinaryFile compares a file that does not consist of lines: the result must equal the side that
// changed it, or all if none did.
func (m *mergeComparison) checkBinaryFile(f MergedFileVersions) {
	if f.Base != nil && isSameText(f.Landed, f.Base) && isSameText(f.Change, f.Base) && !isSameText(f.Result, f.Base) {
		m.addFinding(f.Path+": the version of both sides", f.Path, 0, LostFile, "the result does not have the version of both sides, which neither changed")
	}
	for _, s := range []struct {
		name      string
		text, not *string
	}{{"the landed work", f.Landed, f.Change}, {"the change", f.Change, f.Landed}} {
		if s.text != nil && !isSameText(s.text, f.Base) && !isSameText(s.text, f.Result) {
			m.addFinding(f.Path+": the version of "+s.name, f.Path, 0, LostFile, "the result does not have the version of %s", s.name)
		}
	}
}

// expectedCount returns the expected count of a thing from its counts in the base and the sides,
// as in a three-way merge.
func expectedCount(base, landed, change int) int {
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

// countBySide is the count of a thing in each tree.
type countBySide struct{ base, landed, change, result int }

func (c countBySide) expectedCount() int { return expectedCount(c.base, c.landed, c.change) }

// sideName returns the name of the side from which a thing comes.
func (c countBySide) sideName() string {
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

// countByTree counts the things in a file.
func countByTree(f MergedFileVersions, of func(*string) []string) map[string]countBySide {
	all := map[string]countBySide{}
	for i, t := range []*string{f.Base, f.Landed, f.Change, f.Result} {
		for _, k := range of(t) {
			c := all[k]
			*[]*int{&c.base, &c.landed, &c.change, &c.result}[i]++
			all[k] = c
		}
	}
	return all
}

// checkNamedThings compares things with names, at any position.
func (m *mergeComparison) checkNamedThings(code, kind string, of func(file string, text *string) []string) {
	missing := map[string]int{}
	var each []map[string]countBySide
	for _, f := range m.files {
		if isBinary(f) {
			each = append(each, nil)
			continue
		}
		all := countByTree(f, func(t *string) []string { return of(f.Path, t) })
		for name, c := range all { // the order of a sum does not matter
			missing[name] += c.expectedCount() - c.result
		}
		each = append(each, all)
	}
	for i, f := range m.files {
		if m.gone[f.Path] {
			continue
		}
		var names []string
		for name, c := range each[i] {
			if missing[name] > 0 && c.result < c.expectedCount() {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			m.addFinding(fmt.Sprintf("%s: %s %s", f.Path, kind, name), f.Path, 0, code, "the %s %s is missing, which %s has", kind, name, each[i][name].sideName())
		}
	}
}

// declaredTests returns the tests that a text declares, without repetition: a repeated name is mostly
// a table.
func (m *mergeComparison) declaredTests(file string, text *string) []string {
	if text == nil || !stack.ServesTests(file) && !stack.HoldsInlineTests(file) {
		return nil
	}
	names := m.languageOf(file).declaredTests(m.stripInertText(file, *text))
	slices.Sort(names)
	return slices.Compact(names)
}

// exportedSymbols returns the exported symbols of a file.
func (m *mergeComparison) exportedSymbols(file string, text *string) []string {
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

// checkTampering finds changes of the result to tests and gates that neither side made. Missing
// things were reported before.
func (m *mergeComparison) checkTampering() {
	pair := func(old, now func(MergedFileVersions) *string) []nexus.Finding {
		var all []ChangedFileVersions
		for _, f := range m.files {
			if o, n := old(f), now(f); !isBinary(f) && !isSameText(o, n) {
				all = append(all, ChangedFileVersions{f.Path, o, n})
			}
		}
		return m.findTampering(all)
	}
	base, landed := func(f MergedFileVersions) *string { return f.Base }, func(f MergedFileVersions) *string { return f.Landed }
	change, result := func(f MergedFileVersions) *string { return f.Change }, func(f MergedFileVersions) *string { return f.Result }
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
