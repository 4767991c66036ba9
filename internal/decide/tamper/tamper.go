// Package tamper finds changes to the tests and gates that judge a change: tests that are
// deleted, skipped or check less, expectations that follow the code, rewritten snapshots,
// runners that no longer run everything, and ignored failures.
//
// It searches text for patterns of common stacks and proves nothing: a change of a test can
// be right. A verifier or a person must explain its findings.
package tamper

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Gate is the gate name of its findings.
const Gate = "tamper"

// Codes of its findings.
const (
	Deleted     = "tamper.deleted"     // a test is missing
	Skipped     = "tamper.skipped"     // a test is skipped, or excludes others
	Loosened    = "tamper.loosened"    // a test checks less
	Expectation = "tamper.expectation" // a test expects another result
	Snapshot    = "tamper.snapshot"    // an expected result in a file was rewritten
	Swallowed   = "tamper.swallowed"   // a failure is ignored
	Mocked      = "tamper.mocked"      // the tested code is replaced by a mock
	Command     = "tamper.command"     // another command runs the tests, or with another configuration
	Suppressed  = "tamper.suppressed"  // a checker is disabled
)

// ChangedFileVersions is a file of a change, before and after.
type ChangedFileVersions struct {
	Path string
	Old  *string // nil: it did not exist
	New  *string // nil: it was deleted
}

// withoutInertText returns a file without the parts that are not executed.
func (h *tamperPatterns) withoutInertText(f ChangedFileVersions) ChangedFileVersions {
	without := func(text *string) *string {
		if text == nil {
			return nil
		}
		t := h.stripInertText(f.Path, *text)
		return &t
	}
	return ChangedFileVersions{f.Path, without(f.Old), without(f.New)}
}

// AffectsChecks reports whether a file affects the judgement of a change: a test, expected
// results in a file, or a test configuration. All others are irrelevant, except for comments
// that disable a checker.
func AffectsChecks(file string) bool {
	return stack.ServesTests(file) || isSnapshotFile(file) || isCheckConfig(file) || isScriptFile(file)
}

// FindTampering returns a change's effects on its own tests and gates, in the order of its
// files.
func FindTampering(files []ChangedFileVersions) []nexus.Finding {
	if len(files) == 0 {
		return nil
	}
	return compilePatterns().findTampering(files)
}

func (h *tamperPatterns) findTampering(files []ChangedFileVersions) []nexus.Finding {
	l := changeInspection{tamperPatterns: h, subjects: map[string]bool{}, kept: map[string]int{}, moved: map[string]int{}}
	for _, f := range files {
		if !stack.ServesTests(f.Path) && !isCheckConfig(f.Path) && !isScriptFile(f.Path) {
			l.subjects[fileStem(f.Path)] = true
		}
		if f.New != nil && stack.ServesTests(f.Path) {
			code := l.withoutInertText(f)
			for _, name := range l.languageOf(f.Path).declaredTests(*code.New) {
				l.kept[name]++
			}
			for _, a := range diffVersions(code).added {
				l.moved[a.text]++
			}
		}
	}
	for _, f := range files {
		l.inspectFile(f)
	}
	slices.SortStableFunc(l.found, func(a, b nexus.Finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return l.found
}

// changeInspection is one inspection of a change.
type changeInspection struct {
	*tamperPatterns

	subjects map[string]bool // names of the tested files
	kept     map[string]int  // names of existing tests, over all files of the change
	moved    map[string]int  // lines that the change added to any test file
	found    []nexus.Finding
}

func (l *changeInspection) addFinding(f ChangedFileVersions, line int, severity nexus.Severity, code, format string, args ...any) {
	l.found = append(l.found, nexus.Finding{
		Gate: Gate, File: f.Path, Line: line, Severity: severity, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

func (l *changeInspection) inspectFile(f ChangedFileVersions) {
	d := diffVersions(f)
	switch {
	case f.Path == flaky.QuarantineFile:
		l.inspectQuarantine(f)
		return
	case isSnapshotFile(f.Path):
		if f.Old != nil && len(d.removed) > 0 {
			l.addFinding(f, 0, nexus.Minor, Snapshot, "%d lines that tests compare with were changed", len(d.removed))
		}
		return
	case stack.ServesTests(f.Path):
		l.inspectTestFile(f, d)
	case isCheckConfig(f.Path):
		l.inspectConfig(f, d)
	}
	// in this file, only the checks matter
	if (isScriptFile(f.Path) || isCheckConfig(f.Path) || stack.ServesTests(f.Path)) && path.Base(f.Path) != "package.json" {
		for _, a := range d.added {
			if (l.swallows.MatchString(a.text) || isMakefile(f.Path) && l.dash.MatchString(a.text)) && !isComment(a.text) && !isUncheckedMakeRule(f, a) {
				l.addFinding(f, a.number, nexus.Major, Swallowed, "a failure is ignored: %s", shortenText(a.text))
			}
		}
	}
	if f.Old == nil {
		return
	}
	for _, a := range d.added {
		if l.suppresses.MatchString(a.text) {
			l.addFinding(f, a.number, nexus.Minor, Suppressed, "a checker is set to ignore something: %s", shortenText(a.text))
		}
	}
}

// inspectQuarantine inspects the record of quarantined tests.
func (l *changeInspection) inspectQuarantine(f ChangedFileVersions) {
	if f.New == nil {
		return // all failures count then
	}
	var old flaky.QuarantineList
	if f.Old != nil {
		old, _ = flaky.ParseQuarantine([]byte(*f.Old)) // one that cannot be parsed excludes nothing
	}
	now, err := flaky.ParseQuarantine([]byte(*f.New))
	if err != nil {
		l.addFinding(f, 0, nexus.Major, Command, "the quarantine list can no longer be read")
	}
	for _, e := range now {
		if !slices.Contains(old, e) {
			l.addFinding(f, 0, nexus.Major, Command, "a failure of %s is ignored %s", shortenText(e.Test), shortenText(e.NoteText()))
		}
	}
}

// inspectTestFile inspects a test file.
func (l *changeInspection) inspectTestFile(f ChangedFileVersions, d addedAndRemovedLines) {
	lang := l.languageOf(f.Path)
	for _, a := range d.added {
		if m := lang.focusMark(a.text); m != "" {
			l.addFinding(f, a.number, nexus.Major, Skipped, "%s keeps the other tests from running", m)
		}
		if what := l.mockedFile(a.text); what != "" {
			l.addFinding(f, a.number, nexus.Minor, Mocked, "it replaces %s, which this change is about", what)
		}
		if !isComment(a.text) && l.reports.MatchString(a.text) {
			l.addFinding(f, a.number, nexus.Major, Swallowed, "it affects which tests run and how they report: %s", shortenText(a.text))
		}
	}
	if f.Old == nil {
		if f.New != nil && l.subjects[fileStem(f.Path)] && len(lang.declaredTests(*f.New)) == 0 {
			l.addFinding(f, 0, nexus.Minor, Mocked, "it has the name of a file that this change is about, and may replace it")
		}
		return
	}
	if stack.IsGreeting(f.Path, *f.Old) {
		return // a lower number of tests would still be found
	}
	now := ""
	if f.New != nil {
		now = *f.New
	}
	code := l.withoutInertText(f)
	had := lang.declaredTests(*code.Old)
	if gone := l.removedTests(had); len(gone) > 0 {
		l.addFinding(f, 0, nexus.Major, Deleted, "%s: %s", countText(len(gone), "test is gone", "tests are gone"), listSome(gone))
	} else if f.New == nil && len(had) == 0 && stack.IsTest(f.Path) {
		l.addFinding(f, 0, nexus.Major, Deleted, "the test file is gone")
	}
	if f.New == nil {
		return
	}
	l.findSilencedTests(f, d, lang, now)
	l.compareAssertions(f, diffVersions(code), lang)
}

// findSilencedTests finds changes that make existing tests ineffective.
func (l *changeInspection) findSilencedTests(f ChangedFileVersions, d addedAndRemovedLines, lang testLanguagePatterns, now string) {
	for _, a := range d.added {
		if isComment(a.text) {
			continue
		}
		if m := lang.skipMark(a.text); m != "" && lang.countSkips(now) > lang.countSkips(*f.Old) {
			l.addFinding(f, a.number, nexus.Major, Skipped, "an existing test is skipped: %s", shortenText(a.text))
		}
		if l.inverts.MatchString(a.text) && addedMatches(l.inverts, *f.Old, now) > len(lang.declaredTests(now))-len(lang.declaredTests(*f.Old)) {
			l.addFinding(f, a.number, nexus.Major, Loosened, "an existing test is expected to fail: %s", shortenText(a.text))
		}
		if l.forgives.MatchString(a.text) {
			l.addFinding(f, a.number, nexus.Major, Swallowed, "a failure is caught: %s", shortenText(a.text))
		}
		if l.leaves.MatchString(a.text) && l.hasCodeAfter(now, a.number) {
			l.addFinding(f, a.number, nexus.Major, Loosened, "the following code is never reached: %s", shortenText(a.text))
		}
	}
}

// hasCodeAfter reports whether statements follow a line in the same block.
func (h *tamperPatterns) hasCodeAfter(text string, number int) bool {
	lines := strings.Split(text, "\n")
	depth := func(l string) int { return len(l) - len(strings.TrimLeft(l, " \t")) }
	for _, next := range lines[min(number, len(lines)):] {
		switch word := strings.TrimSpace(next); {
		case word == "" || isComment(word):
		default:
			return depth(next) == depth(lines[number-1]) && !h.another.MatchString(word)
		}
	}
	return false
}

// addedMatches returns by how many the matches in a text grew.
func addedMatches(pattern *regexp.Regexp, old, now string) int {
	return len(pattern.FindAllString(now, -1)) - len(pattern.FindAllString(old, -1))
}

// mockedFile returns the file that a line replaces, if it is a file of the change.
func (l *changeInspection) mockedFile(text string) string {
	for i, target := range l.mocks.FindStringSubmatch(text) {
		parts := strings.FieldsFunc(target, func(r rune) bool { return r == '/' || r == '.' || r == ':' })
		if i > 0 && slices.ContainsFunc(parts, func(p string) bool { return l.subjects[strings.ToLower(p)] }) {
			return target
		}
	}
	return ""
}

// compareAssertions compares the assertions of a test file before and after.
func (l *changeInspection) compareAssertions(f ChangedFileVersions, d addedAndRemovedLines, lang testLanguagePatterns) {
	var lost, strong, weak []numberedLine
	for _, r := range d.removed {
		if l.moved[r.text] > 0 { // to another file
			l.moved[r.text]--
			continue
		}
		if lang.assert.MatchString(r.text) {
			lost = append(lost, r)
			if !l.weakens.MatchString(r.text) {
				strong = append(strong, r)
			}
		}
	}
	won, closely := 0, 0
	for _, a := range d.added {
		if lang.assert.MatchString(a.text) {
			won++
			if l.weakens.MatchString(a.text) {
				weak = append(weak, a)
			} else {
				closely++
			}
		}
	}
	switch {
	case len(lost) == 0:
	case won < len(lost):
		l.addFinding(f, 0, nexus.Major, Loosened, "%s, first: %s", countText(len(lost)-won, "assertion is gone", "assertions are gone"), shortenText(lost[0].text))
	case len(weak) > 0 && closely < len(strong):
		l.addFinding(f, weak[0].number, nexus.Major, Loosened, "the assertion is weaker: %s instead of %s", shortenText(weak[0].text), shortenText(strong[0].text))
	default:
		l.addFinding(f, 0, nexus.Minor, Expectation, "%s, first: %s", countText(len(lost), "assertion changed", "assertions changed"), shortenText(lost[0].text))
	}
}

// removedTests returns the tests that are in no file of the change any more.
func (l *changeInspection) removedTests(names []string) []string {
	var gone []string
	had := map[string]int{}
	for _, n := range names {
		had[n]++
	}
	for _, n := range names {
		if l.kept[n] < had[n] && !slices.Contains(gone, n) {
			gone = append(gone, n)
		}
	}
	return gone
}

// inspectConfig inspects a file that configures tests.
func (l *changeInspection) inspectConfig(f ChangedFileVersions, d addedAndRemovedLines) {
	about := l.configPatternsOf(f.Path)
	for _, a := range d.added {
		if about.loads != nil && about.loads.MatchString(a.text) && !isComment(a.text) {
			l.addFinding(f, a.number, nexus.Minor, Command, "something is loaded or replaced before the checks run: %s", shortenText(a.text))
		}
	}
	if base := path.Base(f.Path); f.Old == nil && (base == "GNUmakefile" || base == "makefile" || base == ".rspec-local" || isTestRunnerFile(f.Path)) {
		l.addFinding(f, 0, nexus.Minor, Command, "it takes precedence over what runs the checks now")
	}
	switch {
	case path.Base(f.Path) == "package.json":
		if f.Old != nil && f.New != nil {
			for _, what := range l.changedCommands(*f.Old, *f.New) {
				l.addFinding(f, 0, nexus.Major, Command, "%s", what)
			}
		} else if f.New == nil {
			l.addFinding(f, 0, nexus.Major, Command, "it configures the checks, and was deleted")
		}
	case f.New == nil && about.whole:
		l.addFinding(f, 0, nexus.Major, Command, "it configures the checks, and was deleted")
	case f.New == nil:
	case f.Old != nil && l.addFirstMatch(f, d.removed, about.runs, "it changes how checks run; no longer: %s"):
	case f.Old != nil:
		l.addFirstMatch(f, d.added, about.narrows, "it runs fewer checks: %s")
	default:
		l.addFirstMatch(f, d.added, l.alone, "it runs fewer checks: %s")
	}
}

// addFirstMatch adds a finding for the first line that matches a pattern.
func (l *changeInspection) addFirstMatch(f ChangedFileVersions, lines []numberedLine, pattern *regexp.Regexp, message string) bool {
	i := slices.IndexFunc(lines, func(a numberedLine) bool { return pattern.MatchString(a.text) && !isComment(a.text) })
	if i < 0 {
		return false
	}
	number := lines[i].number
	if strings.Contains(message, "no longer") {
		number = 0 // the line was deleted
	}
	l.addFinding(f, number, nexus.Major, Command, message, shortenText(lines[i].text))
	return true
}

func isMakefile(file string) bool {
	return strings.HasSuffix(strings.ToLower(path.Base(file)), "makefile")
}

// isUncheckedMakeRule reports whether a line of a Makefile belongs to a rule without checks.
func isUncheckedMakeRule(f ChangedFileVersions, a numberedLine) bool {
	if !isMakefile(f.Path) {
		return false
	}
	lines := strings.Split(*f.New, "\n")
	for i := min(a.number, len(lines)) - 1; i >= 0; i-- {
		if l := lines[i]; l != "" && l[0] != '\t' && l[0] != ' ' {
			target, _, _ := strings.Cut(l, ":")
			return slices.Contains([]string{"clean", "distclean", "install", "uninstall", "run", "dev", "serve", "deploy", "help", "doc", "docs"}, strings.TrimSpace(target))
		}
	}
	return false
}

// numberedLine is a line of a file, from 1.
type numberedLine struct {
	number int
	text   string
}

// addedAndRemovedLines lists the lines that a change removed from and added to a file, without moved lines.
type addedAndRemovedLines struct{ removed, added []numberedLine }

func diffVersions(f ChangedFileVersions) addedAndRemovedLines {
	var d addedAndRemovedLines
	var old, now []string
	if f.Old != nil {
		old = strings.Split(*f.Old, "\n")
	}
	if f.New != nil {
		now = strings.Split(*f.New, "\n")
	}
	d.removed, d.added = linesMissingIn(old, now), linesMissingIn(now, old)
	return d
}

// linesMissingIn returns the lines that are in a more often than in b.
func linesMissingIn(a, b []string) []numberedLine {
	have := map[string]int{}
	for _, t := range b {
		have[strings.TrimSpace(t)]++
	}
	var rest []numberedLine
	for i, t := range a {
		t = strings.TrimSpace(t)
		if have[t] > 0 {
			have[t]--
			continue
		}
		if t != "" {
			rest = append(rest, numberedLine{i + 1, t})
		}
	}
	return rest
}

// fileStem returns the name of a file without its directory and extensions.
func fileStem(file string) string {
	base, _, _ := strings.Cut(path.Base(file), ".")
	return strings.ToLower(base)
}

func isComment(text string) bool {
	if strings.HasPrefix(text, "#[") || strings.HasPrefix(text, "//go:") {
		return false
	}
	return slices.ContainsFunc([]string{"#", "//", "*", "/*", "-- "}, func(mark string) bool { return strings.HasPrefix(text, mark) })
}

const shown = 120 // bytes of a quoted line

func shortenText(text string) string {
	if len(text) > shown {
		text = strings.ToValidUTF8(text[:shown], "") + "..."
	}
	return text
}

func listSome(names []string) string {
	const most = 5
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

func countText(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
