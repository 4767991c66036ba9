package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestACompactedSessionGoesOnWithWhatIsLeft: what is said later is added to
// what it was compacted to, and a clone shares none of it.
func TestACompactedSessionGoesOnWithWhatIsLeft(t *testing.T) {
	a := &state.AttemptState{ID: "T1.1"}
	compacted := nexus.SessionCompacted{Session: "T1.1/coder.1", Turn: 1, Row: 1, Messages: []string{"brief", "note"}}
	for _, f := range []nexus.Fact{
		nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1"},
		nexus.PromptSent{Session: "T1.1/coder.1", Message: "brief"},
		nexus.ModelTurnRecorded{Session: "T1.1/coder.1", Message: "answer", Turn: 1, Stop: "tools"},
		nexus.ToolResultsSent{Session: "T1.1/coder.1", Message: "results"},
		compacted,
	} {
		a.Apply(f, time.Time{})
	}
	b := a.Clone()
	b.Apply(nexus.ModelTurnRecorded{Session: "T1.1/coder.1", Message: "other", Turn: 2}, time.Time{})
	a.Apply(nexus.ModelTurnRecorded{Session: "T1.1/coder.1", Message: "next", Turn: 2}, time.Time{})
	s := a.SessionByID("T1.1/coder.1")
	if diff := cmp.Diff([]string{"brief", "note", "next"}, s.Messages); diff != "" || s.Compact.Row != 1 || s.Turns != 2 {
		t.Errorf("%+v: %s", s, diff)
	}
	if diff := cmp.Diff([]string{"brief", "note", "other"}, b.SessionByID("T1.1/coder.1").Messages); diff != "" {
		t.Error(diff)
	}
}

// TestRoundsKnowTheirTrees: each round tells what it began with and what it
// came to, also one that changed nothing, and one after the train handed the
// work back on another base.
func TestRoundsKnowTheirTrees(t *testing.T) {
	a := &state.AttemptState{ID: "T1.1", Base: "c0"}
	type tree struct{ Base, From, Commit, At string }
	for _, f := range []nexus.Fact{
		nexus.RoundStarted{Attempt: "T1.1", Round: 1},
		nexus.RoundStarted{Attempt: "T1.1", Round: 2},
		nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "s1"},
		nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "s2", Fixed: "gofmt"},
		nexus.RoundStarted{Attempt: "T1.1", Round: 3},
		nexus.AttemptLost{Attempt: "T1.1", Counted: true},
		nexus.AttemptResumed{Attempt: "T1.1", Base: "c0"},
		nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "s3"},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted},
		nexus.LandingRejected{Attempt: "T1.1", Onto: "c1", Tree: "m1"},
		nexus.AttemptResumed{Attempt: "T1.1", Base: "c1", Tree: "m1"},
		nexus.RoundStarted{Attempt: "T1.1", Round: 4, Cause: "train"},
	} {
		a.Apply(f, time.Time{})
	}
	b := a.Clone()
	b.Apply(nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "s4"}, time.Time{})
	var got []tree
	for n := range 6 {
		if r := a.RoundAt(n); r != nil {
			got = append(got, tree{r.Base, r.From, r.Commit, r.ResultTree()})
		}
	}
	want := []tree{{"c0", "c0", "", "c0"}, {"c0", "c0", "s2", "s2"}, {"c0", "s2", "s3", "s3"}, {"c1", "m1", "", "m1"}}
	if diff := cmp.Diff(want, got); diff != "" || b.RoundAt(4).ResultTree() != "s4" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestTheClockStandsStillForPeople asks two questions that overlap, one that is
// asked again, and one whose answer never comes as the worker is lost.
func TestTheClockStandsStillForPeople(t *testing.T) {
	at := func(minutes int) time.Time { return time.Unix(int64(60*minutes), 0) }
	a := &state.AttemptState{ID: "T1.1", Stage: state.Working}
	a.PauseForQuestion("q1", at(10))
	a.PauseForQuestion("q1", at(12))
	a.PauseForQuestion("q2", at(15))
	b := a.Clone()
	a.ResumeAfterAnswer("q1", at(20))
	a.ResumeAfterAnswer("q9", at(21))
	if got := a.WaitTime(at(25)); got != 15*time.Minute {
		t.Errorf("rested %s while a question is open", got)
	}
	a.ResumeAfterAnswer("q2", at(30))
	a.ResumeAfterAnswer("q2", at(40))
	if got := a.WaitTime(at(50)); got != 20*time.Minute || a.Rested != got {
		t.Errorf("rested %s, %s", got, a.Rested)
	}
	b.Apply(nexus.AttemptLost{Attempt: "T1.1"}, at(18))
	if got := b.WaitTime(at(50)); got != 8*time.Minute {
		t.Errorf("rested %s when the worker was lost", got)
	}
	b.Apply(nexus.AttemptResumed{Attempt: "T1.1"}, at(60))
	b.PauseForQuestion("q2", at(61))
	if got := b.WaitTime(at(63)); got != 2*time.Minute {
		t.Errorf("rested %s since it was resumed", got)
	}
}
