package progress

import (
	"context"
	"errors"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// held is the interval of the check whether a run still has a conductor.
const held = time.Second

var (
	errLeft  = errors.New("the person left")
	errAlone = errors.New("the run is no longer in progress")
)

// AttachToRun shows a run that another process conducts as if it were conducted here, and forwards
// typed input. It returns when that process is done with the run, or the person detaches, which
// does not affect the run.
func AttachToRun(ctx context.Context, a *console.Console, p *app.Repository, r journal.RecordedRun, o RunCommandOptions) error {
	s := newScreen(ctx, a, p, r.ID, o.JSONL, statusfile.Options{})
	here, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	s.leave, s.other = func() { leave(errLeft) }, true
	if a.HasPerson() {
		s.agree = o.Agree
	}
	s.showPast(ctx)
	if a.HasPerson() && !o.JSONL {
		a.Say("attached to process %d; to leave, type q and Enter, or press Ctrl-C: the run continues", r.Holder.PID)
	}
	watch := make(chan struct{})
	go func() {
		defer close(watch)
		watchConductor(here, p, r.ID, func() { leave(errAlone) })
	}()
	typing := make(chan struct{})
	go func() {
		defer close(typing)
		if a.HasPerson() {
			s.readAnswers(here, a.In, func(ctx context.Context, wish nexus.Request) error {
				wish.By = a.UserName()
				_, err := p.Journal.Ask(ctx, r.ID, wish)
				return err
			})
		}
	}()
	s.showEvents(here)
	leave(s.lost) // a run that cannot be followed any more is not shown any more
	<-watch
	<-typing
	after := context.WithoutCancel(ctx)
	if errors.Is(context.Cause(here), errAlone) {
		s.catchUp(after)
	}
	s.Finish(after, nil)
	if o.Agree != nil {
		if kept := o.Agree.Close(); kept != "" {
			a.Say("%s", kept)
		}
	}
	if errors.Is(context.Cause(here), errAlone) {
		return reportFinishedRun(after, a, p, r.ID, o)
	}
	if s.lost != nil {
		return s.lost
	}
	a.Say("run %s continues without you; nexus attach %s shows it again, nexus stop %s ends it", r.ID, r.ID, r.ID)
	if ctx.Err() != nil {
		return console.ExitError(console.CodeInterrupted)
	}
	return nil
}

// watchConductor calls gone when the run is no longer in progress.
func watchConductor(ctx context.Context, p *app.Repository, id nexus.RunID, gone func()) {
	beat := time.NewTicker(held)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
		if r, err := p.FindRun(ctx, string(id)); err == nil && r.Holder == nil {
			gone()
			return
		}
	}
}

// reportFinishedRun reports on a run whose conductor has finished, and exits as the conductor did.
func reportFinishedRun(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID, o RunCommandOptions) error {
	r, err := p.FindRun(ctx, string(id))
	if err != nil {
		return err
	}
	s, err := p.Replay(ctx, id)
	if err != nil {
		return err
	}
	return ReportUnconducted(ctx, a, p, r, s, o)
}

// ReportUnconducted reports on a run without a conductor, and exits as its conductor did.
func ReportUnconducted(ctx context.Context, a *console.Console, p *app.Repository, r journal.RecordedRun, s *state.State, o RunCommandOptions) error {
	v := a.RunView(r, s)
	if err := console.AddCauses(ctx, p, s, &v); err != nil {
		return err
	}
	if !o.JSONL {
		if err := a.Answer(v, func(st view.OutputStyle) string { return guardText(a, view.DrawReport(st, v, true)) }); err != nil {
			return err
		}
	}
	if v.Status == nexus.StatusInterrupted && s.Drain == nil {
		a.Say("its process has ended; nothing is lost, continue with: nexus resume %s", r.ID)
		return console.ExitError(console.CodeInterrupted)
	}
	return runEndError(s, v)
}
