package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/specify"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// writeSpec runs the sessions that write a spec. Each runs once, even if another process
// continues after a crash.
func (m *LocalExecutor) writeSpec(ctx context.Context, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	p := &planningSession{Worker: m.Worker, view: v, a: v.Attempt, desk: d}
	var err error
	if p.tree, err = m.Worker.Trees.AddTree(ctx, v.Run, p.a.ID, p.a.Base); err != nil {
		return nil, fmt.Errorf("make a worktree to write a spec in: %w", err)
	}
	goal := v.Goal.Goal
	var fatal error
	ask := func(ctx context.Context, q specify.SpecSessionRequest) (json.RawMessage, error) {
		if fatal != nil {
			return nil, fatal
		}
		data, refusal, err := p.runSubmittingSession(ctx, q)
		switch {
		case err != nil:
			fatal = err // no further session starts
		case refusal != nil:
			err = refusal
		}
		return data, err
	}
	var reports []specify.ResearchReportText
	if goal.Research {
		reports, err = specify.RunResearch(ctx, goal.Text, ask)
	}
	kept, keeping := p.storeReports(reports)
	if keeping != nil {
		return nil, keeping
	}
	var s spec.Spec
	var warning string
	if err == nil {
		s, warning, err = specify.WriteSpec(ctx, goal.Text, spec.SpecDepth(goal.Depth), reports, ask)
	}
	switch {
	case fatal != nil:
		return nil, fatal
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		failed := nexus.SpecWritingFailed{Attempt: p.a.ID, Why: err.Error(), Reports: kept}
		if e, ok := errors.AsType[*nexus.Error](err); ok {
			failed.Code = e.Code
		}
		return []nexus.Fact{failed}, p.tree.Remove(ctx)
	}
	hash, err := m.Worker.Site.Blobs.Put(spec.FormatMarkdown(s))
	if err != nil {
		return nil, err
	}
	return []nexus.Fact{nexus.SpecWritten{Attempt: p.a.ID, Spec: hash, Warning: warning, Reports: kept}}, p.tree.Remove(ctx)
}

// storeReports stores the reports.
func (p *planningSession) storeReports(reports []specify.ResearchReportText) (all []nexus.ResearcherReport, err error) {
	for _, r := range reports {
		hash, err := p.Worker.Site.Blobs.Put([]byte(r.Text))
		if err != nil {
			return nil, err
		}
		all = append(all, nexus.ResearcherReport{Topic: r.Topic, Text: hash})
	}
	return all, nil
}

// runSubmittingSession runs a session, or reads its result. The refusal explains why nothing was
// submitted; an error is one of the machinery, or an interruption.
func (p *planningSession) runSubmittingSession(ctx context.Context, q specify.SpecSessionRequest) (data json.RawMessage, refusal *nexus.Error, err error) {
	old := p.a.SessionByID(q.Session)
	if old != nil && old.Over {
		if old.Outcome != nexus.Accepted || old.Result == "" {
			return nil, missingSubmissionError(q.Role, old.Outcome, ""), nil
		}
		data, err = p.Worker.Site.Blobs.Get(old.Result)
		return data, nil, err
	}
	next, why := q.Text, "brief"
	if old != nil && len(old.Messages) > 0 {
		next, why = "", ""
	}
	o, err := p.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
		Attempt: p.a, Session: q.Session, Role: q.Role, Tree: p.tree, Base: p.view.Goal.Base, Goal: p.view.Goal.Goal.Text,
		Next: next, Why: why, Handin: q.Handin, Limits: p.view.Limits, Record: p.recordFacts,
	}, p.desk)
	switch {
	case err != nil:
		return nil, nil, fmt.Errorf("%s: %w", q.Session, err)
	case o.Outcome != nexus.Accepted:
		return nil, missingSubmissionError(q.Role, o.Outcome, o.Why), nil
	}
	return o.Handin, nil, nil
}

// missingSubmissionError returns the error of a session that ended without a submission.
func missingSubmissionError(role nexus.Role, outcome nexus.Outcome, why string) *nexus.Error {
	code := nexus.CodeNothingProposed
	switch outcome {
	case nexus.Exhausted:
		code = nexus.CodeLimit
	case nexus.Refused:
		code = nexus.CodeBudget
	default:
	}
	message := fmt.Sprintf("the %s submitted nothing: %s", role, outcome)
	if why != "" {
		message += ": " + why
	}
	return &nexus.Error{Code: code, Message: message, Hint: "Try again with a higher limit or another model."}
}
