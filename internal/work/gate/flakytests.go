package gate

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

// Limits of reruns that distinguish flaky tests from broken ones.
const (
	maxReruns   = 2  // reruns per test, on the tree and on its base
	maxSuspects = 20 // more tests than that are broken, not flaky
)

// suspectedFlakyTest is a red test that may not be the work's fault.
type suspectedFlakyTest struct {
	pkg, name    string
	found        nexus.Finding
	was          *nexus.Finding // its finding on the base, nil if it was not red there
	now, base    failureMessagePieces
	failed, runs int
	flake        *nexus.FlakyTestCount
	lost         bool // a run did not report it
}

// rerunCount returns how often a test is run again.
func (r GateRunner) rerunCount() int { return cmp.Or(r.Reruns, maxReruns) }

func (s *suspectedFlakyTest) isUndecided() bool { return s.flake == nil && !s.lost }

// findFlakyTests runs red tests again, alone, and marks in the evidence those that are flaky:
// those that pass on the same tree, and those that do not always pass on the base. Tests that
// the work itself wrote or changed, and those that a criterion names, are never marked. It
// stays within the gate's time.
func (r GateRunner) findFlakyTests(ctx context.Context, t JudgedTreeDir, g QualityGate, base, raw nexus.GateEvidence) (nexus.GateEvidence, error) {
	if r.Origin != nil && len(g.Lone.Args) > 0 {
		return r.findFlakyTestsAlone(ctx, t, g, base, raw)
	}
	c, ok := gosource.ParseGoTestCommand(g.Args)
	if r.Origin == nil || g.Format != outputparser.GoTestJSON || !ok || c.Picks || c.First {
		return raw, nil
	}
	all := r.flakyTestCandidates(t, base, raw)
	if len(all) == 0 || len(all) > maxSuspects {
		return raw, nil
	}
	left, ok := r.gateTimeLeft(g, raw)
	if !ok {
		return raw, nil
	}
	if err := r.rerunOnTreeAndBase(ctx, t, g, base, all, func(ctx context.Context, r GateRunner, t JudgedTreeDir, saw testRerunObserver) error {
		return r.rerunSuspects(ctx, t, g, all, &left, saw)
	}); err != nil {
		return raw, err
	}
	for _, s := range all {
		switch {
		case s.flake != nil:
			raw.Flaky = append(raw.Flaky, *s.flake)
		case s.was != nil && !s.lost && (len(s.now.difference(s.base)) == 0 || r.gotFurtherThanBase(s)):
			raw.Unsure = append(raw.Unsure, s.found.Test)
		}
	}
	return raw, nil
}

// gateTimeLeft returns the rest of a gate's time limit, 0 for no limit, and whether it is enough
// for another run.
func (r GateRunner) gateTimeLeft(g QualityGate, raw nexus.GateEvidence) (left time.Duration, enough bool) {
	limit := r.gateTimeLimit(g)
	if limit <= 0 {
		return 0, true
	}
	left = limit - raw.Duration
	return left, left >= time.Second
}

// testRerunObserver receives a suspect's result in a run, and the run's report.
type testRerunObserver func(s *suspectedFlakyTest, state string, read outputparser.ParsedToolOutput)

// rerunOnTreeAndBase runs suspects again on the tree, and those still undecided on the base, with the
// function run.
func (r GateRunner) rerunOnTreeAndBase(
	ctx context.Context, t JudgedTreeDir, g QualityGate, base nexus.GateEvidence, all []*suspectedFlakyTest, run func(context.Context, GateRunner, JudgedTreeDir, testRerunObserver) error,
) error {
	err := run(ctx, r, t, r.observeTreeRun(base, g))
	if err != nil || !slices.ContainsFunc(all, (*suspectedFlakyTest).isUndecided) || r.Origin.Use == nil || base.Tree == "" {
		return err
	}
	return r.Origin.Use(ctx, func(b GateRunner, t JudgedTreeDir) error { return run(ctx, b, t, observeBaseRun) })
}

// flakyTestCandidates returns the tests that are red now, for a reason that is not on the base, and that
// the work did not change.
func (r GateRunner) flakyTestCandidates(t JudgedTreeDir, base, raw nexus.GateEvidence) []*suspectedFlakyTest {
	found := map[string]*suspectedFlakyTest{}
	mods := gosource.GoModules(os.DirFS(t.Dir))
	for _, f := range CompareWithBase(base, raw, r.Wanted).Findings {
		pkg, name, ok := gosource.SplitTestName(f.Test)
		dir, here := gosource.PackageDir(pkg, mods)
		if !ok || !here || found[f.Test] != nil || !slices.Contains([]string{"test", "panic", "timeout", "race", "vanished"}, f.Code) ||
			namesTestOrAll(f.Test, r.Wanted) || gosource.IsTestTouched(os.DirFS(r.Origin.Dir), os.DirFS(t.Dir), dir, name, r.Origin.Changed) {
			continue
		}
		s := &suspectedFlakyTest{pkg: pkg, name: name, found: f, base: failureMessagePieces{}, failed: 1, runs: 1}
		s.now, _ = splitFailureMessage(f)
		for _, b := range base.Findings {
			if b.Test == f.Test {
				s.was = &b
				p, _ := splitFailureMessage(b)
				maps.Copy(s.base, p)
			}
		}
		found[f.Test] = s
	}
	return slices.SortedStableFunc(maps.Values(found), func(a, b *suspectedFlakyTest) int { return cmp.Compare(a.found.Test, b.found.Test) })
}

// rerunSuspects runs the undecided suspects, and passes each result to saw.
func (r GateRunner) rerunSuspects(ctx context.Context, t JudgedTreeDir, g QualityGate, all []*suspectedFlakyTest, left *time.Duration, saw testRerunObserver) error {
	c, _ := gosource.ParseGoTestCommand(g.Args)
	limited := *left > 0
	for range r.rerunCount() {
		var packages, tests []string
		whole := false
		for _, s := range all {
			if !s.isUndecided() {
				continue
			}
			top, _, _ := strings.Cut(s.name, "/")
			packages, tests = append(packages, s.pkg), append(tests, top)
			// the other tests of its package did not run either
			whole = whole || s.found.Code != "test" && s.found.Code != "race"
		}
		if len(packages) == 0 || limited && *left < time.Second {
			return nil
		}
		slices.Sort(packages)
		slices.Sort(tests)
		if whole {
			tests = nil
		}
		limit := *left
		alone := g
		alone.Args = c.CommandFor(slices.Compact(packages), slices.Compact(tests))
		res, read, err := r.runCommandAndRead(ctx, t, alone, limit)
		if err != nil {
			return err
		}
		if limited {
			*left -= res.Duration
		}
		for _, s := range all {
			if s.isUndecided() {
				saw(s, suspectState(read, s), read)
			}
		}
	}
	return nil
}

// suspectState returns a suspect's result in a run, or "" if the run is inconclusive.
func suspectState(read outputparser.ParsedToolOutput, s *suspectedFlakyTest) string {
	for _, t := range read.Tests {
		if t.Package == s.pkg && t.Name == s.name {
			return t.State
		}
	}
	return ""
}

// testMessages returns a run's messages about a test.
func testMessages(read outputparser.ParsedToolOutput, test string) failureMessagePieces {
	all := failureMessagePieces{}
	for _, f := range read.Findings {
		if f.Test == test {
			p, _ := splitFailureMessage(f)
			maps.Copy(all, p)
		}
	}
	return all
}

// observeTreeRun returns the observer of runs on the tree itself. A test that passes there is flaky,
// unless its failure was a race, which is real however seldom it shows. The end of a whole
// package is excused only by a run in which nothing else of the package is red.
func (r GateRunner) observeTreeRun(base nexus.GateEvidence, g QualityGate) testRerunObserver {
	return func(s *suspectedFlakyTest, state string, read outputparser.ParsedToolOutput) {
		s.runs++
		switch state {
		case "pass":
			if s.found.Code == "race" {
				return
			}
			if s.found.Code != "test" {
				e := nexus.GateEvidence{Gate: g.Name, Command: g.Command(), State: nexus.Fail, Tree: "t", Findings: read.Findings}
				if slices.ContainsFunc(CompareWithBase(base, e, r.Wanted).Findings, func(f nexus.Finding) bool {
					return f.Test == s.pkg || strings.HasPrefix(f.Test, s.pkg+".") || f.Test == ""
				}) {
					s.lost = true
					return
				}
			}
			s.flake = &nexus.FlakyTestCount{Test: s.found.Test, Failed: s.failed, Runs: s.runs}
		case "fail", "run":
			s.failed++
			s.now = s.now.intersection(testMessages(read, s.found.Test))
		default:
			s.lost = true
		}
	}
}

// observeBaseRun observes a run on the base: a test that was green there and now is not, or the other
// way round, is flaky there.
func observeBaseRun(s *suspectedFlakyTest, state string, read outputparser.ParsedToolOutput) {
	if s.base == nil {
		s.base = failureMessagePieces{}
	}
	switch red := state == "fail" || state == "run"; {
	case state == "":
		s.lost = true
	case red && s.was == nil, state == "pass" && s.was != nil:
		s.flake = &nexus.FlakyTestCount{Test: s.found.Test, Failed: 1, Runs: 2, Base: true}
	case red:
		maps.Copy(s.base, testMessages(read, s.found.Test))
	}
}

// gotFurtherThanBase reports whether a test got further than on the base, where it stopped at its first
// failure: its later result there is unknown.
func (r GateRunner) gotFurtherThanBase(s *suspectedFlakyTest) bool {
	if s.was.File == "" || s.was.File != s.found.File || s.found.Line <= s.was.Line || len(s.now.intersection(s.base)) > 0 {
		return false
	}
	text := gosource.ReadRegularFile(os.DirFS(r.Origin.Dir), s.was.File)
	lines := strings.Split(text, "\n")
	if s.was.Line > len(lines) {
		return false
	}
	return s.was.Code == "panic" || regexp.MustCompile(`\.Fatal|FailNow|\brequire\.`).MatchString(lines[s.was.Line-1])
}

// detectHiddenFailures finds tests that hide failures. If the work changed code that could end
// a test process, select tests or write output in the testing package's name, it adds a test
// that must fail, and checks that the failure is reported.
func (r GateRunner) detectHiddenFailures(ctx context.Context, t JudgedTreeDir, g QualityGate, raw nexus.GateEvidence) ([]nexus.Finding, error) {
	c, ok := gosource.ParseGoTestCommand(g.Args)
	if r.Origin == nil || g.Format != outputparser.GoTestJSON || !ok || c.Picks {
		return nil, nil
	}
	dirs, why := r.suspiciousPackages(t)
	if len(dirs) == 0 {
		return nil, nil
	}
	limit := r.gateTimeLimit(g)
	if limit > 0 {
		limit = max(limit-raw.Duration, time.Second)
	}
	hidden, err := r.runCanary(ctx, t, g, dirs, limit)
	if err != nil || len(hidden) == 0 {
		return nil, err
	}
	if r.Origin.Use != nil { // if the base hides it as well, the work is not the cause
		before := map[string]bool{}
		if err := r.Origin.Use(ctx, func(b GateRunner, t JudgedTreeDir) error {
			was, err := b.runCanary(ctx, t, g, hidden, limit)
			for _, dir := range was {
				before[dir] = true
			}
			return err
		}); err != nil {
			return nil, err
		}
		hidden = slices.DeleteFunc(hidden, func(dir string) bool { return before[dir] })
	}
	var found []nexus.Finding
	for _, dir := range hidden {
		found = append(found, nexus.Finding{
			Gate: g.Name, Code: "forged", File: cmp.Or(why[dir], dir), Severity: nexus.Critical,
			Message: "the tests in " + dir + " hide failures: a test that must fail, added for a check, was not seen to fail",
		})
	}
	return found, nil
}

// suspiciousPackages returns the directories with tests whose results the work may have
// falsified, and the responsible file.
func (r GateRunner) suspiciousPackages(t JudgedTreeDir) (dirs []string, why map[string]string) {
	why = map[string]string{}
	all := ""
	for _, name := range r.Origin.Changed {
		if !strings.HasSuffix(name, ".go") || !filepath.IsLocal(name) {
			continue
		}
		s, ok := gosource.ParseGoFile(os.DirFS(t.Dir), name)
		if !ok || !s.CanFakeResults() {
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		why[dir] = cmp.Or(why[dir], name)
		if !strings.HasSuffix(name, "_test.go") && s.PackageName() != "main" {
			all = name // every package that imports it runs it
		}
	}
	if all != "" {
		for _, dir := range gosource.TestDirs(os.DirFS(t.Dir)) {
			why[dir] = cmp.Or(why[dir], all)
		}
	}
	return slices.Sorted(maps.Keys(why)), why
}
