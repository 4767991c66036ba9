package gate

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

// mostAlone limits how many tests are run one by one; if more are red, they count as broken.
const mostAlone = 10

// findFlakyTestsAlone is [GateRunner.findFlakyTests] for runners that can run one test. Each suspect runs
// by itself, since a failing test must not hide another.
func (r GateRunner) findFlakyTestsAlone(ctx context.Context, t JudgedTreeDir, g QualityGate, base, raw nexus.GateEvidence) (nexus.GateEvidence, error) {
	all := r.singleTestSuspects(t, g, base, raw)
	if len(all) == 0 || len(all) > mostAlone {
		return raw, nil
	}
	left, ok := r.gateTimeLeft(g, raw)
	if !ok {
		return raw, nil
	}
	err := r.rerunOnTreeAndBase(ctx, t, g, base, all, func(ctx context.Context, r GateRunner, t JudgedTreeDir, saw testRerunObserver) error {
		return r.rerunSuspectsOneByOne(ctx, t, g, all, &left, saw)
	})
	if err == nil {
		err = r.rerunWholeGate(ctx, t, g, raw, all, &left)
	}
	if err != nil {
		return raw, err
	}
	for _, s := range all {
		if s.flake != nil {
			raw.Flaky = append(raw.Flaky, *s.flake)
		}
	}
	return raw, nil
}

// singleTestSuspects returns the tests that are red now and were not on the base, whose runner
// can run them alone, and that the work did not change.
func (r GateRunner) singleTestSuspects(t JudgedTreeDir, g QualityGate, base, raw nexus.GateEvidence) []*suspectedFlakyTest {
	found := map[string]bool{}
	var all []*suspectedFlakyTest
	for _, f := range CompareWithBase(base, raw, r.Wanted).Findings {
		if _, ok := SingleTestArgs(g.Lone, g.Dir, f.Test); !ok || f.Code != "test" || found[f.Test] || IsTestNamed(f.Test, r.Wanted) ||
			MayAffectTest(g.Lone, r.Origin.Dir, t.Dir, r.Origin.Changed, f.Test, f.File) ||
			slices.ContainsFunc(base.Findings, func(b nexus.Finding) bool { return b.Test == f.Test }) {
			continue
		}
		found[f.Test] = true
		all = append(all, &suspectedFlakyTest{name: f.Test, found: f, base: failureMessagePieces{}, now: failureMessagePieces{}, failed: 1, runs: 1})
	}
	slices.SortStableFunc(all, func(a, b *suspectedFlakyTest) int { return cmp.Compare(a.found.Test, b.found.Test) })
	return all
}

// rerunSuspectsOneByOne runs the undecided suspects, each alone.
func (r GateRunner) rerunSuspectsOneByOne(ctx context.Context, t JudgedTreeDir, g QualityGate, all []*suspectedFlakyTest, left *time.Duration, saw testRerunObserver) error {
	limited := *left > 0
	alone := g
	if !g.Lone.Reports {
		alone.Reports = nil
	}
	alone.Format = cmp.Or(g.Lone.Format, g.Format)
	for range r.rerunCount() {
		for _, s := range all {
			if !s.isUndecided() {
				continue
			}
			if limited && *left < time.Second {
				return nil
			}
			alone.Args, _ = SingleTestArgs(g.Lone, g.Dir, s.name)
			res, read, err := r.runCommandAndRead(ctx, t, alone, *left)
			if err != nil {
				return err
			}
			if limited {
				*left -= res.Duration
			}
			end := singleTestState(read, s.name)
			if res.TimedOut {
				end = "run"
			}
			saw(s, end, read)
		}
	}
	return nil
}

// rerunWholeGate runs the whole gate again for tests that pass alone: a test that is red each
// time among the others is broken by their side effects, not flaky.
func (r GateRunner) rerunWholeGate(ctx context.Context, t JudgedTreeDir, g QualityGate, raw nexus.GateEvidence, all []*suspectedFlakyTest, left *time.Duration) error {
	limited := *left > 0
	var open []*suspectedFlakyTest
	for _, s := range all {
		if s.flake != nil && !s.flake.Base {
			open = append(open, s)
		}
	}
	for range r.rerunCount() {
		if len(open) == 0 || limited && *left < time.Second {
			break
		}
		res, read, err := r.runCommandAndRead(ctx, t, g, *left)
		if err != nil {
			return err
		}
		if limited {
			*left -= res.Duration
		}
		whole := (read.State == nexus.Pass || read.State == nexus.Fail) && countTests(read.Counts) >= countTests(raw.Counts)
		open = slices.DeleteFunc(open, func(s *suspectedFlakyTest) bool {
			s.flake.Runs++
			green := whole && !res.TimedOut && !slices.ContainsFunc(read.Findings, func(f nexus.Finding) bool { return f.Test == s.name })
			if !green {
				s.flake.Failed++
			}
			return green
		})
	}
	for _, s := range open {
		s.flake = nil
	}
	return nil
}

func countTests(c nexus.TestCounts) int { return c.Passed + c.Failed + c.Skipped }

// singleTestState returns the result of the only test of a run, or "" if it is not certain: it passed
// only if something ran, and nothing else is red.
func singleTestState(read outputparser.ParsedToolOutput, test string) string {
	switch {
	case read.State == nexus.Fail && slices.ContainsFunc(read.Findings, func(f nexus.Finding) bool { return f.Test == test }):
		return "fail"
	case read.State != nexus.Pass || read.Counts.Passed == 0 || read.Counts.Failed > 0:
		return ""
	case len(read.Tests) == 0: // the output does not name passed tests
		return "pass"
	}
	for _, t := range read.Tests {
		if t.State == "pass" && (t.Name == test || strings.TrimPrefix(t.String(), ".") == test) {
			return "pass"
		}
	}
	return ""
}
