package speccmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/trace"
)

func traceCommand(a *console.Console) *cobra.Command {
	const short = "show which tasks, tests and commits each requirement led to"
	c := a.Command("trace [RUN | SPEC] [--json]", short, func(ctx context.Context, args []string) error {
		t, err := TraceOf(ctx, a, console.FirstArg(args))
		if err != nil {
			return err
		}
		if err := a.Answer(t, func(s view.Style) string { return view.DrawTrace(s, t) }); err != nil {
			return err
		}
		if t.Gaps > 0 || t.Why != "" {
			return console.ExitError(console.CodePartial)
		}
		return nil
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial)
	c.Args = console.ArgCount(0, 1)
	a.JSONFlag(c)
	return c
}

// TraceOf traces the requirements of a run or a spec.
func TraceOf(ctx context.Context, a *console.Console, name string) (trace.StatementTrace, error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return trace.StatementTrace{}, err
	}
	defer p.Close()
	text, err := specText(a, name)
	if err != nil {
		return trace.StatementTrace{}, err
	}
	if text == "" {
		r, err := p.Run(ctx, name)
		if err != nil {
			return trace.StatementTrace{}, err
		}
		s, rows, err := runCriteria(ctx, p, r.ID)
		if err != nil {
			return trace.StatementTrace{}, err
		}
		return trace.TraceGoal(s.Goal.Goal.Text, s, rows), nil
	}
	all, err := PastRuns(ctx, p, func(*state.State) bool { return true })
	return trace.TraceSpec(text, "", all), err
}

// specText returns the text of a spec, named by file or by name; empty if there is none.
func specText(a *console.Console, name string) (string, error) {
	if name == "" {
		return "", nil
	}
	dir, err := a.WorkDir()
	if err != nil {
		return "", err
	}
	for _, file := range []string{name, filepath.Join(app.WorkTreeRoot(dir), Folder, name+".md")} {
		if strings.ContainsAny(name, `/\`) && file != name {
			continue
		}
		data, err := os.ReadFile(file)
		switch {
		case err != nil && file == name && strings.HasSuffix(name, ".md") && !errors.Is(err, os.ErrNotExist):
			return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: "read the spec", Cause: err, Hint: "Name a file that can be read."}
		case err != nil:
			continue
		}
		return string(data), Check(name, data)
	}
	if strings.HasSuffix(name, ".md") {
		return "", app.NotFoundError("spec", name, "The specs of a repository are in "+Folder+".")
	}
	return "", nil
}

// PastRuns returns the results of the repository's runs, the newest first; lands reports whether the
// landed changes of a run are on their target.
func PastRuns(ctx context.Context, p *app.Repository, lands func(*state.State) bool) ([]trace.PastRun, error) {
	runs, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var all []trace.PastRun
	for _, r := range slices.Backward(runs) {
		s, rows, err := runCriteria(ctx, p, r.ID)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.ID, err)
		}
		if len(s.Tasks) > 0 {
			all = append(all, trace.PastRun{State: s, Criteria: rows, Lands: lands(s)})
		}
	}
	return all, nil
}

// runCriteria returns a run and the known results of its criteria.
func runCriteria(ctx context.Context, p *app.Repository, run nexus.RunID) (*state.State, []accept.CriterionRow, error) {
	s, err := p.Replay(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	var events []nexus.Event
	for e, err := range p.Journal.Events(ctx, run, 0) {
		if err != nil {
			return nil, nil, err
		}
		if _, ok := e.Fact.(nexus.RequestMade); ok {
			events = append(events, e)
		}
	}
	return s, accept.TableOf(s, accept.WaiversFrom(events)).Rows, nil
}
