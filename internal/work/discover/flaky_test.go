package discover

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestFlakyTests finds a test that a run saw fail and pass, by the run's facts. Its check fails while the test does so.
func TestFlakyTests(t *testing.T) {
	judged := func(name string, tests ...nexus.FlakyTestCount) nexus.Event {
		e := nexus.GateEvidence{Gate: name, State: nexus.Pass, Flaky: tests}
		e.Counts.Passed = 3
		return nexus.Event{Run: "r1", At: time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC), Fact: nexus.GateJudged{Evidence: e}}
	}
	odd := nexus.FlakyTestCount{Test: "example.com/m.TestOdd", Failed: 1, Runs: 2}
	events := []nexus.Event{
		judged("test", odd, nexus.FlakyTestCount{Test: "no name", Failed: 1, Runs: 2}), judged("test", odd), judged("gone", nexus.FlakyTestCount{Test: "x.TestX", Failed: 1, Runs: 2}),
	}
	s := &SourceTree{programs: map[string]bool{}, bench: &TreeCheckout{
		Gates: []gate.QualityGate{{Name: "test", Format: outputparser.GoTestJSON, Args: []string{"go", "test", "-json", "-count=1", "./..."}}},
	}}
	s.o.Seen = func(context.Context) ([]flaky.FlakyTest, error) {
		h, err := flaky.ReadTestHistory(func(yield func(nexus.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
		})
		return h.SuggestQuarantine(flaky.DatedQuarantine{}), err
	}
	found, err := findFlakyTests(t.Context(), s)
	if err != nil || len(found.Findings) != 1 || len(found.Notes) != 2 || found.Skipped != "" {
		t.Fatalf("%+v, %v", found, err)
	}
	f := found.Findings[0]
	if f.ID != discoveredwork.FindingID("flaky-tests", "test", odd.Test) || f.Test != odd.Test || f.Title != "Make the test reliable: "+odd.Test {
		t.Errorf("%+v", f)
	}
	if f.Why != "it failed in 2 of 4 runs on one tree each, in 2 judgements" || f.Count != 2 {
		t.Error(f.Why)
	}
	if !slices.ContainsFunc(found.Notes, func(n string) bool { return strings.Contains(n, "the gate gone no longer exists") }) {
		t.Error(found.Notes)
	}
	const odds = `package m

import (
	"os"
	"testing"
)

func TestOdd(t *testing.T) {
	if _, err := os.Stat("third"); err == nil {
		t.Error("odd")
	}
	for _, name := range []string{"first", "second", "third"} {
		if _, err := os.Stat(name); err != nil {
			_ = os.WriteFile(name, nil, 0o600)
			return
		}
	}
}
`
	for source, want := range map[string]bool{odds: true, strings.ReplaceAll(odds, `Stat("third")`, `Stat("never")`): false} {
		if red(t, f.Check+" >/dev/null", map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "m_test.go": source}) != want {
			t.Errorf("it is not %v that it is red: %s", want, f.Check)
		}
	}
}

// TestNoFlakyTests says why it does not look.
func TestNoFlakyTests(t *testing.T) {
	s := &SourceTree{}
	if found, err := findFlakyTests(t.Context(), s); err != nil || found.Skipped != "no run has recorded anything yet" {
		t.Error(found, err)
	}
	s.o.Seen = func(context.Context) ([]flaky.FlakyTest, error) { return nil, nil }
	if found, err := findFlakyTests(t.Context(), s); err != nil || found.Skipped != "no run has seen a flaky test" {
		t.Error(found, err)
	}
}
