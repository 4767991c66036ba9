package state_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLanes: which tasks share a session, and when one of them is done alone.
func TestLanes(t *testing.T) {
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"}, nexus.Task{ID: "T2"}, nexus.Task{ID: "T3"})...)
	refused(t, s, nexus.SharedSessionGroupFormed{Lane: "L1", Tasks: []nexus.TaskID{"T1", "T9"}}, `no task "T9"`)
	folds(t, s, nexus.SharedSessionGroupFormed{Lane: "L1", Tasks: []nexus.TaskID{"T1", "T2"}}, nexus.SharedSessionGroupFormed{Lane: "L2", Tasks: []nexus.TaskID{"T2"}})
	for id, want := range map[nexus.TaskID]string{"T1": "L1", "T2": "L2", "T3": ""} {
		if l, ok := s.SharedSessionGroupOf(id); l.Lane != want || ok != (want != "") {
			t.Errorf("%s is in %q, %v", id, l.Lane, ok)
		}
	}
	for name, c := range map[string]struct {
		attempts []*state.AttemptState
		want     bool
	}{
		"nothing was tried":       {nil, false},
		"it works":                {[]*state.AttemptState{{Stage: state.Working}}, false},
		"it was accepted":         {[]*state.AttemptState{{Stage: state.Over, Outcome: nexus.Accepted}}, false},
		"it was not":              {[]*state.AttemptState{{Stage: state.Over, Outcome: nexus.GaveUp}}, true},
		"the train handed it on":  {[]*state.AttemptState{{Stage: state.Waiting, Refusals: 1}}, true},
		"it is tried once more":   {[]*state.AttemptState{{Stage: state.Working}, {Stage: state.Working}}, true},
		"it ended with no result": {[]*state.AttemptState{{Stage: state.Over}}, true},
	} {
		if got := (&state.TaskState{Attempts: c.attempts}).HasLeftSharedSession(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	folds(t, s, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"}, nexus.SessionStarted{Attempt: "T1.1", Session: "T1.1/coder.1", Role: nexus.Coder, Model: "p/m", Prompt: "sys"},
		nexus.PromptSent{Session: "T1.1/coder.1", Message: "b1"}, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "w1"},
		nexus.AttemptStarted{Attempt: "T2.1", Task: "T2", Base: "c0", Continues: "T1.1/coder.1"}, nexus.AttemptStarted{Attempt: "T3.1", Task: "T3", Base: "c0", Continues: "T9.1/coder.1"})
	want := &state.SharedSession{Session: "T1.1/coder.1", Task: "T1", Model: "p/m", Prompt: "sys", Messages: []string{"b1"}, Commit: "w1"}
	if diff := cmp.Diff(want, s.AttemptByID("T2.1").Warm); diff != "" || s.AttemptByID("T3.1").Warm != nil {
		t.Error(diff, s.AttemptByID("T3.1").Warm)
	}
	folds(t, s, nexus.SessionStarted{Attempt: "T2.1", Session: "T2.1/coder.1", Role: nexus.Coder, After: "T1.1/coder.1"}, nexus.SessionStarted{Attempt: "T2.1", Session: "T2.1/coder.2", Role: nexus.Coder})
	if c := s.Session("T2.1/coder.1"); c.Before != 1 || !slices.Equal(c.Messages, []string{"b1"}) || s.Session("T2.1/coder.2").Before != 0 {
		t.Errorf("%+v", c)
	}
}

// TestWhatAWorkerSees: what landed meanwhile, what it needs, what is waived, and what people
// said that nobody heard yet is left out.
func TestWhatAWorkerSees(t *testing.T) {
	criteria := []nexus.Criterion{{Text: "a"}, {Text: "b"}}
	s := fold(t, planned(nexus.DefaultLimits(), nexus.Task{ID: "T1", Title: "one", Criteria: criteria}, nexus.Task{ID: "T2", Needs: []nexus.TaskID{"T1"}, Ties: nexus.DependencyReasons{"T1": nexus.TieAPI}}, nexus.Task{ID: "T3"})...)
	task := s.TaskByID("T1").Task
	work := landing("T1", "T1.1", "c0", "c1")
	folds(t, s, nexus.AttemptStarted{Attempt: "T3.1", Task: "T3", Base: "c0"})
	folds(t, s, work[0], nexus.SessionStarted{Attempt: "T1.1", Session: "T1.1/coder.1", Role: nexus.Coder}, nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted, Result: "said"},
		nexus.CriterionTestsFound{Attempt: "T1.1", Checks: []nexus.CriterionTest{{Number: 1, Of: state.CriterionFingerprint(task, 1), Proved: true, Command: "go test -run One"}}},
		nexus.CriteriaEvidenceRecorded{Attempt: "T1.1", Criteria: []nexus.CriterionGateEvidence{{Number: 1, Of: state.CriterionFingerprint(task, 1), By: "test", Tests: []string{"One"}}, {Number: 2, Of: "another", Tests: []string{"Two"}}}})
	folds(t, s, work[1:4]...)
	if v := s.WorkerView("T1"); v.Merge == nil || v.Merge.ID != "T1.1-merge" || v.Attempt.ID != "T1.1" {
		t.Errorf("while it lands: %+v, %+v", v.Merge, v.Attempt)
	}
	folds(t, s, work[4:]...)
	v := s.WorkerView("T3")
	if len(v.Meanwhile) != 1 || v.Meanwhile[0].Title != "one" || len(v.Landed) != 1 || v.Landed[0].Criteria[0].Check != "go test -run One" || !slices.Equal(v.Bear, []string{"One"}) || v.Landings != 1 {
		t.Errorf("meanwhile landed %+v, %+v, bears %q", v.Meanwhile, v.Landed, v.Bear)
	}
	if s.TaskByID("T1").Criteria[0].Check != "" {
		t.Error("the plan has another check")
	}
	if n := s.WorkerView("T2").Needs; len(n) != 1 || n[0].Title != "one" || n[0].Said != "said" || n[0].Tie != nexus.TieAPI || n[0].Landed.Commit != "c1" {
		t.Errorf("it needs %+v", n)
	}
	folds(t, s, nexus.AttemptStarted{Attempt: "T2.1", Task: "T2", Base: "c1"})
	if v := s.WorkerView("T2"); len(v.Meanwhile) > 0 || v.Attempt.ID != "T2.1" {
		t.Errorf("meanwhile landed %+v", v.Meanwhile)
	}
	if v.Interview != nil {
		t.Error("there is an interview")
	}
	if since := s.LandingsSince(nil); since != nil {
		t.Errorf("%+v", since)
	}
	tell := nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T3", Text: "mind", By: "ada"}}
	next(t, s, tell)
	seq := s.Seq
	next(t, s, nexus.RequestSettled{Seq: seq, Granted: true})
	if v := s.WorkerView("T3"); len(v.Said) > 0 {
		t.Errorf("nobody heard yet: %+v", v.Said)
	}
	folds(t, s, nexus.SessionStarted{Attempt: "T3.1", Session: "T3.1/coder.1", Role: nexus.Coder}, nexus.PromptSent{Session: "T3.1/coder.1", Request: seq})
	if v := s.WorkerView("T3"); len(v.Said) != 1 || v.Said[0].Text != "mind" {
		t.Errorf("heard: %+v", v.Said)
	}
	next(t, s, nexus.PromptSent{Session: "T3.1/coder.1", Request: 9, Why: nexus.LandedWhy})
	if !slices.Equal(s.AttemptByID("T3.1").Heard, []int64{9}) {
		t.Errorf("it heard of %v", s.AttemptByID("T3.1").Heard)
	}
	i := fold(t, nexus.GoalAccepted{Goal: nexus.Goal{Mode: nexus.Interview}, Base: "c0"}, nexus.RunStarted{}, nexus.InterviewRoundStarted{Attempt: "interview.1", Round: 1})
	if v := i.WorkerView(""); v.Interview == nil || v.Attempt == nil || v.Attempt.ID != "interview.1" || i.Planning.Stage != state.Working || i.AttemptByID("interview.1") != i.Planning {
		t.Errorf("%+v, %+v", v.Interview, v.Attempt)
	}
	next(t, i, nexus.InterviewRoundEnded{Attempt: "interview.1", Round: 1})
	if i.Planning.Stage != state.Waiting {
		t.Errorf("%s", i.Planning.Stage)
	}
}

// TestShownCriteria takes a check that the work brought along in place of none, or of a
// command that shows nothing, and only where it was proved for what the task says now.
func TestShownCriteria(t *testing.T) {
	task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "a"}, {Text: "b", Check: "./b.sh"}, {Text: "c", Check: "./c.sh"}, {Text: "d"}, {Text: "e"}, {Text: "f", Check: "test"}}}
	check := func(n int, of string, proved bool) nexus.CriterionTest {
		return nexus.CriterionTest{Number: n, Of: of, Proved: proved, Command: "new"}
	}
	var checks []nexus.CriterionTest
	for n := range task.Criteria {
		checks = append(checks, check(n+1, state.CriterionFingerprint(task, n+1), n != 3))
	}
	checks[4].Of = "what it said before"
	s := state.TaskState{Task: task, Attempts: []*state.AttemptState{{ID: "T1.1", Checks: nexus.CriterionTestsFound{Checks: checks}, Weighed: nexus.CriteriaEvidenceRecorded{Criteria: []nexus.CriterionGateEvidence{{Number: 2, By: "test"}, {Number: 3}}}}}}
	var got []string
	for _, c := range s.WithProvedChecks().Criteria {
		got = append(got, c.Check)
	}
	if want := []string{"new", "./b.sh", "new", "", "", "new"}; !slices.Equal(got, want) || s.Criteria[0].Check != "" {
		t.Errorf("%q, want %q", got, want)
	}
	ladder := state.TaskState{Attempts: []*state.AttemptState{{ID: "1", Tier: nexus.Fast}, {ID: "2", Tier: nexus.Fast}, {ID: "3", Tier: nexus.Strong}}, Mercy: 1, Rounds: 7, MercyRounds: 3}
	if at := ladder.AttemptsAt(nexus.Fast); len(at) != 1 || at[0].ID != "2" || len(ladder.AttemptsAt(nexus.Balanced)) > 0 || ladder.CountedRounds() != 4 {
		t.Errorf("%+v, %d rounds", at, ladder.CountedRounds())
	}
}

// TestPointsOfARun have names that are given once, until they are dropped.
func TestPointsOfARun(t *testing.T) {
	s := fold(t, nexus.GoalAccepted{Base: "c0"})
	if !s.ChangedSinceCheckpoint() {
		t.Error("nothing happened")
	}
	folds(t, s, nexus.CheckpointMade{Name: "begin"}, nexus.RequestMade{}, nexus.RequestSettled{Seq: 3})
	if s.ChangedSinceCheckpoint() || s.CheckpointByName("begin").Worked != 0 {
		t.Error("something happened since")
	}
	next(t, s, nexus.RunStarted{})
	next(t, s, nexus.PlanningStarted{Attempt: "plan.1"})
	next(t, s, nexus.CheckpointMade{Name: "here"})
	refused(t, s, nexus.CheckpointMade{Name: "here"}, `there is a checkpoint "here"`)
	refused(t, s, nexus.CheckpointMade{}, `there is a checkpoint ""`)
	if c := s.CheckpointByName("here"); c.Seq != s.Seq || c.Worked != 2*time.Second || len(s.ActiveCheckpoints()) != 2 || s.ChangedSinceCheckpoint() {
		t.Errorf("%+v", c)
	}
	next(t, s, nexus.CheckpointDropped{Name: "here", Why: "too many"})
	if kept := s.ActiveCheckpoints(); s.CheckpointByName("here") != nil || len(kept) != 1 || kept[0].Name != "begin" || s.CheckFacts(nexus.CheckpointMade{Name: "here"}) != nil || s.ChangedSinceCheckpoint() {
		t.Errorf("%+v", kept)
	}
	refused(t, s, nexus.CriterionFaultsFound{Attempt: "fix.1"}, "does not look for faults")
}

// TestReopenedRunForgetsLosses of all who lost their process, and asks what was asked anew.
func TestReopenedRunForgetsLosses(t *testing.T) {
	s := fold(t, nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanningStarted{Attempt: "plan.1"}, nexus.AttemptLost{Attempt: "plan.1", Counted: true},
		nexus.PlanningStarted{Attempt: "plan.1"}, nexus.PlanProposed{Tasks: 2}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2"}}, nexus.PlanApproved{})
	folds(t, s, accepted("T1", "T1.1", "c0", "w1")...)
	folds(t, s, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"}, nexus.AttemptLost{Attempt: "T1.1-merge", Counted: true},
		nexus.TaskSplitStarted{Attempt: "split.1", Task: "T2"}, nexus.AttemptLost{Attempt: "split.1", Counted: true},
		nexus.CriterionDiagnosisStarted{Attempt: "fix.1"}, nexus.AttemptLost{Attempt: "fix.1", Counted: true},
		nexus.TargetBranchMoved{Commit: "m1"}, nexus.TargetMergeStarted{Attempt: "land.1", Onto: "m1"}, nexus.AttemptLost{Attempt: "land.1", Counted: true})
	all := []nexus.AttemptID{"plan.1", "T1.1-merge", "split.1", "fix.1", "land.1"}
	for _, id := range all {
		if s.AttemptByID(id).Losses != 1 {
			t.Fatalf("%s lost its process %d times", id, s.AttemptByID(id).Losses)
		}
	}
	if !s.TargetMerge.NeedsMerge() {
		t.Error("the target moved, and nothing is to be merged")
	}
	folds(t, s, nexus.RunEnded{Status: nexus.StatusStopped, Why: "x"}, nexus.RunReopened{})
	for _, id := range all {
		if s.AttemptByID(id).Losses != 0 {
			t.Errorf("%s lost its process %d times", id, s.AttemptByID(id).Losses)
		}
	}
	if s.TargetMerge.NeedsMerge() || s.Why != "" || !s.Ended.IsZero() {
		t.Errorf("%+v", s.TargetMerge)
	}
	h := &state.TargetMerge{Moved: &nexus.TargetBranchMoved{Commit: "m1"}, Merged: &nexus.TargetMergeCommitted{Onto: "m1"}}
	if h.NeedsMerge() {
		t.Error("it is merged")
	}
	h.Moved.Commit = "m2"
	if !h.NeedsMerge() {
		t.Error("it moved again")
	}
	h.Refused = "no"
	if h.NeedsMerge() {
		t.Error("it was refused")
	}
}

// TestReplayOfABrokenJournal returns what it came to with the error.
func TestReplayOfABrokenJournal(t *testing.T) {
	broken := errors.New("the disk is gone")
	for name, c := range map[string]struct {
		last nexus.Fact
		err  error
		want string
	}{
		"cannot be read": {nexus.RunStarted{}, broken, "the disk is gone"},
		"cannot follow":  {nexus.GoalAccepted{}, nil, "fold event 2"},
	} {
		s, err := state.ReplayRun("r", func(yield func(nexus.Event, error) bool) {
			if yield(nexus.Event{Seq: 1, Run: "r", Fact: nexus.GoalAccepted{Base: "c0"}}, nil) {
				yield(nexus.Event{Seq: 2, Run: "r", Fact: c.last}, c.err)
			}
		})
		if s == nil || s.Tip != "c0" || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

// TestSplitKeepsTies: what is tied to a task is tied to its parts, and whoever looked before
// sees the old ones.
func TestSplitKeepsTies(t *testing.T) {
	ties := nexus.DependencyReasons{"T1": nexus.TieSchema, "T0": nexus.TieFile}
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T0"}, nexus.Task{ID: "T1"}, nexus.Task{ID: "T2", Needs: []nexus.TaskID{"T1"}, Ties: ties})...)
	split := nexus.TaskSplitCompleted{Attempt: "split.1", Task: "T1", Parts: []nexus.TaskID{"A", "B"}}
	folds(t, s, nexus.TaskSplitStarted{Attempt: "split.1", Task: "T1"})
	if !s.IsSplitting("T1") || s.IsReady(s.TaskByID("T1")) || !s.IsReady(s.TaskByID("T0")) || s.IsReady(s.TaskByID("T2")) {
		t.Error("who may begin")
	}
	folds(t, s, nexus.TaskPlanned{Task: nexus.Task{ID: "A"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "B"}})
	refused(t, s, nexus.TaskSplitCompleted{Attempt: "split.1", Task: "T1"}, "split into nothing")
	next(t, s, split)
	if got, want := s.TaskByID("T2").Ties, (nexus.DependencyReasons{"A": nexus.TieSchema, "B": nexus.TieSchema, "T0": nexus.TieFile}); !cmp.Equal(got, want) || len(ties) != 2 {
		t.Errorf("%v, and before %v", got, ties)
	}
	refused(t, s, split, "does not split")
	b := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"})...)
	folds(t, b, nexus.TaskSplitStarted{Attempt: "split.1", Task: "T1"}, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"})
	refused(t, b, split, "T1 is running and cannot be split")
}

// TestTrainFindsConflicts that nobody could merge: the attempt is over, and keeps its work.
func TestTrainFindsConflicts(t *testing.T) {
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"})...)
	folds(t, s, accepted("T1", "T1.1", "c0", "w1")...)
	folds(t, s, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"}, nexus.LandingRejected{Task: "T1", Attempt: "T1.1", Conflict: true, Why: "both changed it"})
	if a := s.AttemptByID("T1.1"); a.Outcome != nexus.Conflicted || a.Commit != "w1" || a.Refusals != 1 || a.Why != "both changed it" || a.HandedWhy != "" || s.TaskByID("T1").Status != nexus.Running {
		t.Errorf("%+v", a)
	}
}
