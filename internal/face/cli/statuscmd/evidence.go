package statuscmd

import (
	"context"
	"errors"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/traceability"
)

// showEvidence shows the criteria of the run, or of a task in it, with the evidence. A criterion
// may be named, too.
func showEvidence(ctx context.Context, o *Options, p *app.Repository, s app.RunSubject) error {
	t, err := p.CriteriaTable(ctx, s.State)
	if err != nil {
		return err
	}
	if s.Part() != "" {
		task := s.Task
		if s.Session != "" {
			task = sessionTask(s)
		}
		t = t.Narrow(func(r accept.CriterionRow) bool { return r.Task == task || r.ID == o.Name })
		if len(t.Rows) == 0 {
			return app.NotFoundError("criterion of", o.Name, "nexus status --evidence lists all of the run.")
		}
	}
	if err := o.Console.Answer(t, func(s view.OutputStyle) string { return view.DrawCriteria(s, t) }); err != nil {
		return err
	}
	switch unmet, unknown := t.CountOpen(); {
	case unmet > 0:
		return console.ExitError(console.CodeFailed)
	case unknown > 0:
		return console.ExitError(console.CodePartial)
	}
	return nil
}

// showTrace shows the tasks, tests and commits of the requirements of a run, of a task in it, or of
// a spec.
func showTrace(ctx context.Context, o *Options) error {
	p, err := o.Console.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	t, ok, err := speccmd.TraceSpec(ctx, o.Console, p, o.Name)
	if err != nil {
		return err
	}
	if !ok {
		if t, err = traceSubject(ctx, o, p); err != nil {
			return err
		}
	}
	if err := o.Console.Answer(t, func(s view.OutputStyle) string { return view.DrawGoalTrace(s, t) }); err != nil {
		return err
	}
	if t.Gaps > 0 || t.Why != "" {
		return console.ExitError(console.CodePartial)
	}
	return nil
}

func traceSubject(ctx context.Context, o *Options, p *app.Repository) (traceability.GoalTrace, error) {
	s, err := o.Console.FindSubject(ctx, p, o.Run, o.Name)
	if e, ok := errors.AsType[*nexus.Error](err); ok && e.Code == nexus.CodeNotFound && o.Name != "" {
		return traceability.GoalTrace{}, &nexus.Error{
			Code: e.Code, Message: e.Message, Hint: e.Hint + " The specs of a repository are in " + speccmd.Folder + ".", Cause: e.Cause,
		}
	}
	if err != nil {
		return traceability.GoalTrace{}, err
	}
	t, err := speccmd.TraceRun(ctx, p, s.State)
	if err != nil || s.Part() == "" {
		return t, err
	}
	task := s.Task
	if s.Session != "" {
		task = sessionTask(s)
	}
	t.Gaps = 0
	t.Rows = slices.DeleteFunc(t.Rows, func(r traceability.StatementProgress) bool {
		return !slices.ContainsFunc(r.Tasks, func(x traceability.StatementTask) bool { return x.ID == task })
	})
	for _, r := range t.Rows {
		if r.Gap != "" {
			t.Gaps++
		}
	}
	return t, nil
}
