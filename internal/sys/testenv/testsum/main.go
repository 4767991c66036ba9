// Command testsum reads the output of go test -json, prints it in the form of go test, and ends
// with the slowest tests and all skipped ones with their reasons.
//
//	go test -json ./... | go run ./internal/sys/testenv/testsum
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

func main() {
	start := time.Now()
	s := newSummary(os.Stdout)
	err := s.readEvents(os.Stdin)
	failed := s.printSummary(time.Since(start))
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
	}
	if err != nil || failed {
		os.Exit(1)
	}
}

// testEvent is a line of the output of go test -json; see cmd/test2json.
type testEvent struct {
	Action, Package, Test, Output string
	Elapsed                       float64 // seconds
}

// printedLine is a line of output of a test, or of its package.
type printedLine struct{ test, text string }

// testName identifies a test by its package and its own name.
type testName struct{ pkg, test string }

// testSummary collects events. One goroutine owns it.
type testSummary struct {
	out     io.Writer
	printed map[string][]printedLine       // output by package, until the package ends
	passed  map[testName]bool              // passed tests, which need not be shown, until their package ends
	took    map[testName]float64           // seconds
	parents map[testName]bool              // tests with subtests
	skipped map[string]map[string][]string // tests by the prefix of the reason and its rest
	ok      int
	bad     int
	skips   int
	running map[testName]bool // unfinished tests
	broken  []string          // failures without a failed test: of a package, or an unfinished test
	events  int
	ended   int // packages
}

func newSummary(out io.Writer) *testSummary {
	return &testSummary{
		out: out, printed: map[string][]printedLine{}, skipped: map[string]map[string][]string{},
		passed: map[testName]bool{}, took: map[testName]float64{}, parents: map[testName]bool{}, running: map[testName]bool{},
	}
}

// silence is how long nothing is printed before a line says that tests are still under way: the first
// package is compiled for minutes on a new machine.
const silence = 20 * time.Second

// readEvents handles lines until in ends. While nothing is printed, it says what it waits for.
func (s *testSummary) readEvents(in io.Reader) error {
	lines, failure := make(chan string), make(chan error, 1)
	go func() {
		defer close(lines)
		r := bufio.NewReader(in)
		for {
			text, err := r.ReadString('\n')
			if text != "" {
				lines <- text
			}
			if err != nil {
				failure <- err
				return
			}
		}
	}()
	start, quiet := time.Now(), time.NewTimer(silence)
	for printed := s.ended; ; {
		select {
		case text, ok := <-lines:
			if !ok {
				if err := <-failure; !errors.Is(err, io.EOF) {
					return fmt.Errorf("read the events of go test: %w", err)
				}
				return nil
			}
			s.addLine(text)
			if s.ended > printed {
				printed = s.ended
				quiet.Reset(silence)
			}
		case <-quiet.C:
			s.printProgress(time.Since(start))
			quiet.Reset(silence)
		}
	}
}

// printProgress prints what is under way.
func (s *testSummary) printProgress(after time.Duration) {
	if len(s.printed) == 0 {
		fmt.Fprintf(s.out, "...  compiling, %d packages tested after %s\n", s.ended, after.Round(time.Second))
		return
	}
	packages := slices.Sorted(maps.Keys(s.printed))
	for i, p := range packages {
		packages[i] = shortPackage(p)
	}
	fmt.Fprintf(s.out, "...  %d packages tested after %s; testing %s\n", s.ended, after.Round(time.Second), strings.Join(packages, ", "))
}

// addLine handles one line. A line that is no event is printed unchanged.
func (s *testSummary) addLine(text string) {
	var e testEvent
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &e) != nil || e.Action == "" {
		fmt.Fprint(s.out, text)
		return
	}
	s.events++
	switch {
	case e.Action == "build-output":
		fmt.Fprint(s.out, e.Output)
	case e.Action == "output":
		s.printed[e.Package] = append(s.printed[e.Package], printedLine{e.Test, e.Output})
		if tool, ok := strings.CutPrefix(e.Output, testenv.NoTool); ok {
			s.addSkippedTest(testenv.NoTool, strings.TrimSpace(tool), "a part of "+shortPackage(e.Package)+" "+e.Test)
		}
	case e.Test != "":
		s.addTestEvent(e)
	case e.Action == "pass" || e.Action == "fail" || e.Action == "skip":
		s.endPackage(e)
	}
}

// addTestEvent handles the end of one test.
func (s *testSummary) addTestEvent(e testEvent) {
	n := testName{e.Package, e.Test}
	if e.Action == "run" {
		s.running[n] = true
		if i := strings.LastIndex(e.Test, "/"); i >= 0 {
			s.parents[testName{e.Package, e.Test[:i]}] = true
		}
	}
	switch e.Action {
	case "pass":
		s.ok++
	case "fail":
		s.bad++
	case "skip":
		s.skips++
		s.recordSkipReason(n)
	default:
		return
	}
	delete(s.running, n)
	s.passed[n] = e.Action != "fail"
	s.took[n] = e.Elapsed
}

// recordSkipReason extracts the reason of a skipped test.
func (s *testSummary) recordSkipReason(n testName) {
	said := ""
	for _, l := range s.printed[n.pkg] {
		if l.test != n.test || strings.HasPrefix(strings.TrimSpace(l.text), "---") || strings.HasPrefix(l.text, "===") {
			continue
		}
		for _, start := range skipKinds() {
			if _, rest, ok := strings.Cut(l.text, start.text); ok && start.text != "" {
				s.addSkippedTest(start.text, strings.TrimSpace(rest), shortPackage(n.pkg)+" "+n.test)
				return
			}
		}
		said = strings.TrimSpace(l.text)
	}
	s.addSkippedTest("", cmp.Or(said, "no reason is given"), shortPackage(n.pkg)+" "+n.test)
}

func (s *testSummary) addSkippedTest(start, rest, test string) {
	if s.skipped[start] == nil {
		s.skipped[start] = map[string][]string{}
	}
	if test = strings.TrimSpace(test); !slices.Contains(s.skipped[start][rest], test) {
		s.skipped[start][rest] = append(s.skipped[start][rest], test)
	}
}

// endPackage handles the end of a package, and prints its output in the form of go test.
func (s *testSummary) endPackage(e testEvent) {
	s.ended++
	if e.Action == "fail" {
		s.broken = append(s.broken, s.unfinishedTests(e.Package))
	}
	var tests []string
	seen, heads, rest := map[string]bool{}, map[string]string{}, map[string]string{}
	for _, l := range s.printed[e.Package] {
		if !seen[l.test] {
			seen[l.test] = true
			tests = append(tests, l.test)
		}
		switch {
		case strings.HasPrefix(l.text, "=== "):
		case strings.HasPrefix(strings.TrimSpace(l.text), "--- FAIL: "):
			heads[l.test] += l.text
		default:
			rest[l.test] += l.text
		}
	}
	for _, test := range tests {
		if test != "" && e.Action == "fail" && !s.passed[testName{e.Package, test}] {
			fmt.Fprint(s.out, heads[test], rest[test])
		}
	}
	for text := range strings.Lines(rest[""]) { // go test prints nothing else of passed packages
		if e.Action == "fail" || strings.HasPrefix(text, "ok  \t") || strings.HasPrefix(text, "?   \t") {
			fmt.Fprint(s.out, text)
		}
	}
	delete(s.printed, e.Package)
	maps.DeleteFunc(s.passed, func(n testName, _ bool) bool { return n.pkg == e.Package })
}

// unfinishedTests names a failed package with its unfinished tests.
func (s *testSummary) unfinishedTests(pkg string) string {
	var tests []string
	for n := range s.running {
		if n.pkg == pkg && !s.parents[n] {
			tests = append(tests, n.test)
		}
	}
	if len(tests) == 0 {
		return shortPackage(pkg)
	}
	slices.Sort(tests)
	return shortPackage(pkg) + ", where these did not end: " + strings.Join(tests, ", ")
}

// printSummary prints the output of unfinished packages, the slowest tests, and the skipped ones. It
// reports whether anything failed.
func (s *testSummary) printSummary(took time.Duration) bool {
	for _, pkg := range slices.Sorted(maps.Keys(s.printed)) {
		s.endPackage(testEvent{Action: "fail", Package: pkg})
	}
	s.printSlowest(10)
	for _, start := range skipKinds() {
		s.printSkipped(start)
	}
	if len(s.broken) > 0 {
		fmt.Fprintf(s.out, "\nPackages that failed:\n  %s\n", strings.Join(s.broken, "\n  "))
	}
	if s.events == 0 {
		fmt.Fprintln(s.out, "\ngo test ended before it tested anything; what it printed above says why. go vet ./... names code that does not compile.")
	}
	failed := len(s.broken) > 0 || s.bad > 0 || s.events == 0
	fmt.Fprintf(s.out, "\nDONE %d tests, %d skipped, %d failed in %s\n", s.ok+s.bad+s.skips, s.skips, s.bad, took.Round(time.Second))
	if failed {
		fmt.Fprintln(s.out, "FAIL")
	}
	return failed
}

func (s *testSummary) printSlowest(most int) {
	var leaves []testName
	for n := range s.took {
		if !s.parents[n] {
			leaves = append(leaves, n)
		}
	}
	slices.SortStableFunc(leaves, func(a, b testName) int {
		return cmp.Or(cmp.Compare(s.took[b], s.took[a]), cmp.Compare(a.pkg, b.pkg), cmp.Compare(a.test, b.test))
	})
	leaves = leaves[:min(most, len(leaves))]
	if len(leaves) > 0 {
		fmt.Fprintf(s.out, "\nThe slowest tests:\n")
	}
	for _, n := range leaves {
		fmt.Fprintf(s.out, "%8.2fs  %s %s\n", s.took[n], shortPackage(n.pkg), n.test)
	}
}

// skipReasonKind is the prefix of one kind of reasons, with its heading.
type skipReasonKind struct{ text, heading string }

// skipKinds returns the kinds of reasons in their order. The last one has all other reasons.
func skipKinds() []skipReasonKind {
	return []skipReasonKind{
		{testenv.NoTool, "Skipped, for a missing tool (make deps installs it):"},
		{testenv.OnlyToolchains, "Skipped, since make toolchains runs it:"},
		{testenv.OnlyBrowser, "Skipped, since make browser runs it:"},
		{testenv.OnlyNightly, "Skipped, since make nightly runs it:"},
		{testenv.NoMachine, "Skipped, since this machine cannot:"},
		{testenv.NotUnderRace, "Skipped under the race detector, and run without it:"},
		{"", "Skipped for another reason:"},
	}
}

func (s *testSummary) printSkipped(of skipReasonKind) {
	reasons := s.skipped[of.text]
	if len(reasons) == 0 {
		return
	}
	fmt.Fprintf(s.out, "\n%s\n", of.heading)
	for _, r := range slices.Sorted(maps.Keys(reasons)) {
		tests := reasons[r]
		more := ""
		if n := len(tests) - 6; n > 1 {
			tests, more = tests[:6], fmt.Sprintf(", and %d more", n)
		}
		fmt.Fprintf(s.out, "  %s: %s%s\n", r, strings.Join(tests, ", "), more)
	}
}

// shortPackage returns a package path without the path of the module.
func shortPackage(pkg string) string {
	return strings.TrimPrefix(pkg, "github.com/nexus-ai-builder/nexus/")
}
