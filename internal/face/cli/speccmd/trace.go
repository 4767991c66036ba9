package speccmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/traceability"
)

// TraceSpec traces the requirements of a spec, named by file or by name, over all runs; false if
// there is no such spec.
func TraceSpec(ctx context.Context, a *console.Console, p *app.Repository, name string) (t traceability.GoalTrace, ok bool, err error) {
	text, err := specText(a, name)
	if err != nil || text == "" {
		return t, false, err
	}
	all, err := PastRuns(ctx, p, func(*state.State) bool { return true })
	return traceability.TraceSpec(text, "", all), true, err
}

// TraceRun traces the requirements of a run.
func TraceRun(ctx context.Context, p *app.Repository, s *state.State) (traceability.GoalTrace, error) {
	t, err := p.CriteriaTable(ctx, s)
	if err != nil {
		return traceability.GoalTrace{}, err
	}
	return traceability.TraceGoal(s.Goal.Goal.Text, s, t.Rows), nil
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
func PastRuns(ctx context.Context, p *app.Repository, lands func(*state.State) bool) ([]traceability.PastRun, error) {
	runs, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	var all []traceability.PastRun
	for _, r := range slices.Backward(runs) {
		s, rows, err := runCriteria(ctx, p, r.ID)
		if err != nil {
			return nil, fmt.Errorf("run %s: %w", r.ID, err)
		}
		if len(s.Tasks) > 0 {
			all = append(all, traceability.PastRun{State: s, Criteria: rows, Lands: lands(s)})
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
	t, err := p.CriteriaTable(ctx, s)
	return s, t.Rows, err
}
