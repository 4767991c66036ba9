package progress

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/channelsetup"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/noticesetup"
	"github.com/nexus-ai-builder/nexus/internal/face/hook"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/face/web"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// RunAndShow runs a new or interrupted run to its end, with progress on the way and a report
// after it.
func RunAndShow(ctx context.Context, a *console.Console, p *app.Repository, o Order) error {
	settings, _, err := a.Settings()
	if err != nil {
		return err
	}
	if alerts := &settings.Limits.Alerts; alerts.Denied == nexus.ReactPause && (o.Headless || !watched(a)) {
		alerts.Denied = nexus.ReactStop // nobody is there to resume it
	}
	fresh := o.Run == ""
	w := watch(a, p, settings, &o, fileOf(a, settings))
	w.outlives = true
	defer w.close()
	s, err := a.Conduct(ctx, p, settings, &o.RunOptions, w)
	if s == nil && fresh {
		return RecordStartFailure(a, settings, o.Goal, err)
	}
	if s == nil {
		return err
	}
	interrupted := !s.Status.Ended() && (errors.Is(err, run.ErrInterrupted) || ctx.Err() != nil)
	err = errors.Join(err, w.writeStatusFile(s, interrupted, app.SignalName(ctx)))
	if err != nil && !interrupted {
		return err
	}
	v := projection.BuildRun(s, projection.RunContext{}, a.Now())
	if err := console.Explain(context.WithoutCancel(ctx), p, s, &v); err != nil {
		return err
	}
	if !o.JSONL {
		if err := a.Answer(v, func(s view.Style) string { return guarded(a, view.DrawReport(s, v, !o.Once)) }); err != nil {
			return err
		}
	}
	if app.Halted(err) {
		a.Say("%s", view.Clean(err.Error()))
		return console.ExitError(console.ExitOf(nexus.CodeHalted))
	}
	if interrupted {
		if !a.Host.Watched { // the host shows how to continue
			a.Say("interrupted; nothing is lost, continue with: %s", cmp.Or(o.Again, "nexus resume "+string(s.Run)))
		}
		return console.ExitError(console.CodeInterrupted)
	}
	return endOf(s, v)
}

// fileOf returns the configured status file, if any.
func fileOf(a *console.Console, c config.Config) statusfile.Options {
	return statusfile.Options{Path: c.StatusFile, PID: os.Getpid(), Now: a.Now}
}

// writeStatusFile writes the status file, if one is configured, when the process is done with the
// run: because the run ended, or because a signal interrupted it.
func (w *watcher) writeStatusFile(s *state.State, interrupted bool, signal string) error {
	if w.file.Path == "" {
		return nil
	}
	f := statusfile.Of(s, w.file, w.a.Now())
	if interrupted {
		f.Run.Status, f.Run.CrashedAt, f.Run.CrashSignal = statusfile.Crashed, statusfile.Stamp{Time: w.a.Now()}, signal
	}
	return statusfile.Write(w.file.Path, f)
}

// RecordStartFailure writes a status file, if one is configured, with the reason why the run
// could not begin, and returns that reason.
func RecordStartFailure(a *console.Console, c config.Config, goal nexus.Goal, why error) error {
	file := fileOf(a, c)
	if file.Path == "" {
		return why
	}
	s := state.New("")
	s.Goal.Goal, s.Limits, s.Accepted = goal, c.Limits, a.Now()
	s.Goal.Goal.Text = a.Mask.Text(goal.Text)
	f := statusfile.Of(s, file, a.Now())
	f.Run.Status = statusfile.Unready
	return errors.Join(why, statusfile.Write(file.Path, f))
}

// Deliver publishes the landed changes of a run without a conductor; see [app.App.Deliver].
func Deliver(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID) (view.Run, error) {
	w := &watcher{a: a, place: p}
	defer w.close()
	s, err := a.Deliver(ctx, p, id, w)
	return newView(a, id, s), err
}

// Stop ends an unfinished run without a conductor as stopped.
func Stop(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID, why string) (view.Run, error) {
	w := &watcher{a: a, place: p}
	defer w.close()
	s, err := a.Stop(ctx, p, id, why, w)
	return newView(a, id, s), err
}

func newView(a *console.Console, id nexus.RunID, s *state.State) view.Run {
	if s == nil {
		return view.Run{}
	}
	return a.RunView(journal.Run{ID: id}, s)
}

// Deliverer returns the function that publishes runs without a conductor after people agreed on a
// channel.
func Deliverer(a *console.Console, p *app.Repository, say func(string, ...any)) func(context.Context, nexus.RunID) error {
	return func(ctx context.Context, run nexus.RunID) error {
		quiet := a.Copy()
		quiet.Quiet, quiet.JSON = true, false
		v, err := Deliver(ctx, quiet, p, run)
		switch {
		case errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}):
			return nil // its conductor receives the answer, too
		case err != nil:
			return err
		}
		say("run %s: %s", run, v.Delivered())
		return nil
	}
}

// Decompose lets the planner make the plan of an order, without starting it.
func Decompose(ctx context.Context, a *console.Console, p *app.Repository, o *Order) error {
	settings, _, err := a.Settings()
	if err != nil {
		return err
	}
	lines := o.JSONL
	o.JSONL = false // the plan is the result
	w := watch(a, p, settings, o, statusfile.Options{})
	w.in, w.agree = nil, nil // the plan is not started
	o.JSONL = lines
	defer w.close()
	return a.Decompose(ctx, p, &o.RunOptions, w)
}

// watcher shows a run on the console, and asks people elsewhere. It implements [app.Watcher].
type watcher struct {
	a     *console.Console
	place *app.Repository
	lines bool // events as JSON on standard output
	file  statusfile.Options
	in    io.Reader       // input with answers; nil: none
	set   config.Channels // the channels for questions
	told  config.Notify   // the settings of notifications
	trace config.Telemetry
	agree ConsentDialog // asks a person for consent to the plan; nil: not here
	whole bool          // the run is shown on the whole screen once its tasks begin

	outlives bool // the run continues when the terminal is left or closed

	shown *screen
	end   func() // stops the observers; nil if there are none
}

// watched reports whether a person sees the run and can answer its questions: here, through a
// host, or, for a run in the background, from an attached terminal.
func watched(a *console.Console) bool {
	return a.Live(a.Err) || a.Host.Watched || a.Host.Parent != nil || a.Host.Front != nil
}

// watch completes an order with the console's facts, and returns the watcher of the run.
func watch(a *console.Console, p *app.Repository, c config.Config, o *Order, file statusfile.Options) *watcher {
	w := &watcher{a: a, place: p, lines: o.JSONL, file: file, set: c.Channels, told: c.Notify, trace: c.Telemetry}
	if o.Headless {
		w.set.Order = nil // no question waits
	}
	o.Person, o.Watched = a.Person(), watched(a) || a.Played()
	o.Refuse = func() error { return channelsetup.Check(&a.App, p.State, w.set) }
	if o.Person && !o.Headless {
		w.in, w.agree, w.whole = a.In, o.Agree, o.Screen
	}
	return w
}

// Begin implements [app.Watcher].
func (w *watcher) Begin(ctx context.Context, id nexus.RunID, again bool) {
	w.shown = newScreen(ctx, w.a, w.place, id, w.lines, w.file)
	if w.whole {
		w.shown.look = func(ctx context.Context) error { return w.a.Screen(ctx, id) }
	}
	if front := w.a.Host.Front; front != nil && w.outlives {
		front.Lost(w.shown.detachFromTerminal)
		w.shown.leave = func() { go w.shown.detachFromTerminal() } // the reader of the input has to end first
	}
	if w.shown.agree = w.agree; again {
		w.shown.showPast(ctx)
	}
	if w.a.Host.Began != nil {
		w.a.Host.Began(id)
	}
	end, err := w.observe(ctx, id)
	if err != nil {
		w.a.Complain(err)
	}
	tell, err := w.comment(ctx, id)
	if err != nil {
		w.a.Complain(err) // hooks and plugins continue
	}
	notified, err := w.notify(ctx, id)
	if err != nil {
		w.a.Complain(err) // the working channels continue
	}
	traced := w.traces(ctx, id)
	w.end = func() {
		var all sync.WaitGroup
		all.Go(tell)
		all.Go(traced)
		all.Go(notified)
		if end != nil {
			end()
		}
		all.Wait()
	}
}

// notify sends notifications to people who do not watch the run: on the terminal, and on the
// configured channels.
func (w *watcher) notify(ctx context.Context, id nexus.RunID) (end func(), err error) {
	d, failed := noticesetup.Notifier(&w.a.App, w.place, w.told, w.shown.printMessage)
	ends := []func(){}
	if to := noticesetup.Terminal(w.a, w.told); to != nil {
		ends = append(ends, d.NotifyTerminal(ctx, id, to))
	}
	if len(d.Ways) > 0 {
		stop, err := d.Start(ctx)
		if err == nil {
			ends = append(ends, stop)
		}
		failed = errors.Join(failed, err)
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}, failed
}

// observe starts the observing hooks and the reporting plugins, if there are any.
func (w *watcher) observe(ctx context.Context, id nexus.RunID) (end func(), err error) {
	all, runner, err := w.a.Hooks(ctx, w.place.Repo.Work, w.place.State, id)
	if err != nil {
		return nil, err
	}
	o := hook.Observers{Journal: w.place.Journal, Dir: filepath.Join(w.place.State, "hooks"), Say: w.shown.printMessage, Grace: hook.Grace}
	for _, h := range all {
		switch state, err := h.TrustState(runner); {
		case err != nil:
			return nil, err
		case state != trust.Trusted:
			w.a.Say("hook %s is left out: it is not trusted (%s); read what it would run with nexus trust, then trust it with nexus trust --yes", h.Name, state)
		case h.Observes():
			o.All = append(o.All, hook.Hook(h, func(ctx context.Context, h hookcmd.Hook, e hookcmd.Event) (hookcmd.Outcome, error) {
				return h.Run(ctx, runner, e)
			}))
		}
	}
	reporters, err := w.reporters(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, r := range reporters {
		o.All = append(o.All, hook.Reporter(r))
	}
	if len(o.All) == 0 {
		return func() {}, nil
	}
	stop, err := o.Start(ctx)
	if err != nil {
		return nil, err
	}
	return func() {
		stop()
		for _, r := range reporters {
			r.Close()
		}
	}, nil
}

// reporters returns the trusted reporting plugins. The builder of the workers reports which ones
// are left out.
func (w *watcher) reporters(ctx context.Context, id nexus.RunID) ([]*plugin.Reporter, error) {
	all, runner, err := w.a.Plugins(ctx, w.place.Repo.Work, w.place.State, id)
	if err != nil {
		return nil, err
	}
	var reporters []*plugin.Reporter
	for _, p := range plugin.OfKind(all, nexus.PluginReporter) {
		state, err := p.TrustState(runner)
		if err != nil {
			return nil, err
		}
		if state == trust.Trusted {
			reporters = append(reporters, &plugin.Reporter{Plugin: p, Runner: runner})
		}
	}
	return reporters, nil
}

// close stops the observers after they received all events.
func (w *watcher) close() {
	if w.end != nil {
		w.end()
	}
}

// Follow implements [app.Watcher].
func (w *watcher) Follow(ctx, work context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	if w.in != nil {
		all.Go(func() {
			w.shown.readAnswers(work, w.in, func(ctx context.Context, wish nexus.Request) error {
				wish.By = w.a.User()
				_, err := w.place.Journal.Ask(ctx, w.shown.state.Run, wish)
				return err
			})
		})
	}
	all.Go(func() {
		channelsetup.Channels{
			App: &w.a.App, Place: w.place, Set: w.set, Say: w.shown.printMessage, Deliver: Deliverer(w.a, w.place, w.shown.printMessage),
			Show: func(ctx context.Context) (web.Shown, error) { return w.a.Show(ctx, w.a, w.place) },
		}.Ask(work)
	})
	w.shown.Follow(ctx, work)
}

// Finish implements [app.Watcher].
func (w *watcher) Finish(ctx context.Context, final *state.State) {
	w.shown.Finish(ctx, final)
	if w.agree == nil {
		return
	}
	if kept := w.agree.Close(); kept != "" {
		w.a.Say("%s", kept)
	}
}
