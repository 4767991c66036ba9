// Package linemode shows a run in output that cannot be redrawn: pipes and CI. It writes a line
// for each change of state, with the time, the subject and its cost; a heartbeat each minute; and
// a table of the tasks at the end. On GitHub Actions it folds long parts into groups and
// annotates failures, and no text from outside can act as a command there.
//
// It is pure except for [RunHeartbeat]: the same events give the same lines.
package linemode

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Heartbeat is the interval of the run's signs of life.
const Heartbeat = time.Minute

// EventLogDrawer draws the events of a run. It belongs to one goroutine.
type EventLogDrawer struct {
	Said    view.EventLineDrawer
	Style   view.OutputStyle
	Actions bool           // on GitHub Actions
	Zone    *time.Location // of the times; nil: the machine's

	open bool // a group is open
}

// DrawEvent draws an event that the state has applied, without the last newline. It is empty for an
// event that is not worth a line.
func (l *EventLogDrawer) DrawEvent(s *state.State, e nexus.Event) string {
	text := l.Said.Draw(l.Style, e)
	if text == "" {
		return ""
	}
	line := l.timePrefix(e.At) + text + costSuffix(s, e.Fact)
	if !l.Actions {
		return line
	}
	var all []string
	for _, part := range []string{l.planGroupMarker(e.Fact), GuardActionsOutput(line), foldFindings(e.Fact), annotationCommand(e.Fact, s)} {
		if part != "" {
			all = append(all, part)
		}
	}
	return strings.Join(all, "\n")
}

// timePrefix returns the time at the beginning of a line.
func (l *EventLogDrawer) timePrefix(t time.Time) string {
	zone := l.Zone
	if zone == nil {
		zone = time.Local
	}
	return t.In(zone).Format(time.TimeOnly) + " "
}

// costSuffix returns the cost of a fact's task or planning, and the duration of a task that has
// ended; at the end of the run, the total cost. It is empty if there was no cost.
func costSuffix(s *state.State, f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.PlanProposed, nexus.PlanningFailed, nexus.InterviewRoundEnded, nexus.InterviewRoundFailed, nexus.SpecWritten, nexus.SpecWritingFailed:
		return attemptCost(s.Planning)
	case nexus.AdditionTasksProposed:
		return attemptCost(s.AttemptByID(f.Attempt))
	case nexus.AdditionPlanningFailed:
		return attemptCost(s.AttemptByID(f.Attempt))
	case nexus.RunEnded:
		return moneySuffix(s.Ledger.SpentMoney())
	default:
	}
	t := taskOfFact(s, f)
	if t != nil && t.Spent > 0 && t.Status.HasEnded() && t.Worked > 0 {
		return fmt.Sprintf(" (%s, %s)", view.FormatSeconds(t.Worked.Seconds()), t.Spent)
	}
	if t == nil {
		return ""
	}
	return moneySuffix(t.Spent)
}

// attemptCost returns the cost of an attempt, empty for no attempt.
func attemptCost(a *state.AttemptState) string {
	if a == nil {
		return ""
	}
	return moneySuffix(a.SessionCost())
}

// moneySuffix formats money at the end of a line, empty for none.
func moneySuffix(m nexus.Money) string {
	if m == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s)", m)
}

// taskOfFact returns the task of a fact, nil for none.
func taskOfFact(s *state.State, f nexus.Fact) *state.TaskState {
	about, _ := view.DescribeFact(f)
	attempt, _, _ := strings.Cut(about, "/")
	if a := s.AttemptByID(nexus.AttemptID(attempt)); a != nil {
		return s.TaskByID(a.Task)
	}
	return s.TaskByID(nexus.TaskID(about))
}

// RunHeartbeat calls say each minute, until the context ends.
func RunHeartbeat(ctx context.Context, say func(now time.Time)) {
	t := time.NewTicker(Heartbeat)
	defer t.Stop()
	for {
		select {
		case now := <-t.C:
			say(now)
		case <-ctx.Done():
			return
		}
	}
}

// HeartbeatLine returns the line of a heartbeat.
func (l *EventLogDrawer) HeartbeatLine(r view.RunView, now time.Time) string {
	parts := []string{string(r.Status)}
	if c := r.Counts; c.Total > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d landed", c.Landed, c.Total), fmt.Sprintf("%d active", c.Active))
	}
	if r.Waiting > 0 {
		parts = append(parts, fmt.Sprintf("%d waiting for you", r.Waiting))
	}
	parts = append(parts, view.FormatSeconds(r.Seconds), fmt.Sprintf("%s of %s", r.Money.Spent, r.Money.Limit))
	line := l.timePrefix(now) + strings.Join(parts, ", ")
	var doing []string
	if r.Now != nil {
		doing = append(doing, r.Now.Text())
	}
	for _, t := range r.Tasks {
		if t.Now != nil {
			doing = append(doing, string(t.ID)+" "+t.Now.Text())
		}
	}
	const most = 8
	if n := len(doing); n > most {
		doing = append(doing[:most:most], fmt.Sprintf("and %d more", n-most))
	}
	if len(doing) > 0 {
		line += "; " + strings.Join(doing, "; ")
	}
	return l.guardText(line)
}

// EndTable returns the table of the tasks at the end of a run, empty for a run without tasks. It
// ends an open group.
func (l *EventLogDrawer) EndTable(r view.RunView) string {
	out := l.endGroup()
	if len(r.Tasks) == 0 {
		return out
	}
	rows := make([][]string, 0, len(r.Tasks))
	for _, t := range r.Tasks {
		took := ""
		if t.Seconds > 0 {
			took = view.FormatSeconds(t.Seconds)
		}
		rows = append(rows, []string{
			string(t.Status), string(t.ID), took, t.Spent.String(), fmt.Sprint(t.Attempts), fmt.Sprint(t.Rounds), view.FirstLine(t.Title),
		})
	}
	landed := fmt.Sprintf("%d of %d landed", r.Counts.Landed, r.Counts.Total)
	rows = append(rows, []string{
		string(r.Status), "total", view.FormatSeconds(r.Seconds), r.Money.Spent.String(), "", fmt.Sprint(r.Rounds), landed,
	})
	table := view.DrawTable(view.OutputStyle{ASCII: l.Style.ASCII}, []string{"status", "task", "time", "cost", "attempts", "rounds", "title"}, rows)
	return out + l.guardText(strings.TrimSuffix(table, "\n")) + "\n"
}

func (l *EventLogDrawer) guardText(text string) string {
	if !l.Actions {
		return text
	}
	return GuardActionsOutput(text)
}

// planGroupMarker begins a group with the plan, because it has many lines, and ends it with the
// first fact of the work.
func (l *EventLogDrawer) planGroupMarker(f nexus.Fact) string {
	switch f.(type) {
	case nexus.PlanProposed:
		begin := l.endGroup() + "::group::plan"
		l.open = true
		return begin
	case nexus.TaskPlanned, nexus.PlanCoverageChecked, nexus.StartTierChosen, nexus.ReviewModelChosen, nexus.AssumptionStated, nexus.SharedSessionGroupFormed:
		return ""
	default:
		return strings.TrimSuffix(l.endGroup(), "\n")
	}
}

// endGroup ends an open group.
func (l *EventLogDrawer) endGroup() string {
	if !l.open {
		return ""
	}
	l.open = false
	return "::endgroup::\n"
}

// mostFindings limits the findings of a gate that a group lists.
const mostFindings = 20

// foldFindings folds the findings of a failed gate.
func foldFindings(f nexus.Fact) string {
	g, ok := f.(nexus.GateJudged)
	if !ok || g.Base || !g.Evidence.State.IsRed() || len(g.Evidence.Findings) < 2 {
		return ""
	}
	of, count := cmp.Or(string(g.Attempt), string(g.Task)), view.CountWithNoun(len(g.Evidence.Findings), "finding")
	lines := []string{"::group::" + escapeData(fmt.Sprintf("%s %s: %s", of, g.Evidence.Gate, count))}
	for n, x := range g.Evidence.Findings {
		if n == mostFindings {
			lines = append(lines, fmt.Sprintf("and %d more", len(g.Evidence.Findings)-n))
			break
		}
		lines = append(lines, GuardActionsOutput(view.EscapeForTerminal(view.FindingText(x))))
	}
	return strings.Join(append(lines, "::endgroup::"), "\n")
}

// annotationCommand returns the annotation of a final failure, or of something that waits for a person.
func annotationCommand(f nexus.Fact, s *state.State) string {
	switch f := f.(type) {
	case nexus.TaskParked:
		word := "parked"
		if f.Failed {
			word = "failed"
		}
		return workflowCommand("error", annotatedFinding(s.TaskByID(f.Task)), fmt.Sprintf("%s %s", f.Task, word), f.Why)
	case nexus.RunEnded:
		if f.Status == nexus.StatusDone {
			return ""
		}
		return workflowCommand("error", nexus.Finding{}, "run "+string(f.Status), cmp.Or(f.Why, "the run ended as "+string(f.Status)))
	case nexus.QuestionAsked:
		return workflowCommand("warning", nexus.Finding{}, f.ID+" needs an answer", f.Text)
	case nexus.AlertRaised:
		return workflowCommand("warning", nexus.Finding{}, "alert", view.AlertText(f))
	case nexus.BudgetRefused:
		_, text := view.DescribeFact(f)
		return workflowCommand("warning", nexus.Finding{}, "budget", text)
	default:
		return ""
	}
}

// annotatedFinding returns the first finding of a failed gate in the last judged round of a
// task's work, which is the position of its annotation. A resubmission of refused work is not
// judged.
func annotatedFinding(t *state.TaskState) nexus.Finding {
	if t == nil {
		return nexus.Finding{}
	}
	for _, a := range slices.Backward(t.Attempts) {
		for _, r := range slices.Backward(a.Rounds) {
			if r.Verdict != nil || len(r.Evidence) > 0 {
				return firstRedFinding(r.Evidence)
			}
		}
	}
	return nexus.Finding{}
}

func firstRedFinding(evidence []nexus.GateEvidence) nexus.Finding {
	for _, e := range evidence {
		if e.State.IsRed() {
			for _, f := range e.Findings {
				if f.File != "" {
					return f
				}
			}
		}
	}
	return nexus.Finding{}
}
