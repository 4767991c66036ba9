package runreport_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
	"github.com/nexus-ai-builder/nexus/internal/view/runreport"
)

// made returns the report of a run with these tasks.
func made(run view.RunView, change func(*runreport.ReportInput), tasks ...*state.TaskState) runreport.Report {
	s := state.NewState("r1")
	facts := []nexus.Fact{nexus.GoalAccepted{Goal: nexus.Goal{Text: "Do it"}, Base: "c0"}, nexus.RunStarted{}, nexus.PlanProposed{Plan: "p", Tasks: len(tasks)}}
	for _, t := range tasks {
		facts = append(facts, nexus.TaskPlanned{Task: t.Task})
	}
	for i, f := range facts {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), Run: "r1", At: start(), Fact: f}); err != nil {
			panic(err)
		}
	}
	for i, t := range tasks {
		s.Tasks[i].Status, s.Tasks[i].Route = t.Status, t.Route
	}
	for len(run.Tasks) < len(tasks) {
		run.Tasks = append(run.Tasks, view.TaskView{ID: tasks[len(run.Tasks)].ID})
	}
	o := runreport.ReportInput{State: s, Run: run, Now: start().Add(time.Hour)}
	if change != nil {
		change(&o)
	}
	return runreport.NewRunReport(o)
}

// TestTime adds up what machines did at the same time, and counts time in which several
// things waited for people once.
func TestTime(t *testing.T) {
	at := func(minutes int) time.Time { return start().Add(time.Duration(minutes) * time.Minute) }
	span := func(stage string, from, to int) projection.TimelineSpan {
		return projection.TimelineSpan{Stage: stage, From: at(from), To: at(to)}
	}
	r := made(view.RunView{Seconds: 3600}, func(o *runreport.ReportInput) {
		o.Timeline = projection.RunTimeline{From: at(0), To: at(60), Rows: []projection.TimelineRow{
			{Spans: []projection.TimelineSpan{span("plan", 0, 5), span("person", 5, 15)}},
			{Spans: []projection.TimelineSpan{span("setup", 15, 16), span("work", 16, 26), span("gate", 26, 29), span("review", 29, 31), span("person", 40, 50), span("idle", 50, 60)}},
			{Spans: []projection.TimelineSpan{span("work", 16, 20), span("quota", 20, 27), span("person", 35, 45), span("person", 41, 44), span("land", 45, 46), {Stage: "gate", From: at(56)}}},
		}}
	})
	want := runreport.RunDuration{
		Worked: 3600, People: 25 * 60, Plan: 5 * 60, Setup: 60, Agents: 14 * 60, Gates: 7 * 60, Review: 2 * 60, Landing: 60, Quota: 7 * 60,
	}
	if d := cmp.Diff(want, r.Time); d != "" {
		t.Error(d)
	}
}

// TestAgainstTheEstimate adds up what tasks were thought to take, of those that somebody
// estimated; a task that was split is its parts, and one without a price has a time alone.
func TestAgainstTheEstimate(t *testing.T) {
	task := func(id nexus.TaskID, status nexus.TaskStatus, e *nexus.TaskEstimate) *state.TaskState {
		return &state.TaskState{Task: nexus.Task{ID: id}, Status: status, Route: &nexus.StartTierChosen{Estimate: e}}
	}
	const cent = nexus.Dollar / 100
	guess := func(cents nexus.Money, seconds int64) *nexus.TaskEstimate {
		e := &nexus.TaskEstimate{}
		e.Low.Money, e.Likely.Money, e.High.Money = cents*cent, 2*cents*cent, 5*cents*cent
		e.Likely.Seconds = seconds
		return e
	}
	free := guess(0, 40)
	free.Unpriced = true
	r := made(view.RunView{}, nil, task("T1", nexus.Landed, guess(10, 100)), task("T2", nexus.Split, guess(70, 700)), task("T2.1", nexus.Parked, guess(3, 20)),
		task("T3", nexus.Pending, free), task("T4", nexus.Pending, nil), &state.TaskState{Task: nexus.Task{ID: "T5"}})
	want := runreport.ReportCost{Low: 13 * cent, Likely: 26 * cent, High: 65 * cent, Estimated: 2}
	have := runreport.ReportCost{Low: r.Money.Low, Likely: r.Money.Likely, High: r.Money.High, Estimated: r.Money.Estimated}
	if d := cmp.Diff(want, have); d != "" || r.Time.Likely != 160 {
		t.Errorf("%s\n%v seconds", d, r.Time.Likely)
	}
}

// TestLookAt lists what a person should look at before the result is used, and nothing
// of what is fine or is no part of the result.
func TestLookAt(t *testing.T) {
	landed := &state.TaskState{Task: nexus.Task{ID: "T1"}, Status: nexus.Landed}
	parked := &state.TaskState{Task: nexus.Task{ID: "T2"}, Status: nexus.Parked}
	run := view.RunView{
		Asks:   []view.OpenQuestion{{ID: "q1", Task: "T2", Text: "which?"}},
		Alerts: []state.RaisedAlert{{AlertRaised: nexus.AlertRaised{Why: "900M are free"}}, {AlertRaised: nexus.AlertRaised{Why: "it is over"}, Cleared: start()}},
		Late:   []view.LateGuidance{{Task: "T1", Text: "use tabs"}},
		Tasks: []view.TaskView{
			{ID: "T1", Own: []string{"it changed a_test.go"}, Critical: []nexus.Finding{{File: "a.go", Message: "an old key"}}},
			{ID: "T2"},
		},
	}
	r := made(run, func(o *runreport.ReportInput) {
		row := func(task nexus.TaskID, id string, s accept.CriterionState) accept.CriterionRow {
			return accept.CriterionRow{Task: task, ID: id, Criterion: "it works", State: s}
		}
		waived, why := row("T1", "T1/AC-3", accept.Unmet), row("T1", "T1/AC-4", accept.Unknown)
		waived.Waived, why.Why = &accept.CriterionWaiver{By: "ada"}, "nothing shows it"
		o.Criteria.Rows = []accept.CriterionRow{row("T1", "T1/AC-1", accept.Met), row("T1", "T1/AC-2", accept.Unmet), waived, why, row("T2", "T2/AC-1", accept.Unmet)}
		remark := []nexus.Finding{{File: "a.go", Line: 3, Message: "long", Severity: nexus.Minor}}
		o.Quality.Tasks = []runquality.TaskQuality{{ID: "T1", Status: nexus.Landed, Remarks: remark}, {ID: "T2", Status: nexus.Parked, Remarks: remark}}
	}, landed, parked)
	want := []runreport.AttentionPoint{
		{Task: "T2", Kind: "question", Text: "q1 waits for an answer: which?"},
		{Task: "T1", Kind: "criterion", Text: "T1/AC-2 is unmet: it works"},
		{Task: "T1", Kind: "criterion", Text: "T1/AC-3 is unmet: it works (waived by ada: no reason given)"},
		{Task: "T1", Kind: "criterion", Text: "T1/AC-4 is unknown: it works (nothing shows it)"},
		{Task: "T1", Kind: "tests", Text: "it changed a_test.go"},
		{Task: "T1", Kind: "critical", Text: "a.go  an old key"},
		{Task: "T1", Kind: "finding", Text: "minor: a.go:3: long"},
		{Task: "T1", Kind: "late", Text: "was sent too late: use tabs"},
		{Kind: "alert", Text: "900M are free"},
	}
	if d := cmp.Diff(want, r.LookAt); d != "" {
		t.Error(d)
	}
}
