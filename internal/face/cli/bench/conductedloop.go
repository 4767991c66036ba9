package bench

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

const benchRun nexus.RunID = "bench"

// runConducted runs sessions under a conductor as a run does: one task each, all at once.
func (l *benchmarkLoop) runConducted(ctx context.Context) (LoopCost, error) {
	p, err := l.app.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return LoopCost{}, err
	}
	defer p.Close()
	lease, err := p.Journal.Acquire(ctx, benchRun, journal.CallingProcess(), time.Minute)
	if err != nil {
		return LoopCost{}, err
	}
	commit, branch, err := p.Repo.Head(ctx)
	if err != nil {
		return LoopCost{}, err
	}
	facts := []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "Take notes"}, Base: commit, Target: branch, Limits: l.config.Limits, Gates: []string{gateName}},
		nexus.PlanProposed{Tasks: l.sessions},
	}
	for i := range l.sessions {
		facts = append(facts, nexus.TaskPlanned{Task: l.noteTask(i + 1)})
	}
	if _, err := lease.Append(ctx, facts...); err != nil {
		return LoopCost{}, err
	}
	m := l.newMeter()
	world, drain, release, err := l.newWorld(ctx, p, m)
	if err != nil {
		return LoopCost{}, err
	}
	s, err := run.ConductRun(ctx, benchJournal{lease, p.Journal}, world, benchRun, run.StartOptions{Process: journal.CallingProcess(), Fence: lease.Fence()}, run.RunSignals{Drain: drain})
	if errors.Is(err, run.ErrInterrupted) && drain != nil {
		err = nil
	}
	if err == nil && drain == nil && s.Status != nexus.StatusDone {
		err = fmt.Errorf("the run ended as %s: %s", s.Status, s.Why)
	}
	return m.loopCost(), errors.Join(err, release(), lease.Release(context.WithoutCancel(ctx)))
}

// newWorld returns the run's world: the full one for attempts, otherwise one with sessions only,
// after which it drains the run.
func (l *benchmarkLoop) newWorld(ctx context.Context, p *app.Repository, m *turnMeter) (run.IntentExecutor, <-chan struct{}, func() error, error) {
	if l.kind == durableLoop {
		blobs, err := p.OpenBlobStore()
		w := &sessionWorld{benchmarkLoop: l, meter: m, blobs: blobs, drain: make(chan struct{})}
		return w, w.drain, func() error { return nil }, err
	}
	exe, err := os.Executable()
	if err != nil {
		return nil, nil, nil, err
	}
	blobs, err := p.OpenBlobStore()
	if err != nil {
		return nil, nil, nil, err
	}
	machine, release, err := app.NewLocalExecutor(ctx, app.LocalExecutorOptions{
		Run: benchRun, Repo: p.Repo, State: p.State, Blobs: blobs, Config: l.config, Env: l.app.Env, Now: l.app.Now, Headless: true, Exe: exe,
	})
	if err != nil {
		return nil, nil, nil, err
	}
	machine.Worker.Sessions.Roles = maps.Clone(machine.Worker.Sessions.Roles)
	machine.Worker.Sessions.Roles[nexus.Coder] = l.role
	pick := machine.Worker.Sessions.Pick
	machine.Worker.Sessions.Pick = func(role nexus.Role, tier nexus.Tier, pin string) (worker.PricedModel, error) {
		model, err := pick(role, tier, pin)
		if role == nexus.Coder && l.sessions == 1 {
			model.Model = meteredModel{model.Model, m}
		}
		return model, err
	}
	return machine, nil, release, nil
}

// sessionWorld is a world in which an attempt is one session, without a worktree and without
// gates.
type sessionWorld struct {
	*benchmarkLoop
	meter *turnMeter
	blobs *journal.BlobStore
	ended atomic.Int64
	drain chan struct{} // closed when all sessions have ended
}

// Now implements [runLoop.IntentExecutor].
func (w *sessionWorld) Now() time.Time { return w.app.Now() }

// TimerAt implements [runLoop.IntentExecutor].
func (w *sessionWorld) TimerAt(t time.Time) <-chan time.Time { return afterTime(w.Now(), t) }

// ExecuteIntent implements [runLoop.IntentExecutor].
func (w *sessionWorld) ExecuteIntent(ctx context.Context, intent nexus.Fact, _ state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	f, ok := intent.(nexus.AttemptStarted)
	if !ok || int(w.ended.Load()) == w.sessions {
		return nil, run.ErrInterrupted
	}
	dir := filepath.Join(w.dir, string(f.Attempt))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	mine := w.meter
	if f.Task != "T1" {
		mine = nil
	}
	if err := w.runSession(ctx, f.Attempt, dir, mine, d, w.blobs); err != nil {
		return nil, &nexus.Error{Code: nexus.CodeStorage, Message: "session", Cause: err}
	}
	if int(w.ended.Add(1)) == w.sessions {
		close(w.drain)
	}
	<-w.drain
	return nil, run.ErrInterrupted
}

// benchJournal is the part of the journal that belongs to the run.
type benchJournal struct {
	*journal.Lease
	journal *journal.Journal
}

// Events implements [runLoop.Journal].
func (h benchJournal) Events(ctx context.Context, after int64) iter.Seq2[nexus.Event, error] {
	return h.journal.Events(ctx, benchRun, after)
}
