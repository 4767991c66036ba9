package state_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// planned returns the facts of a run whose plan was agreed to.
func planned(l nexus.Limits, tasks ...nexus.Task) []nexus.Fact {
	all := []nexus.Fact{nexus.GoalAccepted{Base: "c0", Limits: l}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: len(tasks)}}
	for _, t := range tasks {
		all = append(all, nexus.TaskPlanned{Task: t})
	}
	return append(all, nexus.PlanApproved{})
}

// accepted returns the facts of an attempt whose work waits for the train.
func accepted(task nexus.TaskID, id nexus.AttemptID, base, work string) []nexus.Fact {
	return []nexus.Fact{
		nexus.AttemptStarted{Attempt: id, Task: task, Base: base, Tier: nexus.Fast},
		nexus.AttemptEnded{Attempt: id, Outcome: nexus.Accepted, Commit: work, Tree: "t" + work},
		nexus.LandingQueued{Task: task, Attempt: id},
	}
}

// landing returns the facts of a task that lands.
func landing(task nexus.TaskID, id nexus.AttemptID, base, commit string) []nexus.Fact {
	return append(accepted(task, id, base, "w"+commit),
		nexus.LandingStarted{Task: task, Attempt: id, Onto: base}, nexus.LandingCompleted{Task: task, Attempt: id, Commit: commit, Parent: base, Tree: "t" + commit})
}

// folds folds more facts.
func folds(t *testing.T, s *state.State, facts ...nexus.Fact) {
	t.Helper()
	for _, f := range facts {
		next(t, s, f)
	}
}

// refused checks that a fact cannot be true, and why.
func refused(t *testing.T, s *state.State, f nexus.Fact, why string) {
	t.Helper()
	if err := s.CheckFacts(f); err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%T: %v, want %s", f, err, why)
	}
}

func added(item string) nexus.RequestMade {
	return nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbAdd, Item: item, By: "ada", Plan: &nexus.Plan{Tasks: []nexus.Task{{Title: "more"}}}}}
}

// items names the additions that are worked on.
func items(s *state.State) string {
	var all []string
	for _, a := range s.ActiveItems() {
		all = append(all, a.Item)
	}
	return strings.Join(all, " ")
}

func made(s *state.State, a *state.RunAddition) string {
	var all []string
	for _, t := range s.TasksOfAddition(a) {
		all = append(all, string(t.ID))
	}
	return strings.Join(all, " ")
}

// TestAddition follows what somebody adds until its tasks have ended.
func TestAddition(t *testing.T) {
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"})...)
	next(t, s, added("i1"))
	seq := s.Seq
	a := s.AdditionBySeq(seq)
	if a == nil || a.Task.Title != "more" || a.By != "ada" || s.BacklogAddition("i1") != a || s.BacklogAddition("i2") != nil || s.AdditionBySeq(1) != nil || items(s) != "" || s.IsAddingTasks() || a.IsDone() {
		t.Fatalf("%+v", a)
	}
	refused(t, s, nexus.AdditionPlanningStarted{Attempt: "add.1", Request: 99}, "nothing was added")
	refused(t, s, nexus.AdditionPlanningFailed{Request: 99}, "nothing was added")
	refused(t, s, nexus.TasksAdded{Request: 99}, "nothing was added")
	sought := nexus.AdditionPlanningStarted{Attempt: "add.1", Request: seq}
	folds(t, s, sought, sought)
	x := s.AttemptByID("add.1")
	if x == nil || x.Base != "c0" || x.Stage != state.Working || x.Began.IsZero() || s.AddTries != 1 || !s.IsAddingTasks() || !s.HasWorkUnderway() || a.Attempt != "add.1" || items(s) != "i1" {
		t.Fatalf("%+v: %+v, %d tries", a, x, s.AddTries)
	}
	refused(t, s, nexus.AdditionPlanningStarted{Attempt: "add.2", Request: seq}, "add.1 makes tasks of request")
	refused(t, s, nexus.AdditionTasksProposed{Attempt: "T1.1"}, "no attempt")
	next(t, s, nexus.AdditionTasksProposed{Attempt: "add.1", Tasks: []nexus.Task{{Title: "x"}, {Title: "y"}}})
	if x.Stage != state.Over || x.Finished.IsZero() || len(a.Proposed) != 2 || s.IsAddingTasks() || items(s) != "i1" {
		t.Errorf("%+v: %+v", a, x)
	}
	folds(t, s, nexus.QuestionAsked{ID: "q1", Trigger: nexus.StepTrigger, Mark: "add.1"}, nexus.QuestionAsked{ID: "q2", Trigger: nexus.AddTrigger, Mark: "add.9"})
	if a.Question != "" {
		t.Errorf("%s asks about it", a.Question)
	}
	next(t, s, nexus.QuestionAsked{ID: "q3", Trigger: nexus.AddTrigger, Mark: "add.1"})
	if asks := s.OpenQuestions(); a.Question != "q3" || len(asks) != 1 || asks[0].ID != "q3" || asks[0].AsksToPublish() {
		t.Errorf("%s asks about it, of %d", a.Question, len(asks))
	}
	next(t, s, nexus.RunRecovered{})
	if q := s.QuestionByID("q3"); !q.Anew {
		t.Error("it was not asked before the run was taken up")
	}
	folds(t, s, nexus.RunResumed{}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Needs: []nexus.TaskID{"T1"}, Priority: nexus.PriorityHigh}})
	refused(t, s, nexus.TasksAdded{Request: 99}, "nothing was added")
	rank := s.Rank("T1")
	next(t, s, nexus.TasksAdded{Request: seq, Tasks: []nexus.TaskID{"T2"}})
	if !a.IsDone() || made(s, a) != "T2" || s.Rank("T2") == 0 || s.Rank("T1") <= rank || s.TaskUrgency("T1") == 0 || items(s) != "i1" || len(s.OpenQuestions()) > 0 {
		t.Errorf("%+v makes %s, rank %d, urgency %d", a, made(s, a), s.Rank("T1"), s.TaskUrgency("T1"))
	}
	refused(t, s, nexus.TasksAdded{Request: seq}, "something came of request")
	refused(t, s, nexus.AdditionPlanningFailed{Request: seq}, "something came of request")
	folds(t, s, nexus.TaskSplitStarted{Attempt: "split.1", Task: "T2"}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2a"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2b"}},
		nexus.TaskSplitCompleted{Attempt: "split.1", Task: "T2", Parts: []nexus.TaskID{"T2a", "T2b"}})
	if made(s, a) != "T2a T2b" || items(s) != "i1" {
		t.Errorf("%s is made of it, and %s is worked on", made(s, a), items(s))
	}
	folds(t, s, nexus.TaskSkipped{Task: "T2a"}, nexus.TaskSkipped{Task: "T2b"})
	if items(s) != "" {
		t.Errorf("%s is worked on", items(s))
	}
}

// TestAdditionOfWhichNothingComes, as nobody could make tasks of it, as it was taken
// back, or as it was turned down.
func TestAdditionOfWhichNothingComes(t *testing.T) {
	s := fold(t, planned(nexus.Limits{}, nexus.Task{ID: "T1"})...)
	folds(t, s, added("i1"), added("i2"), added("i3"))
	one, two, three := s.BacklogAddition("i1"), s.BacklogAddition("i2"), s.BacklogAddition("i3")
	folds(t, s, nexus.AdditionPlanningStarted{Attempt: "add.1", Request: one.Seq}, nexus.AdditionPlanningFailed{Attempt: "add.1", Request: one.Seq}, nexus.AdditionPlanningFailed{Request: two.Seq, Why: "not now", By: "ada"})
	if x := s.AttemptByID("add.1"); !one.IsDone() || one.Why != "no reason given" || one.Back || x.Stage != state.Over || x.Finished.IsZero() || s.IsAddingTasks() {
		t.Errorf("%+v: %+v", one, x)
	}
	if !two.IsDone() || two.Why != "not now" || !two.Back || items(s) != "" {
		t.Errorf("%+v, %s is worked on", two, items(s))
	}
	folds(t, s, nexus.RequestSettled{Seq: three.Seq, Why: "no"})
	if s.BacklogAddition("i3") != nil || s.BacklogAddition("i2") != two || len(s.Additions) != 2 {
		t.Errorf("%+v", s.Additions)
	}
	tell := added("i4")
	tell.Request.Verb = nexus.VerbTell
	none, empty := added("i5"), added("i6")
	none.Request.Plan, empty.Request.Plan = nil, &nexus.Plan{}
	folds(t, s, tell, none, empty)
	if len(s.Additions) != 2 {
		t.Errorf("%+v", s.Additions[2])
	}
	next(t, s, added(""))
	next(t, s, nexus.QuestionAsked{ID: "q1", Trigger: nexus.AddTrigger})
	if a := s.Additions[2]; a.Question != "" || len(s.OpenQuestions()) > 0 {
		t.Errorf("%+v", a)
	}
	next(t, s, nexus.AdditionPlanningStarted{Attempt: "add.2", Request: s.Additions[2].Seq})
	if items(s) != "" || !s.IsAddingTasks() {
		t.Errorf("what is no item is: %q", items(s))
	}
}
