package flaky_test

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func at(day int) time.Time { return time.Date(2026, 11, day, 12, 0, 0, 0, time.UTC) }

func judged(run string, day int, e nexus.GateEvidence) nexus.Event {
	if e.Gate == "" {
		e.Gate = "test"
	}
	e.State, e.Counts.Passed = nexus.Pass, 3
	return nexus.Event{Run: nexus.RunID(run), At: at(day), Fact: nexus.GateJudged{Evidence: e}}
}

func odd(tests ...string) nexus.GateEvidence {
	var e nexus.GateEvidence
	for _, name := range tests {
		e.Flaky = append(e.Flaky, nexus.FlakyTestCount{Test: name, Failed: 1, Runs: 3})
	}
	return e
}

func all(events ...nexus.Event) iter.Seq2[nexus.Event, error] {
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestSuggest(t *testing.T) {
	cached := judged("r2", 4, odd("a"))
	cached.Fact = nexus.GateJudged{Cached: true, Evidence: odd("a")}
	kept := nexus.GateEvidence{Flaky: []nexus.FlakyTestCount{{Test: "k", Failed: 1, Runs: 1, Quarantine: "until"}}}
	empty := nexus.Event{Run: "r2", At: at(4), Fact: nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: "test"}}}
	h, err := flaky.ReadTestHistory(all(
		judged("r1", 1, nexus.GateEvidence{}), judged("r1", 2, odd("a", "b")), judged("r2", 3, odd("a")), cached, empty, judged("r2", 5, nexus.GateEvidence{Gate: "lint"}),
		judged("r2", 6, nexus.GateEvidence{}), judged("r3", 7, odd("c")), judged("r3", 7, kept),
	))
	if err != nil {
		t.Fatal(err)
	}
	r := flaky.DatedQuarantine{Day: flaky.DayOf(at(10)), List: flaky.QuarantineList{{Test: "c", Reason: "x", Since: flaky.DayOf(at(9)), Until: flaky.DayOf(at(20))}}}
	want := []flaky.FlakyTest{
		{Test: "a", Gate: "test", Times: 2, Judged: 5, Failed: 2, Runs: 6, In: []nexus.RunID{"r1", "r2"}, First: at(2), Last: at(3)},
		{Test: "b", Gate: "test", Times: 1, Judged: 5, Failed: 1, Runs: 3, In: []nexus.RunID{"r1"}, First: at(2), Last: at(2)},
	}
	if diff := cmp.Diff(want, h.SuggestQuarantine(r)); diff != "" {
		t.Error(diff)
	}
	r.Day = flaky.DayOf(at(21)) // it is over: the test is suggested again
	if got := h.SuggestQuarantine(r); len(got) != 3 {
		t.Errorf("%+v", got)
	}
	if got := (flaky.TestResultHistory{}).SuggestQuarantine(r); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestSuggestOrder names what was seen most often first, then what was seen
// last, then by name. One in quarantine that failed and passed was seen, too.
func TestSuggestOrder(t *testing.T) {
	kept := nexus.GateEvidence{Flaky: []nexus.FlakyTestCount{{Test: "k", Failed: 1, Runs: 2, Quarantine: "until"}}}
	h, err := flaky.ReadTestHistory(all(judged("r1", 1, odd("a", "z", "b")), judged("r1", 2, odd("z")), judged("r1", 3, odd("c")), judged("r1", 3, kept)))
	if err != nil {
		t.Fatal(err)
	}
	var names string
	for _, s := range h.SuggestQuarantine(flaky.DatedQuarantine{}) {
		names += s.Test
	}
	if names != "zckab" {
		t.Error(names)
	}
	sub := odd("m.TestA/sub")
	sub.Gate = "test-web"
	if h, err = flaky.ReadTestHistory(all(judged("r1", 5, sub), judged("r1", 5, nexus.GateEvidence{Gate: "lint", Findings: []nexus.Finding{{Test: "m.TestA"}, {Message: "x"}}}))); err != nil {
		t.Fatal(err)
	}
	if judged, red := h.CountJudgedSince(flaky.QuarantineEntry{Test: "m.TestA", Since: flaky.DayOf(at(5))}); judged != 1 || red != 1 {
		t.Error(judged, red)
	}
}

func TestSince(t *testing.T) {
	red := nexus.GateEvidence{Findings: []nexus.Finding{{Test: "m.TestA/sub"}, {Test: "m.TestA/other"}}}
	h, err := flaky.ReadTestHistory(all(judged("r1", 1, red), judged("r1", 5, red), judged("r1", 6, odd("m.TestA")), judged("r2", 7, nexus.GateEvidence{}), judged("r2", 8, nexus.GateEvidence{Gate: "test-web"})))
	if err != nil {
		t.Fatal(err)
	}
	e := flaky.QuarantineEntry{Test: "m.TestA", Since: flaky.DayOf(at(5))}
	if judged, red := h.CountJudgedSince(e); judged != 4 || red != 2 {
		t.Error(judged, red)
	}
	e.Gate = "test"
	if judged, red := h.CountJudgedSince(e); judged != 3 || red != 2 {
		t.Error(judged, red)
	}
	e.Test = "m.TestAB"
	if judged, red := h.CountJudgedSince(e); judged != 3 || red != 0 {
		t.Error(judged, red)
	}
}

func TestOfEnds(t *testing.T) {
	broken := errors.New("broken")
	if _, err := flaky.ReadTestHistory(func(yield func(nexus.Event, error) bool) { yield(nexus.Event{}, broken) }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
