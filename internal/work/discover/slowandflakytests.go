package discover

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/toolreport"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// Parameters of a check that repeats a flaky test: how often it may pass by chance, and the
// limit of runs.
const (
	byChance  = 0.01
	mostTimes = 50
)

// findFlakyTests finds tests that failed and passed on the same tree in recorded runs.
func findFlakyTests(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	if s.o.Seen == nil {
		found.Skipped = "no run has recorded anything yet"
		return found, nil
	}
	seen, err := s.o.Seen(ctx)
	if err != nil || len(seen) == 0 {
		found.Skipped = "no run has seen a flaky test"
		return found, err
	}
	gates, err := s.gatesForSteps(ctx, "test", "e2e")
	if err != nil {
		return found, err
	}
	for _, t := range seen {
		at := slices.IndexFunc(gates, func(g gate.QualityGate) bool { return g.Name == t.Gate })
		if at < 0 {
			found.Notes = append(found.Notes, fmt.Sprintf("%s is flaky, but the gate %s no longer exists", t.Test, t.Gate))
			continue
		}
		command := singleTestCommand(gates[at], t.Test)
		if command == "" {
			found.Notes = append(found.Notes, fmt.Sprintf("%s is flaky, but its runner cannot run it alone", t.Test))
			continue
		}
		s.recordGatePrograms(gates[at])
		n := flakyRepeatCount(t.Failed, t.Runs)
		found.Findings = append(found.Findings, discoveredwork.WorkFinding{
			ID: discoveredwork.FindingID("flaky-tests", t.Gate, t.Test), Strategy: "flaky-tests", Kind: discoveredwork.Flaky, Severity: nexus.PriorityMedium,
			Title: "Make the test reliable: " + t.Test, Test: t.Test,
			Why:   fmt.Sprintf("it failed in %d of %d runs on one tree each, in %s", t.Failed, t.Runs, pluralCount(t.Times, "judgement")),
			Count: t.Failed, Minutes: discoveredwork.EstimateMinutes("flaky-tests", 1),
			Check: fmt.Sprintf("i=0; while test $i -lt %d; do %s || exit 1; i=$((i+1)); done", n, command),
		})
	}
	return found, nil
}

// flakyRepeatCount returns how often a test has to run so that one with this failure rate hardly
// passes.
func flakyRepeatCount(failed, runs int) int {
	share := float64(failed) / float64(max(runs, 1))
	if share >= 1 || share <= 0 {
		return mostTimes
	}
	return min(max(int(math.Ceil(math.Log(byChance)/math.Log(1-share))), 3), mostTimes)
}

// slowTest is the duration, in seconds, above which a test counts as slow.
const slowTest = 5

// findSlowTests finds slow tests, if the runner reports the duration of each.
func findSlowTests(ctx context.Context, s *SourceTree) (StrategyResult, error) {
	var found StrategyResult
	gates, err := s.gatesForSteps(ctx, "test")
	if err != nil {
		return found, err
	}
	if why, err := s.redBuildReason(ctx); err != nil || why != "" {
		found.Skipped = why
		return found, err
	}
	known := false
	for _, g := range gates {
		run, times, ok := testTimingGate(g)
		if !ok {
			continue
		}
		known = true
		e, printed, err := s.runGate(ctx, run)
		if err != nil {
			return found, err
		}
		found.Notes = append(found.Notes, inconclusiveReasons(e)...)
		for _, t := range times(printed) {
			check := halfTimeCheckCommand(g, t)
			if t.Seconds >= slowTest && check != "" {
				found.Findings = append(found.Findings, slowTestFinding(g, t, check))
			}
		}
	}
	if !known {
		found.Skipped = "no runner here reports how long single tests take"
	}
	return found, nil
}

// slowTestFinding makes a finding of a slow test: it is done when the test takes half as long.
func slowTestFinding(g gate.QualityGate, t toolreport.TestDuration, check string) discoveredwork.WorkFinding {
	return discoveredwork.WorkFinding{
		ID: discoveredwork.FindingID("slow-tests", g.Name, t.Name), Strategy: "slow-tests", Kind: discoveredwork.Perf, Severity: nexus.PriorityLow, Test: t.Name,
		Title:   "Make the test take half the time: " + t.Name,
		Why:     fmt.Sprintf("it took %.1f seconds; %d are enough for a test", t.Seconds, slowTest),
		Minutes: discoveredwork.EstimateMinutes("slow-tests", 1), Check: check,
	}
}

// parseGoTestDurations returns the durations of tests from go test -json, without subtests, the slowest
// first.
func parseGoTestDurations(printed string) []toolreport.TestDuration {
	var all []toolreport.TestDuration
	for text := range strings.Lines(printed) {
		var e struct {
			Action, Package, Test string
			Elapsed               float64
		}
		if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &e) != nil {
			continue
		}
		if e.Action == "pass" && e.Test != "" && !strings.Contains(e.Test, "/") {
			all = append(all, toolreport.TestDuration{Name: e.Package + "." + e.Test, Seconds: e.Elapsed})
		}
	}
	return toolreport.SortBySlowest(all)
}
