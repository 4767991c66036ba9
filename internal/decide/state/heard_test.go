package state_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestWhoIsHeardOf holds that each fact of an attempt, or of one of its sessions, says
// that it is not stuck, and that what begins and ends is watched and no longer.
func TestWhoIsHeardOf(t *testing.T) {
	const id, session = "T1.1", "T1.1/coder.1"
	l := limits()
	at := func(minutes int) time.Time {
		return eventtapetest.TapeStartTime().Add(time.Duration(minutes) * time.Minute)
	}
	for _, f := range []nexus.Fact{
		nexus.RoundStarted{Attempt: id},
		nexus.GateJudged{Attempt: id},
		nexus.GatesVerdictGiven{Attempt: id},
		nexus.ReviewerVerdictGiven{Attempt: id},
		nexus.TreeSnapshotted{Attempt: id},
		nexus.SessionStarted{Attempt: id, Session: session},
		nexus.PromptSent{Session: session},
		nexus.ModelTurnRecorded{Session: session},
		nexus.ToolCallStarted{Session: session},
		nexus.ToolCallEnded{Session: session},
		nexus.ToolResultsSent{Session: session},
		nexus.SessionCompacted{Session: session},
		nexus.SessionEnded{Session: session},
		nexus.BudgetReserved{ID: "a", Session: session},
		nexus.ModelCallDelayed{Session: session},
		nexus.AttemptResumed{Attempt: id},
	} {
		var b state.RunAlertWatch
		b.Apply(nexus.Event{At: at(0), Fact: nexus.AttemptStarted{Attempt: id, Task: "T1"}})
		b.Apply(nexus.Event{At: at(0), Fact: nexus.AttemptStarted{Attempt: "T2.1", Task: "T2"}})
		b.Apply(nexus.Event{At: at(3), Fact: f})
		var silent []string
		for _, due := range stuck(b.DueAlerts(l, false, at(7))) {
			silent = append(silent, due.Of)
		}
		if !slices.Equal(silent, []string{"T2.1"}) {
			t.Errorf("after %s are stuck %q", nexus.FactKind(f), silent)
		}
	}
	for _, c := range []struct {
		id    string
		begin nexus.Fact
		end   []nexus.Fact
	}{
		{"plan.1", nexus.PlanningStarted{Attempt: "plan.1"}, []nexus.Fact{nexus.PlanProposed{}, nexus.PlanningFailed{}}},
		{"interview.1", nexus.InterviewRoundStarted{Attempt: "interview.1"}, []nexus.Fact{nexus.InterviewRoundEnded{Attempt: "interview.1"}, nexus.InterviewRoundFailed{Attempt: "interview.1"}}},
		{"spec.1", nexus.SpecWritingStarted{Attempt: "spec.1"}, []nexus.Fact{nexus.SpecWritten{Attempt: "spec.1"}, nexus.SpecWritingFailed{Attempt: "spec.1"}}},
		{id, nexus.AttemptStarted{Attempt: id}, []nexus.Fact{nexus.AttemptLost{Attempt: id}, nexus.AttemptInfrastructureFailed{Attempt: id}, nexus.AttemptEnded{Attempt: id}, nexus.RunEnded{}}},
		{id, nexus.AttemptResumed{Attempt: id}, []nexus.Fact{nexus.AttemptEnded{Attempt: id}}},
	} {
		for _, end := range c.end {
			var b state.RunAlertWatch
			b.Apply(nexus.Event{At: at(0), Fact: c.begin})
			if w := b.WorkerHeartbeats(); len(w) != 1 || w[0].ID != c.id || !w[0].At.Equal(at(0)) || w[0].Doing != "" {
				t.Errorf("after %s work %+v", nexus.FactKind(c.begin), w)
			}
			b.Apply(nexus.Event{At: at(1), Fact: end})
			if w := b.WorkerHeartbeats(); len(w) > 0 {
				t.Errorf("after %s work %+v", nexus.FactKind(end), w)
			}
		}
	}
	var b state.RunAlertWatch
	for _, f := range []nexus.Fact{
		nexus.AttemptStarted{Attempt: "T1.1"},
		nexus.AttemptStarted{Attempt: "T2.1"},
		nexus.AttemptStarted{Attempt: "T3.1"},
		nexus.GateStarted{Attempt: "T1.1", Gate: "test"},
		nexus.GateStarted{Attempt: "T2.1", Gate: "test"},
		nexus.QuestionAsked{ID: "q", Attempt: "T2.1"},
	} {
		b.Apply(nexus.Event{At: at(0), Fact: f})
	}
	var doing []string
	for _, w := range b.WorkerHeartbeats() {
		doing = append(doing, w.ID+" "+w.Doing)
	}
	if got := strings.Join(doing, ", "); got != "T1.1 gate, T2.1 person, T3.1 " {
		t.Error(got)
	}
}

// TestWhenAlertsCalm says when the first of them is to be cleared, and that tokens are
// told of again once a budget is larger.
func TestWhenAlertsCalm(t *testing.T) {
	l := limits()
	at := func(s int) time.Time { return eventtapetest.TapeStartTime().Add(time.Duration(s) * time.Second) }
	var b state.RunAlertWatch
	if !b.NextClearTime(l).IsZero() {
		t.Error("nothing is raised, and it calms")
	}
	b.Apply(nexus.Event{At: at(0), Fact: nexus.AlertRaised{Kind: nexus.AlertStuck, Of: "T1.1"}})
	if !b.NextClearTime(l).IsZero() {
		t.Error("nobody knows when who is stuck is heard of")
	}
	b.Apply(nexus.Event{At: at(30), Fact: nexus.AlertRaised{Kind: nexus.AlertFailures}})
	b.Apply(nexus.Event{At: at(10), Fact: nexus.AlertRaised{Kind: nexus.AlertDenials}})
	b.Apply(nexus.Event{At: at(20), Fact: nexus.AlertRaised{Kind: nexus.AlertStuck, Of: "T2.1"}})
	if got := b.NextClearTime(l); !got.Equal(at(70)) {
		t.Errorf("calm at %s", got.Sub(at(0)))
	}
	b.Apply(nexus.Event{At: at(71), Fact: nexus.AlertCleared{Kind: nexus.AlertDenials, Why: "calm"}})
	if got := b.NextClearTime(l); !got.Equal(at(90)) || len(b.ActiveAlerts()) != 3 {
		t.Errorf("then at %s, %d active", got.Sub(at(0)), len(b.ActiveAlerts()))
	}
	b.Apply(nexus.Event{At: at(72), Fact: nexus.AlertRaised{Kind: nexus.AlertStuck, Of: "T1.1"}})
	if len(b.ActiveAlerts()) != 3 || len(b.Raised) != 4 {
		t.Errorf("raised again: %+v", b.Raised)
	}
	var u state.RunAlertWatch
	for _, f := range []nexus.Fact{
		nexus.BudgetReserved{ID: "a", Session: "T1.1/coder.1", Tokens: 10}, nexus.BudgetSettled{ID: "a", Usage: nexus.Usage{Input: 95}}, nexus.AlertRaised{Kind: nexus.AlertTokens},
	} {
		u.Apply(nexus.Event{At: at(0), Fact: f})
	}
	for limit, want := range map[int64]string{0: "95 of 0 tokens are used", 100: "", 1000: "95 of 1000 tokens are used"} {
		l.RunTokens = limit
		var why string
		for _, f := range u.AlertsToClear(l, at(1)) {
			why += f.Why
		}
		if why != want {
			t.Errorf("of %d tokens: %q", limit, why)
		}
	}
}

// TestAnswersMatter: which questions an answer would change something for.
func TestAnswersMatter(t *testing.T) {
	open := func(s *state.State) string {
		var all []string
		for _, q := range s.OpenQuestions() {
			all = append(all, q.ID)
		}
		return strings.Join(all, " ")
	}
	plan := []nexus.Fact{
		nexus.GoalAccepted{Base: "c0", Consent: nexus.PlanApprovalRule{Wanted: true}},
		nexus.RunStarted{},
		nexus.PlanProposed{Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
		nexus.QuestionAsked{ID: "q1", Trigger: nexus.PlanTrigger, Text: "start?"},
	}
	s := fold(t, plan...)
	if open(s) != "q1" || s.QuestionByID("q1").AsksToPublish() || !s.NeedsPlanApproval() || s.PlanQuestion() != s.QuestionByID("q1") {
		t.Errorf("of a plan: %s", open(s))
	}
	next(t, s, nexus.PlanApproved{By: "ada"})
	if open(s) != "" {
		t.Errorf("of a plan that was approved: %s", open(s))
	}
	next(t, s, nexus.QuestionAsked{ID: "q2", Trigger: nexus.PlanTrigger, Text: "?"})
	next(t, s, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"})
	next(t, s, nexus.QuestionAsked{ID: "q3", Attempt: "T1.1", Text: "which?"})
	next(t, s, nexus.QuestionAsked{ID: "q4", Text: "publish?"})
	next(t, s, nexus.QuestionAsked{ID: "q5", Attempt: "look.1", Text: "who?"})
	if open(s) != "q3 q4 q5" || !s.QuestionByID("q4").AsksToPublish() || s.AskingTask(s.QuestionByID("q3")) != s.TaskByID("T1") || s.AskingTask(s.QuestionByID("q4")) != nil {
		t.Errorf("of an attempt, the result and others: %s", open(s))
	}
	next(t, s, nexus.QuestionExpired{ID: "q5"})
	next(t, s, nexus.QuestionExpired{ID: "q3"})
	if q := s.QuestionByID("q3"); !q.Left || open(s) != "q4" {
		t.Errorf("left: %s", open(s))
	}
	next(t, s, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.GaveUp})
	next(t, s, nexus.TaskParked{Task: "T1", Why: "it asks"})
	if open(s) != "q3 q4" {
		t.Errorf("of a task that was parked as nobody answered: %s", open(s))
	}
	next(t, s, nexus.ResultPublished{Why: "no disk"})
	if open(s) != "q3 q4" {
		t.Errorf("nothing was published: %s", open(s))
	}
	next(t, s, nexus.ResultPublished{Branch: "b"})
	if open(s) != "q3" {
		t.Errorf("it was published: %s", open(s))
	}
	next(t, s, nexus.QuestionAsked{ID: "q6", Attempt: "look.1", Text: "who?"})
	next(t, s, nexus.RunEnded{Status: nexus.StatusWaiting})
	if open(s) != "q3" {
		t.Errorf("once the run ended: %s", open(s))
	}
	next(t, s, nexus.QuestionAnswered{ID: "q3", Text: "this one", By: "ada"})
	next(t, s, nexus.QuestionExpired{ID: "q3"})
	if q := s.QuestionByID("q3"); open(s) != "" || q.Answer != "this one" || q.By != "ada" {
		t.Errorf("answered: %s, %+v", open(s), q)
	}
	if said := s.TaskByID("T1").Said; len(said) != 1 || said[0].About != "which?" || said[0].Text != "this one" {
		t.Errorf("%+v", said)
	}
	if s.NextQuestionID() != "q7" {
		t.Error(s.NextQuestionID())
	}
}

// TestPlansThatWereRefused are counted, keep what is known, and leave names alone.
func TestPlansThatWereRefused(t *testing.T) {
	s := fold(t, nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanningStarted{Attempt: "plan.1"}, nexus.AssumptionStated{Attempt: "plan.9", Text: "no"},
		nexus.AssumptionStated{Attempt: "plan.1", Text: "one user"}, nexus.AssumptionStated{Attempt: "plan.1", Text: "one user"}, nexus.CriterionCommandTried{Attempt: "plan.1", Evidence: nexus.GateEvidence{Gate: "accept: x"}})
	if !slices.Equal(s.Assumed, []string{"one user"}) {
		t.Errorf("it assumes %q", s.Assumed)
	}
	folds(t, s, nexus.PlanProposed{Tasks: 0})
	if s.PlanError != "it has no tasks" || s.Planning.Stage != state.Over {
		t.Errorf("%s", s.PlanError)
	}
	folds(t, s, nexus.PlanningStarted{Attempt: "plan.1"}, nexus.PlanProposed{Tasks: 1, Assumptions: []string{"two"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
		nexus.QuestionAsked{ID: "q1", Trigger: nexus.PlanTrigger}, nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "x"}})
	next(t, s, nexus.RunRecovered{})
	if !s.Consent.Anew {
		t.Error("the run was taken up, and the question is as it was")
	}
	folds(t, s, nexus.RunResumed{}, nexus.PlanRejected{By: "ada", Why: "smaller"}, nexus.PlanningStarted{Attempt: "plan.2"})
	if s.CountPlanRefusals() != 1 || s.Proposed != 0 || len(s.Planning.Tried) != 1 || len(s.Guidance) != 0 || s.Consent.Question != "" || s.Consent.Drafts[0].Assumed[0] != "two" {
		t.Errorf("%d refused, %+v, %+v", s.CountPlanRefusals(), s.Planning, s.Consent)
	}
	folds(t, s, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "b"}}, nexus.PlanRevised{Tasks: 1, By: "ada", Goal: "less"}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "c"}})
	if s.CountPlanRefusals() != 1 || len(s.Consent.Drafts) != 2 || s.Goal.Goal.Text != "less" || s.TaskByID("T1").Title != "c" {
		t.Errorf("%d refused, %d drafts", s.CountPlanRefusals(), len(s.Consent.Drafts))
	}
	for name, c := range map[string]struct {
		given string
		want  bool
	}{"nobody agreed": {"", false}, "agreed before": {"ada", false}} {
		s := fold(t, nexus.GoalAccepted{Consent: nexus.PlanApprovalRule{Given: c.given}})
		if s.NeedsPlanApproval() != c.want {
			t.Errorf("%s: %v", name, s.NeedsPlanApproval())
		}
	}
}
