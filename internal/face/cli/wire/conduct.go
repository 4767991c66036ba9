package wire

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/people"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/wire/hold"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/wire/screen"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/daybudget"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// Carry takes a run, new or interrupted, to its end: with progress on the
// way, and a report after it.
func Carry(ctx context.Context, a *frame.Console, p *app.Place, o Order) error {
	settings, _, err := a.Settings()
	if err != nil {
		return err
	}
	if alerts := &settings.Limits.Alerts; alerts.Denied == nexus.ReactPause && (o.Headless || !a.Live(a.Err)) {
		alerts.Denied = nexus.ReactStop // nobody is there who could resume
	}
	file := statusfile.Options{Path: settings.StatusFile, PID: os.Getpid(), Now: a.Now}
	fresh := o.Run == ""
	s, err := conduct(ctx, a, p, settings, &o, file)
	if s == nil && fresh {
		return Unready(a, settings, o, err)
	}
	if s == nil {
		return err
	}
	interrupted := !s.Status.Ended() && (errors.Is(err, run.ErrInterrupted) || ctx.Err() != nil)
	if file.Path != "" {
		f := statusfile.Of(s, file, a.Now())
		if interrupted {
			f.Run.Status, f.Run.CrashedAt, f.Run.CrashSignal = statusfile.Crashed, statusfile.Stamp{Time: a.Now()}, signalName(ctx)
		}
		err = errors.Join(err, statusfile.Write(file.Path, f))
	}
	if err != nil && !interrupted {
		return err
	}
	v := view.Of(s, a.Now())
	if !o.JSONL {
		if err := a.Answer(v, func(s view.Style) string { return view.Report(s, v, !o.Once) }); err != nil {
			return err
		}
	}
	if hold.Halted(err) {
		a.Say("%s", view.Clean(err.Error()))
		return frame.ExitError(frame.ExitOf(nexus.CodeHalted))
	}
	if interrupted {
		a.Say("interrupted; nothing is lost, go on with: nexus resume %s", s.Run)
		return frame.ExitError(frame.CodeInterrupted)
	}
	return endOf(s, v)
}

// Unready leaves a status file that says that the run could not begin, where
// one is wanted, and returns why it could not.
func Unready(a *frame.Console, c config.Config, o Order, why error) error {
	file := statusfile.Options{Path: c.StatusFile, PID: os.Getpid(), Now: a.Now}
	if file.Path == "" {
		return why
	}
	s := state.New("")
	s.Goal.Goal, s.Limits, s.Accepted = o.Goal, c.Limits, a.Now()
	s.Goal.Goal.Text = a.Mask.Text(o.Goal.Text)
	f := statusfile.Of(s, file, a.Now())
	f.Run.Status = statusfile.Unready
	return errors.Join(why, statusfile.Write(file.Path, f))
}

// signalName names the signal that ended the context.
func signalName(ctx context.Context) string {
	cause := context.Cause(ctx)
	switch {
	case cause == nil:
		return ""
	case strings.Contains(cause.Error(), "terminated"):
		return "SIGTERM"
	case strings.Contains(cause.Error(), "hangup"):
		return "SIGHUP"
	default:
		return "SIGINT"
	}
}

// hurry returns how to hear that the process is told to end soon: not by a
// person at a terminal, who can say it again, but by what manages processes and
// kills those that take long.
func hurry(ctx context.Context) func(end func(error)) (stop func() bool) {
	return func(end func(error)) func() bool {
		return context.AfterFunc(ctx, func() {
			if signalName(ctx) == "SIGTERM" {
				end(run.ErrInterrupted)
			}
		})
	}
}

// conduct takes the run as the only process that does. The state is nil when
// the run could not be taken up. Its context's end drains the run.
func conduct(ctx context.Context, a *frame.Console, p *app.Place, c config.Config, o *Order, file statusfile.Options) (*state.State, error) {
	tap, err := o.Traffic.Open(a.Mask.Mask)
	if err != nil {
		return nil, err
	}
	o.tap = tap
	defer Leave(a, tap)
	if err := errors.Join(a.Switch(p.State).Err(), a.Walled(o.Headless || !a.Person()), Ready(a, c, *o), people.Check(a, p.State, asking(c, *o))); err != nil {
		return nil, err
	}
	begun, err := begin(ctx, a, p, c, o)
	if err != nil {
		return nil, err
	}
	world, release, err := world(ctx, a, p, c, *o)
	if err != nil {
		return nil, err
	}
	lease, err := p.Journal.Acquire(ctx, o.Run, journal.Self(), hold.TTL)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	if err := hold.Sweep(ctx, p.Journal, o.Run); err != nil {
		a.Complain(err)
	}
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var helpers sync.WaitGroup
	defer func() {
		cancel(run.ErrInterrupted)
		helpers.Wait()
		_ = lease.Release(context.WithoutCancel(ctx)) // it expires by itself
	}()
	defer letGo(context.WithoutCancel(ctx), a, lease, release)
	inherit(ctx, a, world, o.Run)
	if len(begun) > 0 {
		if _, err := lease.Append(ctx, begun...); err != nil {
			return nil, err
		}
	}
	requests := make(chan nexus.Event)
	helpers.Go(func() { cancel(hold.Renew(work, hold.TTL, lease.Renew)) })
	helpers.Go(func() { hold.Brake(work, cancel, a.Switch(p.State)) })
	helpers.Go(func() {
		follow := func(ctx context.Context, after int64) events { return p.Journal.Follow(ctx, o.Run, after) }
		if err := hold.Forward(work, follow, requests); err != nil {
			cancel(err)
		}
	})
	shown := screen.New(a, p, o.Run, o.JSONL, file, Past)
	if len(begun) == 0 {
		shown.Past(ctx)
	}
	helpers.Go(func() { shown.Follow(ctx, work) })
	helpers.Go(func() { ask(work, a, p, c, *o, shown) })
	day, err := daybudget.Open(filepath.Join(filepath.Dir(p.State), "purse"), filepath.Base(p.State)+"/"+string(o.Run), a.Now)
	if err != nil {
		return nil, err
	}
	defer day.Close() //nolint:errcheck // only a lock
	opening, err := opening(ctx, a, p, c, o.Run, len(begun) == 0)
	if err != nil {
		return nil, err
	}
	opening.Deliver, opening.Stop = o.deliver, o.stop
	opening.Fence, opening.Purse, opening.Sandbox = lease.Fence(), day, confines(world)
	s, err := run.Conduct(work, held{lease, p.Journal, o.Run}, world, o.Run, opening, run.Signals{Requests: requests, Drain: ctx.Done()})
	shown.Finish(context.WithoutCancel(ctx), s)
	return s, errors.Join(err, hold.Tell(context.WithoutCancel(ctx), p.Journal, o.Run, err))
}

// ask takes answers to questions from whoever sits at the run's own terminal,
// and from the people whom the configuration names.
func ask(ctx context.Context, a *frame.Console, p *app.Place, c config.Config, o Order, shown *screen.Screen) {
	var all sync.WaitGroup
	defer all.Wait()
	if a.Person() && !o.Headless && o.Goal.Mode != nexus.Draft { // a plan is agreed to next, from the same keyboard
		all.Go(func() {
			shown.Hear(ctx, a.In, func(ctx context.Context, question, text string) error {
				_, err := p.Journal.Ask(ctx, o.Run, nexus.Request{Verb: nexus.VerbAnswer, ID: question, Text: text, By: a.User()})
				return err
			})
		})
	}
	people.Crew{App: a, Place: p, Set: asking(c, o), Say: shown.Say, Deliver: Deliverer(a, p, shown.Say)}.Ask(ctx)
}

// asking returns how people are asked; nobody is where no question waits.
func asking(c config.Config, o Order) config.Channels {
	if o.Headless {
		c.Channels.Order = nil
	}
	return c.Channels
}

// letGo releases the worktrees of a run while it is held: they are unmounted,
// and the next who holds it uses them. One that is lost has its next holder
// already, so that they stay as they are.
func letGo(ctx context.Context, a *frame.Console, lease *journal.Lease, release func() error) {
	if errors.Is(lease.Renew(ctx), &nexus.Error{Code: nexus.CodeLeaseLost}) {
		return
	}
	if err := release(); err != nil {
		a.Complain(err)
	}
}

// inherit takes over the worktrees that a killed process left of a run that
// this one holds.
func inherit(ctx context.Context, a *frame.Console, w run.World, id nexus.RunID) {
	l, ok := w.(*local.World)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("somebody else has been making a worktree for "+patience.String()))
	defer cancel()
	if err := l.Shop.Trees.Inherit(ctx, id); err != nil {
		a.Complain(err)
	}
}

// patience is how long a run waits for others who make worktrees before it
// leaves to [app.Place.Sweep] what a killed process had half made.
const patience = 10 * time.Second

// confines names what confines the work of a world.
func confines(w run.World) string {
	if w, ok := w.(*local.World); ok {
		return w.Shop.Box.Name()
	}
	return ""
}

// begin names a new run and returns the facts that begin it; none for a run
// that is taken up.
func begin(ctx context.Context, a *frame.Console, p *app.Place, c config.Config, o *Order) ([]nexus.Fact, error) {
	if o.Run != "" {
		return nil, nil
	}
	begun, err := accept(ctx, p, c, *o)
	if err != nil {
		return nil, err
	}
	o.draw = o.dice()
	o.Run, err = unused(ctx, p, a.Now(), o.draw)
	return begun, err
}

// opening says how this process takes the run up: with what other runs have
// spent today and, again, with the limits that hold now.
func opening(ctx context.Context, a *frame.Console, p *app.Place, c config.Config, id nexus.RunID, again bool) (run.Opening, error) {
	o := run.Opening{Process: journal.Self(), Reopen: again}
	var err error
	if o.Spent, err = p.Journal.Spent(ctx, a.Now(), id); err == nil && again {
		o.Limits, err = limits(ctx, a, p, c, id)
	}
	return o, err
}

// held is a run's part of the journal, held by this process.
type held struct {
	*journal.Lease
	journal *journal.Journal
	run     nexus.RunID
}

// Events implements [run.Journal].
func (h held) Events(ctx context.Context, after int64) events {
	return h.journal.Events(ctx, h.run, after)
}

// accept returns the facts that begin a run.
func accept(ctx context.Context, p *app.Place, c config.Config, o Order) ([]nexus.Fact, error) {
	commit, branch, err := p.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	if c.Target != "" {
		if branch, err = p.Target(ctx, c.Shields(), c.Target); err != nil {
			return nil, err
		}
		if commit, err = p.Repo.Resolve(ctx, "refs/heads/"+branch); err != nil {
			return nil, err
		}
	}
	gates, err := gates(p, c)
	if err != nil {
		return nil, err
	}
	c.Limits.RunMoney -= o.Spent
	var past *history.Stats
	if slices.Contains(c.Routing.Order, route.Adaptive) {
		if past, err = Past(ctx, p.Journal, ""); err != nil {
			return nil, err
		}
	}
	files, err := p.Repo.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	untested := !slices.ContainsFunc(strings.Split(files, "\x00"), stack.IsTest)
	facts := []nexus.Fact{nexus.GoalAccepted{Goal: o.Goal, Base: commit, Target: branch, Land: c.Land, Limits: c.Limits, Gates: gates, Routing: routingOf(c, past, untested)}}
	if o.Checked != nil {
		facts = append(facts, *o.Checked)
	}
	if o.Plan == nil {
		return facts, nil
	}
	hash, err := keep(p, o.Plan)
	if err != nil {
		return nil, err
	}
	facts = append(facts, nexus.PlanProposed{Plan: hash, Tasks: len(o.Plan.Tasks)})
	for _, t := range o.Plan.Tasks {
		facts = append(facts, nexus.TaskPlanned{Task: t})
	}
	return facts, nil
}

// unused names a new run. A seed draws the same names again, and no two runs
// may share one.
func unused(ctx context.Context, p *app.Place, now time.Time, draw func(string) uint64) (nexus.RunID, error) {
	all, err := p.Runs(ctx)
	if err != nil {
		return "", err
	}
	for {
		id := newRun(now, draw)
		if !slices.ContainsFunc(all, func(r journal.Run) bool { return r.ID == id }) {
			return id, nil
		}
	}
}
