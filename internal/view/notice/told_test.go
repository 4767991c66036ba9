package notice

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestHowItEnds: a run that failed or came to a limit is red, and one that is done green;
// the next step fits how it ended.
func TestHowItEnds(t *testing.T) {
	for status, want := range map[nexus.RunStatus]string{
		nexus.StatusDone:    "green end: the run is done | 0 of 2 tasks landed, $0.00 spent | nexus status --report r1",
		nexus.StatusPartial: "yellow end: the run is partial | 0 of 2 tasks landed, $0.00 spent | nexus status --report r1",
		nexus.StatusFailed:  "red end: the run is failed | 0 of 2 tasks landed, $0.00 spent | nexus status --report r1",
		nexus.StatusLimit:   "red end: the run is limit | 0 of 2 tasks landed, $0.00 spent | nexus status r1",
		nexus.StatusWaiting: "yellow end: the run is waiting | 0 of 2 tasks landed, $0.00 spent | nexus status r1",
		nexus.StatusStopped: "yellow end: the run is stopped | 0 of 2 tasks landed, $0.00 spent | nexus status r1",
	} {
		events := begun()
		before := len(*events)
		events.add(nexus.RunEnded{Status: status})
		if d := cmp.Diff([]string{want}, told(t, events, before)); d != "" {
			t.Errorf("%s: %s", status, d)
		}
	}
}

// TestOneLanding tells of the first task that lands, and of no other.
func TestOneLanding(t *testing.T) {
	events := begun()
	before := len(*events)
	events.add(
		nexus.AttemptStarted{Task: "T1", Attempt: "T1.1", Base: "c0"}, nexus.AttemptStarted{Task: "T2", Attempt: "T2.1", Base: "c0"},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c1", Tree: "t1"},
		nexus.AttemptEnded{Attempt: "T2.1", Outcome: nexus.Accepted, Commit: "c2", Tree: "t2"},
		nexus.LandingQueued{Task: "T2", Attempt: "T2.1"}, nexus.LandingStarted{Task: "T2", Attempt: "T2.1", Onto: "c0"},
		nexus.LandingCompleted{Task: "T2", Attempt: "T2.1", Commit: "c3", Tree: "t3", Parent: "c0"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"}, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c3"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c4", Tree: "t4", Parent: "c3"},
	)
	want := []string{"green landed: the first task landed: T2, Use it, |  | nexus status T2 --run r1"}
	if d := cmp.Diff(want, told(t, events, before)); d != "" {
		t.Error(d)
	}
}

// TestHeldAndCapped: an account whose window is nearly used up starts no session, and a task
// on which nothing more may be spent is red.
func TestHeldAndCapped(t *testing.T) {
	events := begun()
	before := len(*events)
	events.add(
		nexus.QuotaNearlyExhausted{Account: "claude", Used: 96, Window: "5h", Until: noon.Add(2 * time.Hour)},
		nexus.AttemptStarted{Task: "T1", Attempt: "T1.1", Base: "c0"},
		nexus.BudgetRefused{Cap: "task", Task: "T1", Limit: nexus.Dollar, Spent: nexus.Dollar, Asked: nexus.Dollar / 10},
		nexus.TaskParked{Task: "T1", Why: "its money is spent"},
		nexus.TaskParked{Task: "T2", Why: "no attempt was accepted", Failed: true},
	)
	want := []string{
		"yellow quota: claude starts no session until 14:00 UTC on 2026-11-26 | 96 % of its window 5h is used | ",
		"red budget: the budget is reached: task T1 | a call would have exceeded $1.00: $1.00 are spent or reserved | nexus cost r1",
		"red parked: T1, Add it, is parked | its money is spent | nexus retry T1 --run r1, or nexus stop --skip T1 --run r1",
		"yellow parked: T2, Use it, is failed | no attempt was accepted | nexus retry T2 --run r1, or nexus stop --skip T2 --run r1",
	}
	if d := cmp.Diff(want, told(t, events, before)); d != "" {
		t.Error(d)
	}
}
