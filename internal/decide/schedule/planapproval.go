package schedule

import (
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// decideConsent asks whether the plan may be carried out, and applies the answer: a yes starts the
// plan, a no with a reason rejects it and starts another one, and a plain no ends the run.
func decideConsent(s *state.State, now time.Time) []nexus.Fact {
	q := s.PlanQuestion()
	switch {
	case q == nil, q.By == "fallback":
		return factList(askAboutPlan(s, s.NextQuestionID(), now))
	case q.By == "" && s.Alone && !q.Left:
		return factList(nexus.QuestionExpired{ID: q.ID})
	case q.By == "" && q.Left && s.Consent.Anew && !s.Alone:
		return factList(askAboutPlan(s, q.ID, now)) // a person may be available now
	case q.By == "" && q.Left:
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: "not started: the plan waits for consent, see " + q.ID})
	case q.By == "":
		return nil
	case nexus.IsYes(q.Answer):
		return approvePlan(s, q.By)
	}
	why := nexus.RequestedChangeIn(q.Answer)
	switch {
	case why == "":
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: "not started: the plan was not approved by " + q.By})
	case s.CountPlanRefusals() >= s.Limits.Refusals:
		why = "not started: the plan was refused again, and only %d other plans are made; " +
			"nexus resume asks about the last one again, and nexus approve takes it edited with --plan FILE"
		return factList(nexus.RunEnded{Status: nexus.StatusWaiting, Why: fmt.Sprintf(why, s.Limits.Refusals)})
	}
	return factList(nexus.PlanRejected{Question: q.ID, Why: why, By: q.By})
}

// approvePlan lets the tasks of the plan start, if they can.
func approvePlan(s *state.State, by string) []nexus.Fact {
	approved := nexus.PlanApproved{By: by}
	if err := s.CheckFacts(approved); err != nil {
		return factList(nexus.RunEnded{Status: nexus.StatusFailed, Why: "the plan cannot be worked on: " + err.Error()})
	}
	return factList(approved)
}

// askAboutPlan asks about the present plan.
func askAboutPlan(s *state.State, id string, now time.Time) nexus.QuestionAsked {
	q := nexus.QuestionAsked{ID: id, Text: planQuestion(s), Fallback: nexus.Unapproved, Trigger: humaninput.PlanTrigger}
	switch {
	case s.Alone:
		q.Deadline = now
	case s.Patience > 0:
		q.Deadline = now.Add(s.Patience)
	}
	return q
}

// Limits of the question's text, in bytes: a client that shows it for approval refuses a
// longer one.
const (
	mostPlan   = 900
	mostChange = 300
)

// planQuestion returns the text of the question, the same for each channel: the plan, its
// maximum cost, and the differences from the plan before.
func planQuestion(s *state.State) string {
	tasks := make([]nexus.Task, len(s.Tasks))
	words := make([]string, len(s.Tasks))
	for i, t := range s.Tasks {
		tasks[i], words[i] = t.Task, string(t.ID)+" "+t.Title
	}
	named := sanitize.TruncateText(strings.Join(words, "; "), mostPlan)
	text := fmt.Sprintf("may this plan start? %s, at most %s for the run: %s", countTasks(len(tasks)), s.Limits.RunMoney, named)
	if n := len(s.Consent.Drafts); n > 0 {
		text += ". Compared with the plan before: " + sanitize.TruncateText(plandiff.SummaryText(plandiff.DiffTasks(s.PlanVersion(n-1), tasks)), mostChange)
	}
	return text + fmt.Sprintf(" (nexus plan --run %s shows all of it)", s.Run)
}

// countTasks formats a number of tasks.
func countTasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}

// amendPlan replaces the plan that waits for approval by a person's version, and approves it if
// the person does.
func amendPlan(s *state.State, r state.PendingRequest, no func(string, ...any) []nexus.Fact, yes func(...nexus.Fact) []nexus.Fact) []nexus.Fact {
	q := s.PlanQuestion()
	switch {
	case r.Plan == nil || len(r.Plan.Tasks) == 0:
		return no("the plan has no tasks")
	case s.Planned || s.Proposed == 0:
		return no("no plan waits for consent")
	case q == nil || q.ID != r.ID || q.By != "":
		return no("no open question about the plan has the id %q", r.ID)
	}
	revised := nexus.PlanRevised{Tasks: len(r.Plan.Tasks), By: requesterName(r), Assumptions: r.Plan.Assumptions, Foreseen: r.Plan.Foreseen}
	if goal := strings.TrimSpace(r.Plan.Goal); goal != s.Goal.Goal.Text {
		revised.Goal = goal
	}
	answered := nexus.QuestionAnswered{ID: q.ID, Text: "edited", By: requesterName(r)}
	if nexus.IsYes(r.Text) {
		answered.Text = r.Text
	}
	all := factList(answered, revised)
	for _, t := range r.Plan.Tasks {
		all = append(all, nexus.TaskPlanned{Task: t})
	}
	if nexus.IsYes(r.Text) {
		all = append(all, nexus.PlanApproved{By: requesterName(r)})
	} else if _, err := taskgraph.NewTaskGraph(r.Plan.Tasks); err != nil {
		return no("%v", err)
	}
	if err := s.CheckFacts(all...); err != nil {
		return no("%v", err)
	}
	return yes(all...)
}
