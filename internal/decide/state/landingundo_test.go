package state_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// twoLanded returns a run with two tasks that landed, and one that did not.
func twoLanded(t *testing.T) *state.State {
	t.Helper()
	s := fold(t, planned(nexus.DefaultLimits(), nexus.Task{ID: "T1"}, nexus.Task{ID: "T2"}, nexus.Task{ID: "T3", Needs: []nexus.TaskID{"T2"}})...)
	folds(t, s, landing("T1", "T1.1", "c0", "c1")...)
	folds(t, s, landing("T2", "T2.1", "c1", "c2")...)
	return s
}

// TestUndo reverts what landed, and remembers what was tried.
func TestUndo(t *testing.T) {
	s := twoLanded(t)
	ids := []nexus.TaskID{"T2"}
	refused(t, s, nexus.UndoStarted{Attempt: "undo.1", Tasks: ids, Onto: "c1"}, "the tip is c2, not c1")
	refused(t, s, nexus.UndoStarted{Attempt: "undo.1", Onto: "c2"}, "the tip is c2")
	refused(t, s, nexus.UndoStarted{Attempt: "undo.1", Tasks: []nexus.TaskID{"T3"}, Onto: "c2"}, `"T3" has not landed`)
	refused(t, s, nexus.UndoStarted{Attempt: "undo.1", Tasks: []nexus.TaskID{"T9"}, Onto: "c2"}, `"T9" has not landed`)
	refused(t, s, nexus.UndoLanded{Attempt: "undo.1", Tasks: ids, Parent: "c2"}, "no attempt")
	sought := nexus.UndoStarted{Attempt: "undo.1", Tasks: ids, Onto: "c2", By: "ada"}
	folds(t, s, sought, sought)
	u := &s.Undo
	if !u.IsOpen() || u.Tries != 1 || u.Work.ID != "undo.1" || u.Work.Base != "c2" || u.Work.Stage != state.Working || u.Asked.By != "ada" || s.AttemptByID("undo.1") != u.Work {
		t.Errorf("%+v, %+v", u, u.Work)
	}
	next(t, s, nexus.UndoRefused{Attempt: "undo.1", Tasks: ids, Why: "conflicts"})
	if _, no := u.Last.(nexus.UndoRefused); u.IsOpen() || !no || u.Work.Stage != state.Over || u.Work.Finished.IsZero() || s.Tip != "c2" || len(u.Done) > 0 {
		t.Errorf("%+v, %+v", u, u.Work)
	}
	folds(t, s, nexus.FinalGatesJudged{}, nexus.ResultPublished{Branch: "b"}, nexus.TargetBranchMoved{Commit: "m1"}, nexus.UndoStarted{Attempt: "undo.2", Tasks: ids, Onto: "c2", By: "ada"})
	refused(t, s, nexus.UndoLanded{Attempt: "undo.2", Tasks: ids, Parent: "c1"}, "the tip is c2")
	if commits := s.WorkerView("").Commits; len(commits) != 2 || commits[1].Commit != "c2" {
		t.Errorf("who reverts sees %+v", commits)
	}
	next(t, s, nexus.UndoLanded{Attempt: "undo.2", Tasks: ids, Parent: "c2", Commit: "c3", By: "ada"})
	if u.IsOpen() || u.Tries != 2 || len(u.Done) != 1 || u.Done[0].Commit != "c3" || u.Work.Stage != state.Over {
		t.Errorf("%+v", u)
	}
	t2 := s.TaskByID("T2")
	if s.Tip != "c3" || s.Result != nil || s.Published != nil || s.TargetMerge.Moved != nil || len(s.Landings) != 1 || s.Landings[0].Task != "T1" {
		t.Errorf("tip %s, %d landings, homing %+v", s.Tip, len(s.Landings), s.TargetMerge)
	}
	if t2.Status != nexus.Skipped || t2.Landed != nil || t2.Why != "undone by ada" || t2.Ended.IsZero() || s.StatusOf(s.TaskByID("T3")) != nexus.Blocked {
		t.Errorf("%+v", t2)
	}
}

// TestBequeathed hands on to another run what landed, what was shown of it, what people did
// without, and what the work on the rest came to; and that run takes it over.
func TestBequeathed(t *testing.T) {
	task := func(id nexus.TaskID, needs ...nexus.TaskID) nexus.Task {
		return nexus.Task{ID: id, Needs: needs, Criteria: []nexus.Criterion{{Text: "a"}, {Text: "b"}}}
	}
	tasks := []nexus.Task{task("T1"), task("T2"), task("T3"), task("T4"), task("T5", "T4"), task("T6")}
	s := fold(t, planned(nexus.DefaultLimits(), tasks...)...)
	work := accepted("T1", "T1.1", "c0", "w1")
	folds(t, s, work[0], nexus.CriterionTestsFound{Attempt: "T1.1", Tree: "t"}, nexus.CriteriaEvidenceRecorded{Attempt: "T1.1", Tree: "t"})
	folds(t, s, work[1:]...)
	folds(t, s, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"}, nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Parent: "c0"})
	folds(t, s, landing("T6", "T6.1", "c1", "c2")...)
	folds(t, s, nexus.TaskSkipped{Task: "T2", By: "ada"}, nexus.TaskSplitStarted{Attempt: "split.1", Task: "T4"}, nexus.TaskPlanned{Task: task("T4a")}, nexus.TaskPlanned{Task: task("T4b")},
		nexus.TaskSplitCompleted{Attempt: "split.1", Task: "T4", Parts: []nexus.TaskID{"T4a", "T4b"}})
	folds(t, s, nexus.AttemptStarted{Attempt: "T3.1", Task: "T3", Base: "c2"}, nexus.RoundStarted{Attempt: "T3.1", Round: 1, Role: nexus.Coder}, nexus.TreeSnapshotted{Attempt: "T3.1", Commit: "w3", Tree: "t3"},
		nexus.GatesVerdictGiven{Attempt: "T3.1", State: nexus.Pass, Tree: "t3"}, nexus.AttemptEnded{Attempt: "T3.1", Outcome: nexus.Exhausted})
	for _, id := range []string{"T1/AC-2", "T4a/AC-1", "T4a/AC-x"} {
		next(t, s, nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbApprove, ID: id}})
	}
	var got []string
	all := s.InheritableFacts()
	for _, f := range all {
		i := f.(nexus.TaskStateInherited)
		line := string(i.Task) + " " + string(i.Status)
		if i.Landed != nil {
			line += " " + i.Landed.Commit
		}
		if i.Checks != nil && i.Weighed != nil {
			line += " shown"
		}
		if len(i.Waived) > 0 {
			line += " waived"
		}
		got = append(got, strings.TrimSpace(line+" "+nexus.JoinWords(i.Parts)+i.Work+i.Why))
	}
	want := []string{"T1 landed c1 shown waived", "T6 landed c2", "T2 skipped skipped by ada", "T3 pending w3", "T4 split " + nexus.JoinWords([]nexus.TaskID{"T4a", "T4b"}), "T4a pending waived"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if w := all[0].(nexus.TaskStateInherited).Waived; !slices.Equal(w, []int{2}) {
		t.Errorf("waived are %v", w)
	}
	fork := fold(t, nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 6})
	for _, x := range append(tasks, task("T4a"), task("T4b")) {
		next(t, fork, nexus.TaskPlanned{Task: x})
	}
	folds(t, fork, all...)
	next(t, fork, nexus.PlanApproved{})
	t1, t3 := fork.TaskByID("T1"), fork.TaskByID("T3")
	if a := t1.CurrentAttempt(); t1.Status != nexus.Landed || t1.Landed.Commit != "c1" || t1.Ended.IsZero() || a.Stage != state.Over || a.Checks.Tree != "t" || a.Weighed.Tree != "t" || fork.AttemptByID("T1.1") != a {
		t.Errorf("%+v", t1)
	}
	if a := fork.AttemptByID("T6.1"); a.Checks.Attempt != "" || a.Weighed.Attempt != "" || fork.Tip != "c2" || len(fork.Landings) != 2 || fork.Landings[1].Commit != "c2" {
		t.Errorf("tip %s, %d landings, %+v", fork.Tip, len(fork.Landings), a)
	}
	if v := fork.WorkerView("T1"); !slices.Equal(v.Waived, []int{2}) {
		t.Errorf("waived are %v", v.Waived)
	}
	if t3.Status != nexus.Pending || !t3.Ended.IsZero() || t3.Inherited.Work != "w3" || !slices.Equal(fork.TaskByID("T5").Needs, []nexus.TaskID{"T4a", "T4b"}) {
		t.Errorf("%+v, T5 needs %v", t3, fork.TaskByID("T5").Needs)
	}
	if t2 := fork.TaskByID("T2"); t2.Status != nexus.Skipped || t2.Why != "skipped by ada" || t2.Ended.IsZero() {
		t.Errorf("%+v", t2)
	}
	for _, f := range fork.InheritableFacts() {
		if i := f.(nexus.TaskStateInherited); i.Task == "T3" && (i.Work != "w3" || i.Base != "c2") {
			t.Errorf("handed on again: %+v", i)
		}
	}
	before := t3.Inherited
	next(t, fork, nexus.TaskRetried{Task: "T3", Fresh: true})
	if t3.Inherited.Work != "" || t3.Inherited.Base != "" || before.Work != "w3" {
		t.Errorf("a fresh start has %+v, and who looked before sees %+v", t3.Inherited, before)
	}
}
