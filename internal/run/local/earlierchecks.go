package local

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// EarlierCheckSettings configures the checks of earlier runs that are repeated before a run begins. The
// zero value repeats none.
type EarlierCheckSettings struct {
	Past   func(context.Context) ([]accept.EarlierRunCheck, error) // the checks that passed in earlier runs
	Sample int                                                     // largest number of checks to repeat
	Time   time.Duration                                           // for all of them; 0: no limit

	tried atomic.Bool // they are running, or have run
}

// tryEarlierChecks repeats some of the checks of earlier runs on the tree that the run starts from, once
// per process: the first caller runs them, and the others do not wait. It returns the red ones,
// in words for the planner. Red checks do not fail the run; if they cannot be repeated, that is
// recorded, and does not fail it either.
func (m *LocalExecutor) tryEarlierChecks(ctx context.Context, v state.WorkerView, d worker.AttemptFactRecorder) ([]string, error) {
	g := &m.Regression
	if g.Past == nil || g.Sample <= 0 || !g.tried.CompareAndSwap(false, true) {
		return nil, nil
	}
	spare, stop := d.Spare(ctx, false)
	defer stop()
	all, err := m.sampleEarlierChecks(spare, v)
	if err != nil || len(all) == 0 {
		return nil, workerEndError(ctx, err)
	}
	var old []worker.EarlierPassedCommand
	for _, e := range all {
		then, _ := accept.GateOfCriterion(nexus.Criterion{Text: e.Text, Check: e.Check})
		if one, ok := detect.CriterionGate(nexus.Criterion{Text: e.Text, Check: e.Check}); ok {
			one.Name = e.GateName()
			old = append(old, worker.EarlierPassedCommand{QualityGate: one, As: then, Why: "it was met when that run landed: " + e.Text})
		}
	}
	judged, err := m.Worker.Judge.Bases.RunEarlierCommands(spare, m.Worker.Judge, v.Goal.Base, old, g.Time, d)
	if err != nil {
		if err := workerEndError(ctx, err); err != nil {
			return nil, err
		}
		e := nexus.GateEvidence{Gate: old[len(judged)].Name, State: nexus.Environmental, Exit: -1, Command: old[len(judged)].Command(), Why: err.Error()}
		if err := d.Record(ctx, nexus.GateJudged{Base: true, Evidence: e}); err != nil {
			return nil, err
		}
	}
	var red []string
	for _, e := range judged {
		if r, ok := accept.ReadEarlierResult(e); ok && r.IsRed() {
			red = append(red, fmt.Sprintf("%s of run %s: `%s`: %s", r.Criterion, r.Run, r.Command, r.Why))
		}
	}
	return red, nil
}

// workerEndError returns the error if the worker has ended, nil otherwise.
func workerEndError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// maxHistory limits the number of commits among whose trees that of an earlier run is searched.
const maxHistory = 1_000

// sampleEarlierChecks chooses the checks to repeat: of runs whose work is part of the base, as their own
// commits or, after a squash, as their tree.
func (m *LocalExecutor) sampleEarlierChecks(ctx context.Context, v state.WorkerView) ([]accept.EarlierRunCheck, error) {
	all, err := m.Regression.Past(ctx)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	git := m.Worker.Trees.PrivateRepo()
	out, err := git.Run(ctx, "log", "--format=%T", fmt.Sprintf("--max-count=%d", maxHistory), "--end-of-options", v.Goal.Base)
	if err != nil {
		return nil, err
	}
	trees := strings.Fields(out)
	part := map[string]bool{}
	var some []accept.EarlierRunCheck
	for _, e := range all {
		is, known := part[e.Commit]
		if !known {
			is = slices.Contains(trees, e.Tree)
			if _, err := git.Run(ctx, "merge-base", "--is-ancestor", e.Commit, v.Goal.Base); err == nil {
				is = true
			}
			part[e.Commit] = is
		}
		if is {
			some = append(some, e)
		}
	}
	some = accept.OrderEarlierChecks(some, v.Goal.Base)
	return some[:min(len(some), m.Regression.Sample)], nil
}
