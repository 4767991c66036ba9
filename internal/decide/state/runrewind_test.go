package state_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestGoingBackEndsWhatWasUnderWay: nothing that was begun at the point is still under way, what
// was half asked is asked again, and what was answered stays.
func TestGoingBackEndsWhatWasUnderWay(t *testing.T) {
	l := nexus.DefaultLimits()
	s := fold(t, planned(l, nexus.Task{ID: "T1"}, nexus.Task{ID: "T2"}, nexus.Task{ID: "T3"}, nexus.Task{ID: "T4"})...)
	folds(t, s, landing("T1", "T1.1", "c0", "c1")...)
	folds(t, s, accepted("T2", "T2.1", "c1", "w2")...)
	folds(t, s, nexus.ComplexityRatingStarted{Attempt: "route.1", Tasks: []nexus.TaskID{"T3"}}, nexus.ComplexityRatingEnded{Attempt: "route.1", Routes: []nexus.ComplexityRating{{Task: "T3"}}},
		nexus.ComplexityRatingStarted{Attempt: "route.2", Tasks: []nexus.TaskID{"T4"}})
	folds(t, s, nexus.AttemptStarted{Attempt: "T3.1", Task: "T3", Base: "c1"}, nexus.SessionStarted{Attempt: "T3.1", Session: "T3.1/coder.1", Role: nexus.Coder},
		nexus.RoundStarted{Attempt: "T3.1", Round: 1, Session: "T3.1/coder.1"}, nexus.GateStarted{Attempt: "T3.1", Gate: "test"}, nexus.QuestionAsked{ID: "q1", Attempt: "T3.1", Mark: "m1", Text: "?"},
		nexus.QuestionAsked{ID: "q2", Text: "publish?"}, nexus.QuestionAnswered{ID: "q2", Text: "yes", By: "ada"})
	folds(t, s, nexus.TaskSplitStarted{Attempt: "split.1", Task: "T4"}, added("i1"))
	sought := s.Seq
	folds(t, s, nexus.AdditionPlanningStarted{Attempt: "add.1", Request: sought}, nexus.CriterionDiagnosisStarted{Attempt: "fix.1", Faults: []nexus.CriterionFault{{Criterion: "T1/AC-1"}}},
		nexus.TargetBranchMoved{Commit: "m1"}, nexus.RunDrainStarted{})
	point := s.Seq
	next(t, s, nexus.GateJudged{Attempt: "T3.1", Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t9"}})
	folds(t, s, nexus.QuestionAsked{ID: "q3", Attempt: "T3.1", Mark: "m3", Text: "?"}, nexus.QuestionAsked{ID: "q4", Text: "?"}, nexus.QuestionAnswered{ID: "q4", Text: "no", By: "bob"})
	worked := s.WorkedTime(s.Updated) // a request is not of who conducts the run
	next(t, s, nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T3", Text: "mind"}})
	next(t, s, nexus.RunRewound{To: point, Tip: "c1", From: "c1", By: "ann"})
	for id, want := range map[nexus.AttemptID]bool{"T1.1": false, "T2.1": true, "T3.1": true, "route.1": false, "route.2": true, "split.1": true, "add.1": true, "fix.1": true} {
		a := s.AttemptByID(id)
		if a.Stage != state.Over || (a.Why == "the run was rewound") != want || want && (a.Commit != "" || a.Outcome != "") {
			t.Errorf("%s: %+v", id, a)
		}
	}
	if s.AttemptByID("T1.1").Commit != "wc1" || s.TaskByID("T1").Status != nexus.Landed || s.Tip != "c1" {
		t.Errorf("what landed: %+v", s.AttemptByID("T1.1"))
	}
	if _, asked := s.ComplexityAnswer("T3"); !asked {
		t.Error("what was said of T3 is forgotten")
	}
	if _, asked := s.ComplexityAnswer("T4"); asked {
		t.Error("T4 was not rated, and nobody is asked again")
	}
	for _, id := range []nexus.TaskID{"T2", "T3", "T4"} {
		if x := s.TaskByID(id); x.Status != nexus.Pending || x.RoundsOf != 0 || x.Mercy != len(x.Attempts) || x.MercyRounds != x.Rounds {
			t.Errorf("%s: %+v", id, x)
		}
	}
	if s.Splits.SplitOfTask("T4") != nil || s.Splits.Sought != 1 || len(s.Fixes.All) != 0 || s.Fixes.Rounds != 1 || s.BacklogAddition("i1").Attempt != "" || s.AddTries != 1 || s.IsAddingTasks() {
		t.Errorf("%+v, %+v, %+v", s.Splits, s.Fixes, s.BacklogAddition("i1"))
	}
	if len(s.Queue) > 0 || len(s.Gating) > 0 || s.Drain != nil || s.TargetMerge.Moved != nil || s.IsDeliveryOnly() {
		t.Errorf("%v, %v, %v, %+v", s.Queue, s.Gating, s.Drain, s.TargetMerge)
	}
	for id, want := range map[string]string{"q1": "the run was rewound", "q2": "ada", "q3": "the run was rewound", "q4": "bob"} {
		if q := s.QuestionByID(id); q.By != want || want != "ada" && q.Mark != "" {
			t.Errorf("%s: %+v", id, q)
		}
	}
	if e, known := s.KnownEvidence("t9", "test"); !known || e.State != nexus.Pass {
		t.Error("what a gate said of a tree is forgotten")
	}
	if len(s.Requests) != 2 || len(s.Guidance) != 1 || len(s.Additions) != 1 || s.NextQuestionID() != "q5" {
		t.Errorf("%+v, %+v", s.Requests, s.Guidance)
	}
	if len(s.Alerts.WorkerHeartbeats()) > 0 || s.WorkedTime(s.Updated.Add(time.Hour)) != worked {
		t.Errorf("%v work, for %s", s.Alerts.WorkerHeartbeats(), s.WorkedTime(s.Updated.Add(time.Hour)))
	}
}

// TestGoingBackToBeforeThePlan keeps names of attempts at tasks that are gone, and what they
// cost, and the next plan goes on from them.
func TestGoingBackToBeforeThePlan(t *testing.T) {
	s := fold(t, nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanningStarted{Attempt: "plan.1"})
	point := s.Seq
	folds(t, s, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.QuestionAsked{ID: "q1", Trigger: nexus.PlanTrigger}, nexus.PlanApproved{By: "ada"})
	folds(t, s, landing("T1", "T1.1", "c0", "c1")...)
	next(t, s, nexus.RunRewound{To: point, Tip: "c0", From: "c1", By: "ann"})
	if s.Planned || s.TaskByID("T1") != nil || s.Tip != "c0" || s.AttemptByID("plan.1").Stage != state.Over || s.PlanTries != 1 || !s.AttemptByID("T1.1").Undone {
		t.Errorf("planned %v, tip %s, %+v", s.Planned, s.Tip, s.AttemptByID("plan.1"))
	}
	folds(t, s, nexus.PlanningStarted{Attempt: "plan.2"}, nexus.PlanProposed{Tasks: 2}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2"}},
		nexus.PlanRejected{By: "ada", Why: "no"}, nexus.PlanningStarted{Attempt: "plan.3"}, nexus.PlanProposed{Tasks: 2}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2"}})
	if t1, t2 := s.TaskByID("T1"), s.TaskByID("T2"); len(t1.Attempts) != 1 || t1.Mercy != 1 || !t1.IsUntried() || len(t2.Attempts) != 0 || t2.Mercy != 0 {
		t.Errorf("T1 %+v, T2 %+v", t1, t2)
	}
}
