package accept_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestEarlierChecks(t *testing.T) {
	s := state.NewState("r")
	s.Tip = "c1"
	s.Landings = []*state.CompletedLanding{{}}
	s.Tasks = []*state.TaskState{
		{Task: nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "tests pass", Check: "test"}, {Text: "it greets", Check: "sh greet.sh"}, {Text: "it is nice"}, {Text: "it is red", Check: "sh red.sh"}}}, Status: nexus.Landed},
		{Task: nexus.Task{ID: "T2", Criteria: []nexus.Criterion{{Text: "it did not land", Check: "sh greet.sh"}}}, Status: nexus.Parked},
	}
	s.Result = &nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Tree: "t", Evidence: []nexus.GateEvidence{
		{Gate: "test", State: nexus.Pass, Tree: "t"}, {Gate: "accept: sh greet.sh", State: nexus.Pass, Tree: "t"}, {Gate: "accept: sh red.sh", State: nexus.Fail, Tree: "t"},
	}}}
	got := accept.EarlierChecks(s)
	if len(got) != 1 || got[0].ID != "T1/AC-2" || got[0].Commit != "c1" || got[0].Tree != "t" || got[0].GateName() != "earlier: r T1/AC-2" {
		t.Errorf("%+v", got)
	}
	s.Result = nil
	if got := accept.EarlierChecks(s); got != nil {
		t.Errorf("nobody judged it: %+v", got)
	}
}

// TestOrder begins with the newest, draws the same from the same seed, and
// names no command twice and leaves none out.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []accept.EarlierRunCheck
		commands := map[string]bool{}
		for i, n := range rapid.SliceOfN(rapid.IntRange(0, 9), 1, 20).Draw(t, "checks") {
			check := fmt.Sprintf("sh %d.sh", n)
			commands[check] = true
			all = append(all, accept.EarlierRunCheck{Run: nexus.RunID(fmt.Sprint("r", i)), ID: "T1/AC-1", Check: check, At: time.Unix(int64(i), 0)})
		}
		order := accept.OrderEarlierChecks(all, "seed")
		seen := map[string]bool{}
		for _, e := range order {
			if seen[e.Check] {
				t.Fatalf("%s twice", e.Check)
			}
			seen[e.Check] = true
		}
		if len(seen) != len(commands) || order[0].Check != all[len(all)-1].Check {
			t.Fatalf("%+v", order)
		}
		shuffled := slices.Clone(all)
		slices.Reverse(shuffled)
		if !slices.Equal(accept.OrderEarlierChecks(shuffled, "seed"), order) {
			t.Fatal("the order depends on that of the journal")
		}
	})
	var all []accept.EarlierRunCheck
	for i := range 30 {
		all = append(all, accept.EarlierRunCheck{Run: nexus.RunID(fmt.Sprintf("r%02d", i)), ID: "T1/AC-1", Check: fmt.Sprint("sh ", i), At: time.Unix(int64(i), 0)})
	}
	if a, b := accept.OrderEarlierChecks(all, "a"), accept.OrderEarlierChecks(all, "b"); a[1] == b[1] || a[0] != b[0] {
		t.Errorf("%+v, %+v", a[:2], b[:2])
	}
}

func TestRows(t *testing.T) {
	judged := func(gate string, state nexus.GateState, base bool) nexus.Event {
		return nexus.Event{Fact: nexus.GateJudged{Base: base, Evidence: nexus.GateEvidence{Gate: gate, State: state, Tree: "t"}}}
	}
	rows := accept.EarlierResults([]nexus.Event{
		judged("earlier: r1 T1/AC-1", nexus.Timeout, true), judged("test", nexus.Fail, true), judged("earlier: r1 T1/AC-2", nexus.Pass, true),
		judged("earlier: r1 T1/AC-3", nexus.Fail, false), judged("earlier: r1 T1/AC-1", nexus.Fail, true),
	})
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Run, " ", r.Criterion, " ", r.State, " ", r.IsRed()))
	}
	if want := "r1 T1/AC-2 pass false, r1 T1/AC-1 fail true"; strings.Join(got, ", ") != want {
		t.Error(got)
	}
	rows = append(rows, accept.EarlierRunCheckResult{State: nexus.Timeout})
	for n, want := range []string{"0 of 0 criteria of earlier runs are still met", "1 of 1 criterion of an earlier run is still met", "1 of 2 criteria of earlier runs are still met, 1 red", "1 of 3 criteria of earlier runs are still met, 1 red, 1 unknown"} {
		if got := accept.SummarizeEarlierResults(rows[:n]); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
