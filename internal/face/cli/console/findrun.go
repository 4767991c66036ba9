package console

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// FindRun returns the run with a name, or the default run for "", and says which run that is.
func (a *Console) FindRun(ctx context.Context, p *app.Repository, name string) (journal.RecordedRun, error) {
	c, err := p.ChooseRun(ctx, name)
	if err != nil {
		return c.RecordedRun, err
	}
	a.sayRun(c)
	return c.RecordedRun, nil
}

// FindRunToWatch is [Console.FindRun] for commands that follow what happens: if no run is in
// progress, the loop in progress is the default.
func (a *Console) FindRunToWatch(ctx context.Context, p *app.Repository, name string) (journal.RecordedRun, error) {
	c, err := p.ChooseRun(ctx, name)
	if err != nil {
		return c.RecordedRun, err
	}
	if !c.Named && c.Holder == nil {
		loop, err := p.ActiveLoop(ctx)
		if err != nil {
			return c.RecordedRun, err
		}
		if loop != nil {
			c.RecordedRun = *loop
		}
	}
	a.sayRun(c)
	return c.RecordedRun, nil
}

// FindSubject is [app.Repository.FindSubject], and says which run is meant if none is named.
func (a *Console) FindSubject(ctx context.Context, p *app.Repository, run, name string) (app.RunSubject, error) {
	s, err := p.FindSubject(ctx, run, name)
	if err != nil {
		return s, err
	}
	a.sayRun(s.RunChoice)
	return s, nil
}

// sayRun says which run a command is about if nobody named it. JSON output has the run in it.
func (a *Console) sayRun(c app.RunChoice) {
	if !c.Named && !a.JSON {
		a.Say("%s", view.EscapeForTerminal(c.String()))
	}
}

// ReadRun is [app.App.WithRunForReading], and says which run is meant if none is named.
func (a *Console) ReadRun(ctx context.Context, name string, f func(p *app.Repository, r journal.RecordedRun, s *state.State) error) error {
	return a.ReadSubject(ctx, name, "", func(p *app.Repository, s app.RunSubject) error { return f(p, s.RecordedRun, s.State) })
}

// ChangeRun is [Console.ReadRun] for commands that change the run.
func (a *Console) ChangeRun(ctx context.Context, name string, f func(p *app.Repository, r journal.RecordedRun, s *state.State) error) error {
	return a.openSubject(ctx, app.ChangeAccess, name, "", func(p *app.Repository, s app.RunSubject) error { return f(p, s.RecordedRun, s.State) })
}

// ReadSubject opens the repository for reading, and passes f what the names mean.
func (a *Console) ReadSubject(ctx context.Context, run, name string, f func(*app.Repository, app.RunSubject) error) error {
	return a.openSubject(ctx, app.ReadAccess, run, name, f)
}

// ChangeSubject is [Console.ReadSubject] for commands that change the run.
func (a *Console) ChangeSubject(ctx context.Context, run, name string, f func(*app.Repository, app.RunSubject) error) error {
	return a.openSubject(ctx, app.ChangeAccess, run, name, f)
}

func (a *Console) openSubject(ctx context.Context, want app.RepositoryAccessMode, run, name string, f func(*app.Repository, app.RunSubject) error) error {
	p, err := a.OpenRepository(ctx, want)
	if err != nil {
		return err
	}
	defer p.Close()
	s, err := a.FindSubject(ctx, p, run, name)
	if err != nil {
		return err
	}
	return f(p, s)
}

// RunFlag gives a command --run.
func (a *Console) RunFlag(c *cobra.Command, run *string) {
	c.Flags().StringVar(run, "run", "", "the `RUN`; if not given, the run in progress, else the latest")
}

// NamedRun returns the run that a command line names as an argument or with --run; "" if neither
// does.
func NamedRun(flag string, args []string) (string, error) {
	arg := FirstArg(args)
	if arg != "" && flag != "" && arg != flag {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "two runs are named: " + view.QuoteForTerminal(arg) + " and --run " + view.QuoteForTerminal(flag), Hint: "Name one.",
		}
	}
	return cmp.Or(arg, flag), nil
}
