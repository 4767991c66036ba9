package attempt

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// recordReplan records the decision before a round of a task that reached a threshold, and
// returns the resulting step.
func (w *attemptWork) recordReplan(ctx context.Context, step repair.RepairStep) (repair.RepairStep, error) {
	if step.Move != repair.Write || step.Resume || w.view.Limits.Replan == (nexus.ReplanLimits{}) {
		return step, nil
	}
	beside, err := w.undeclaredFiles(ctx)
	if err != nil {
		return step, err
	}
	d, next := replan.DecideReplanStep(w.task, w.a, w.view.Limits, replan.WorkerTaskFacts{Worked: w.countedWorkTime(), Beside: beside, Divisible: w.view.Divisible}, step)
	if d == nil {
		return next, nil
	}
	w.task.Replans = append(slices.Clip(w.task.Replans), *d)
	return next, w.recordFacts(ctx, *d)
}

// countedWorkTime returns the time spent on the task that counts against its limit.
func (w *attemptWork) countedWorkTime() time.Duration {
	return w.task.TimeCountedAgainstCap() + w.Worker.Site.Now().Sub(w.a.ActiveSince()) - w.a.Rested
}

// undeclaredFiles returns the files that the work changes and the task does not declare,
// except tests; none if the task declares no files.
func (w *attemptWork) undeclaredFiles(ctx context.Context) ([]string, error) {
	at := cmp.Or(w.a.Snapshot.Commit, w.a.Start)
	if at == "" || len(w.task.Files) == 0 {
		return nil, nil
	}
	changed, err := w.Worker.Trees.PrivateRepo().ChangedFiles(ctx, w.a.Base, at)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, c := range changed {
		if !stack.IsTest(c.Path) && !taskgraph.DeclaresFile(w.task.Files, c.Path) {
			all = append(all, c.Path)
		}
	}
	return all, nil
}

// continuedTimeLimitReason returns the time limit of an attempt that this one continues, or "" if it continues
// none.
func continuedTimeLimitReason(t *state.TaskState, a *state.AttemptState) string {
	for _, d := range slices.Backward(t.Replans) {
		if d.Anew && d.Attempt == a.From {
			return d.Crossed[0].Why
		}
	}
	return ""
}
