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
	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/stack/read"
)

// Limits of reruns that distinguish flaky tests from broken ones.
const (
	maxReruns   = 2  // reruns per test, on the tree and on its base
	maxSuspects = 20 // more tests than that are broken, not flaky
)

// suspect is a red test that may not be the work's fault.
type suspect struct {
	pkg, name    string
	found        nexus.Finding
	was          *nexus.Finding // its finding on the base, nil if it was not red there
	now, base    pieces
	failed, runs int
	flake        *nexus.Flake
	lost         bool // a run did not report it
}

// reruns returns how often a test is run again.
func (r Runner) reruns() int { return cmp.Or(r.Reruns, maxReruns) }

func (s *suspect) open() bool { return s.flake == nil && !s.lost }

// findFlakyTests runs red tests again, alone, and marks in the evidence those that are flaky:
// those that pass on the same tree, and those that do not always pass on the base. Tests that
// the work itself wrote or changed, and those that a criterion names, are never marked. It
// stays within the gate's time.
func (r Runner) findFlakyTests(ctx context.Context, t Tree, g Gate, base, raw nexus.Evidence) (nexus.Evidence, error) {
	if r.Origin != nil && len(g.Lone.Args) > 0 {
		return r.doubtAlone(ctx, t, g, base, raw)
	}
	c, ok := gosrc.ParseTest(g.Args)
	if r.Origin == nil || g.Format != read.GoTestJSON || !ok || c.Picks || c.First {
		return raw, nil
	}
	all := r.suspects(t, base, raw)
	if len(all) == 0 || len(all) > maxSuspects {
		return raw, nil
	}
	left, ok := r.timeLeft(g, raw)
	if !ok {
		return raw, nil
	}
	if err := r.rerun(ctx, t, g, base, all, func(ctx context.Context, r Runner, t Tree, saw rerunObserver) error {
		return r.rerunSuspects(ctx, t, g, all, &left, saw)
	}); err != nil {
		return raw, err
	}
	for _, s := range all {
		switch {
		case s.flake != nil:
			raw.Flaky = append(raw.Flaky, *s.flake)
		case s.was != nil && !s.lost && (len(s.now.minus(s.base)) == 0 || r.further(s)):
			raw.Unsure = append(raw.Unsure, s.found.Test)
		}
	}
	return raw, nil
}

// timeLeft returns the rest of a gate's time limit, 0 for no limit, and whether it is enough
// for another run.
func (r Runner) timeLeft(g Gate, raw nexus.Evidence) (left time.Duration, enough bool) {
	limit := r.limit(g)
	if limit <= 0 {
		return 0, true
	}
	left = limit - raw.Duration
	return left, left >= time.Second
}

// rerunObserver receives a suspect's result in a run, and the run's report.
type rerunObserver func(s *suspect, state string, read read.Report)

// rerun runs suspects again on the tree, and those still undecided on the base, with the
// function run.
func (r Runner) rerun(
	ctx context.Context, t Tree, g Gate, base nexus.Evidence, all []*suspect, run func(context.Context, Runner, Tree, rerunObserver) error,
) error {
	err := run(ctx, r, t, r.sawNow(base, g))
	if err != nil || !slices.ContainsFunc(all, (*suspect).open) || r.Origin.Use == nil || base.Tree == "" {
		return err
	}
	return r.Origin.Use(ctx, func(b Runner, t Tree) error { return run(ctx, b, t, sawBase) })
}

// suspects returns the tests that are red now, for a reason that is not on the base, and that
// the work did not change.
func (r Runner) suspects(t Tree, base, raw nexus.Evidence) []*suspect {
	found := map[string]*suspect{}
	mods := gosrc.Modules(os.DirFS(t.Dir))
	for _, f := range AgainstBase(base, raw, r.Wanted).Findings {
		pkg, name, ok := gosrc.TestName(f.Test)
		dir, here := gosrc.PackageDir(pkg, mods)
		if !ok || !here || found[f.Test] != nil || !slices.Contains([]string{"test", "panic", "timeout", "race", "vanished"}, f.Code) ||
			wantsTest(f.Test, r.Wanted) || gosrc.IsTestTouched(os.DirFS(r.Origin.Dir), os.DirFS(t.Dir), dir, name, r.Origin.Changed) {
			continue
		}
		s := &suspect{pkg: pkg, name: name, found: f, base: pieces{}, failed: 1, runs: 1}
		s.now, _ = piecesOf(f)
		for _, b := range base.Findings {
			if b.Test == f.Test {
				s.was = &b
				p, _ := piecesOf(b)
				maps.Copy(s.base, p)
			}
		}
		found[f.Test] = s
	}
	return slices.SortedStableFunc(maps.Values(found), func(a, b *suspect) int { return cmp.Compare(a.found.Test, b.found.Test) })
}

// rerunSuspects runs the undecided suspects, and passes each result to saw.
func (r Runner) rerunSuspects(ctx context.Context, t Tree, g Gate, all []*suspect, left *time.Duration, saw rerunObserver) error {
	c, _ := gosrc.ParseTest(g.Args)
	limited := *left > 0
	for range r.reruns() {
		var packages, tests []string
		whole := false
		for _, s := range all {
			if !s.open() {
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
		alone.Args = c.Only(slices.Compact(packages), slices.Compact(tests))
		res, read, err := r.run(ctx, t, alone, limit)
		if err != nil {
			return err
		}
		if limited {
			*left -= res.Duration
		}
		for _, s := range all {
			if s.open() {
				saw(s, state(read, s), read)
			}
		}
	}
	return nil
}

// state returns a suspect's result in a run, or "" if the run is inconclusive.
func state(read read.Report, s *suspect) string {
	for _, t := range read.Tests {
		if t.Package == s.pkg && t.Name == s.name {
			return t.State
		}
	}
	return ""
}

// testMessages returns a run's messages about a test.
func testMessages(read read.Report, test string) pieces {
	all := pieces{}
	for _, f := range read.Findings {
		if f.Test == test {
			p, _ := piecesOf(f)
			maps.Copy(all, p)
		}
	}
	return all
}

// sawNow returns the observer of runs on the tree itself. A test that passes there is flaky,
// unless its failure was a race, which is real however seldom it shows. The end of a whole
// package is excused only by a run in which nothing else of the package is red.
func (r Runner) sawNow(base nexus.Evidence, g Gate) rerunObserver {
	return func(s *suspect, state string, read read.Report) {
		s.runs++
		switch state {
		case "pass":
			if s.found.Code == "race" {
				return
			}
			if s.found.Code != "test" {
				e := nexus.Evidence{Gate: g.Name, Command: g.Command(), State: nexus.Fail, Tree: "t", Findings: read.Findings}
				if slices.ContainsFunc(AgainstBase(base, e, r.Wanted).Findings, func(f nexus.Finding) bool {
					return f.Test == s.pkg || strings.HasPrefix(f.Test, s.pkg+".") || f.Test == ""
				}) {
					s.lost = true
					return
				}
			}
			s.flake = &nexus.Flake{Test: s.found.Test, Failed: s.failed, Runs: s.runs}
		case "fail", "run":
			s.failed++
			s.now = s.now.both(testMessages(read, s.found.Test))
		default:
			s.lost = true
		}
	}
}

// sawBase observes a run on the base: a test that was green there and now is not, or the other
// way round, is flaky there.
func sawBase(s *suspect, state string, read read.Report) {
	if s.base == nil {
		s.base = pieces{}
	}
	switch red := state == "fail" || state == "run"; {
	case state == "":
		s.lost = true
	case red && s.was == nil, state == "pass" && s.was != nil:
		s.flake = &nexus.Flake{Test: s.found.Test, Failed: 1, Runs: 2, Base: true}
	case red:
		maps.Copy(s.base, testMessages(read, s.found.Test))
	}
}

// further reports whether a test got further than on the base, where it stopped at its first
// failure: its later result there is unknown.
func (r Runner) further(s *suspect) bool {
	if s.was.File == "" || s.was.File != s.found.File || s.found.Line <= s.was.Line || len(s.now.both(s.base)) > 0 {
		return false
	}
	text := gosrc.ReadSmall(os.DirFS(r.Origin.Dir), s.was.File)
	lines := strings.Split(text, "\n")
	if s.was.Line > len(lines) {
		return false
	}
	return s.was.Code == "panic" || regexp.MustCompile(`\.Fatal|FailNow|\brequire\.`).MatchString(lines[s.was.Line-1])
}

// detectHiddenFailures finds tests that hide failures. If the work changed code that could end
// a test process, select tests or write output in the testing package's name, it adds a test
// that must fail, and checks that the failure is reported.
func (r Runner) detectHiddenFailures(ctx context.Context, t Tree, g Gate, raw nexus.Evidence) ([]nexus.Finding, error) {
	c, ok := gosrc.ParseTest(g.Args)
	if r.Origin == nil || g.Format != read.GoTestJSON || !ok || c.Picks {
		return nil, nil
	}
	dirs, why := r.suspiciousPackages(t)
	if len(dirs) == 0 {
		return nil, nil
	}
	limit := r.limit(g)
	if limit > 0 {
		limit = max(limit-raw.Duration, time.Second)
	}
	hidden, err := r.runCanary(ctx, t, g, dirs, limit)
	if err != nil || len(hidden) == 0 {
		return nil, err
	}
	if r.Origin.Use != nil { // if the base hides it as well, the work is not the cause
		before := map[string]bool{}
		if err := r.Origin.Use(ctx, func(b Runner, t Tree) error {
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
func (r Runner) suspiciousPackages(t Tree) (dirs []string, why map[string]string) {
	why = map[string]string{}
	all := ""
	for _, name := range r.Origin.Changed {
		if !strings.HasSuffix(name, ".go") || !filepath.IsLocal(name) {
			continue
		}
		s, ok := gosrc.Read(os.DirFS(t.Dir), name)
		if !ok || !s.CanFakeResults() {
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(name))
		why[dir] = cmp.Or(why[dir], name)
		if !strings.HasSuffix(name, "_test.go") && s.Package() != "main" {
			all = name // every package that imports it runs it
		}
	}
	if all != "" {
		for _, dir := range gosrc.TestDirs(os.DirFS(t.Dir)) {
			why[dir] = cmp.Or(why[dir], all)
		}
	}
	return slices.Sorted(maps.Keys(why)), why
}
