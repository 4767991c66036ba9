package acpcmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// restoreSession loads a session with its runs, and shows their history unless the client knows it.
func (s *editorSession) restoreSession(ctx context.Context, p *app.Repository, runs []journal.RecordedRun, silent bool) error {
	s.plan, s.spent = nil, map[nexus.RunID]nexus.Money{}
	said := ""
	for i, r := range runs {
		t := s.newTracker(ctx)
		t.place, t.state = p, state.NewState(r.ID).ReadPastFrom(p.Journal.Events(ctx, r.ID, 0))
		if err := t.replayPast(ctx); err != nil {
			return err
		}
		v := s.agent.Console.RunView(r, t.state)
		s.spent[r.ID] = v.Money.Spent
		s.rememberRun(v, t.state)
		if silent {
			continue
		}
		if said != v.Goal { // the plan and the work on it have the same goal
			s.c.ReplayUserMessage(s.goalMarkdown(t.state))
			said = v.Goal
		}
		if v.Mode == nexus.Draft && v.Status == nexus.StatusDone {
			if i == len(runs)-1 { // else the work on it follows, or another goal
				t.showChanges(v)
				if err := s.showPlan(ctx, t.state); err != nil { // it can be shown later
					s.sendMarkdown("%s", fenceText(err.Error()))
				}
			}
			continue
		}
		t.showChanges(v)
		s.showAnswers(t.state)
		s.reportRun(v)
	}
	return nil
}

// goalMarkdown returns a goal as a person typed it in this session. A goal from elsewhere is put into
// a code fence.
func (s *editorSession) goalMarkdown(of *state.State) string {
	text := s.agent.Console.Mask.MaskText(of.Goal.Goal.Text)
	if of.Goal.Goal.Origin != s.c.ID {
		return fenceText(text)
	}
	return text
}

// rememberRun records the next step after a run: a plan that was not started, or the run itself.
func (s *editorSession) rememberRun(v view.RunView, of *state.State) {
	s.run, s.plan = v.ID, nil
	if plan := app.PlanOfRun(of); v.Mode == nexus.Draft && len(plan.Tasks) > 0 {
		s.plan = &proposedPlan{Plan: plan, run: v.ID, spent: app.PlanningCost(of)}
	}
}

// showAnswers shows the questions and answers of a run again.
func (s *editorSession) showAnswers(of *state.State) {
	for _, q := range of.Questions {
		if q.By != "" {
			s.sendMarkdown("**%s** %s\n\n%s: %s", q.ID, s.escapeText(q.Text), s.escapeText(q.By), s.escapeText(q.Answer))
		}
	}
}
