// Package precheck checks, before a run begins, whether it can start.
package precheck

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/doctor"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// Check checks, before a run begins, whether it can start. Its notices become the run's first
// facts; an error prevents the run.
func Check(ctx context.Context, a *console.Console, p *app.Repository, o *app.RunOptions) error {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	o.Yours = checkcmd.InPlace(a, p.Repo)
	if err := o.OpenReplay(&a.App); err != nil {
		return err
	}
	r := doctor.CheckBeforeRun(ctx, a, p, settings, doctor.Options{Light: true, Run: true, Shown: hasCheckCommands(o.Plan), Trust: app.CheckTrust, Models: func() error { return a.CheckModels(settings, *o) }})
	if a.HasPerson() && !o.Headless {
		err := r.AskPerson(func(c doctor.Check, question string) (bool, error) {
			a.Ask(c.Name + ": " + view.EscapeForTerminal(c.Detail) + "\n" + view.EscapeForTerminal(c.Hint) + "\n")
			answer, err := a.Keyboard().AskLine(ctx, question+" [y/N]: ")
			return nexus.IsYes(answer), err
		})
		if err != nil {
			return err
		}
	}
	if err := r.BlockingError(); err != nil {
		return progress.RecordStartFailure(a, settings, o.Goal, err)
	}
	for _, c := range r.Notices() {
		a.Say("notice: %s: %s", c.Name, view.EscapeForTerminal(c.Detail))
	}
	o.Checked = &nexus.RunPrechecked{Strict: r.Strict, Skipped: r.Skipped, Notices: r.NoticeLines()}
	return nil
}

// hasCheckCommands reports whether each task of a plan has a command that verifies it.
func hasCheckCommands(p *nexus.Plan) bool {
	command := func(c nexus.Criterion) bool { _, ok := detect.CriterionGate(c); return ok }
	return p != nil && !slices.ContainsFunc(p.Tasks, func(t nexus.Task) bool { return !slices.ContainsFunc(t.Criteria, command) })
}
