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
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/noticesetup"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/questionchannelsetup"
	"github.com/nexus-ai-builder/nexus/internal/face/hook"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/face/web"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// RunAndShow runs a new or interrupted run to its end, with progress on the way and a report
// after it.
func RunAndShow(ctx context.Context, a *console.Console, p *app.Repository, o RunCommandOptions) error {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	if alerts := &settings.Limits.Alerts; alerts.Denied == nexus.ReactPause && (o.Headless || !isWatched(a)) {
		alerts.Denied = nexus.ReactStop // nobody is there to resume it
	}
	fresh := o.Run == ""
	w := newWatcher(a, p, settings, &o, statusFileOptions(a, settings))
	w.outlives = true
	defer w.close()
	s, err := a.ConductRun(ctx, p, settings, &o.RunOptions, w)
	if s == nil && fresh {
		return RecordStartFailure(a, settings, o.Goal, err)
	}
	if s == nil {
		return err
	}
	interrupted := !s.Status.HasEnded() && (errors.Is(err, run.ErrInterrupted) || ctx.Err() != nil)
	err = errors.Join(err, w.writeStatusFile(s, interrupted, app.SignalName(ctx)))
	if err != nil && !interrupted {
		return err
	}
	v := projection.BuildRunView(s, projection.RunFactsOutsideJournal{Known: true}, a.Now()) // this process conducts it no more
	if err := console.AddCauses(context.WithoutCancel(ctx), p, s, &v); err != nil {
		return err
	}
	if !o.JSONL {
		if err := a.Answer(v, func(s view.OutputStyle) string { return guardText(a, view.DrawReport(s, v, !o.Once)) }); err != nil {
			return err
		}
	}
	if app.IsKillSwitchStop(err) {
		a.Say("%s", view.EscapeForTerminal(err.Error()))
		return console.ExitError(console.ErrorExitCode(nexus.CodeHalted))
	}
	if interrupted {
		if !a.Host.Watched { // the host shows how to continue
			a.Say("interrupted; nothing is lost, continue with: %s", cmp.Or(o.Again, "nexus resume "+string(s.Run)))
		}
		return console.ExitError(console.CodeInterrupted)
	}
	return runEndError(s, v)
}

// statusFileOptions returns the configured status file, if any.
func statusFileOptions(a *console.Console, c config.Config) statusfile.Options {
	return statusfile.Options{Path: c.StatusFile, PID: os.Getpid(), Now: a.Now}
}

// writeStatusFile writes the status file, if one is configured, when the process is done with the
// run: because the run ended, or because a signal interrupted it.
func (w *consoleWatcher) writeStatusFile(s *state.State, interrupted bool, signal string) error {
	if w.file.Path == "" {
		return nil
	}
	f := statusfile.NewStatusFile(s, w.file, w.a.Now())
	if interrupted {
		f.Run.Status, f.Run.CrashedAt, f.Run.CrashSignal = statusfile.Crashed, statusfile.MillisecondTime{Time: w.a.Now()}, signal
	}
	return statusfile.WriteFile(w.file.Path, f)
}

// RecordStartFailure writes a status file, if one is configured, with the reason why the run
// could not begin, and returns that reason.
func RecordStartFailure(a *console.Console, c config.Config, goal nexus.Goal, why error) error {
	file := statusFileOptions(a, c)
	if file.Path == "" {
		return why
	}
	s := state.NewState("")
	s.Goal.Goal, s.Limits, s.Accepted = goal, c.Limits, a.Now()
	s.Goal.Goal.Text = a.Mask.MaskText(goal.Text)
	f := statusfile.NewStatusFile(s, file, a.Now())
	f.Run.Status = statusfile.Unready
	return errors.Join(why, statusfile.WriteFile(file.Path, f))
}

// DeliverRun publishes the landed changes of a run without a conductor; see [app.App.DeliverRun].
func DeliverRun(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID) (view.RunView, error) {
	w := &consoleWatcher{a: a, place: p}
	defer w.close()
	s, err := a.DeliverRun(ctx, p, id, w)
	return newView(a, id, s), err
}

// StopRun ends an unfinished run without a conductor as stopped.
func StopRun(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID, why string) (view.RunView, error) {
	w := &consoleWatcher{a: a, place: p}
	defer w.close()
	s, err := a.StopRun(ctx, p, id, why, w)
	return newView(a, id, s), err
}

func newView(a *console.Console, id nexus.RunID, s *state.State) view.RunView {
	if s == nil {
		return view.RunView{}
	}
	return a.RunView(journal.RecordedRun{ID: id}, s)
}

// NewDeliverer returns the function that publishes runs without a conductor after people agreed on a
// channel.
func NewDeliverer(a *console.Console, p *app.Repository, say func(string, ...any)) func(context.Context, nexus.RunID) error {
	return func(ctx context.Context, run nexus.RunID) error {
		quiet := a.Copy()
		quiet.Quiet, quiet.JSON = true, false
		v, err := DeliverRun(ctx, quiet, p, run)
		switch {
		case errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}):
			return nil // its conductor receives the answer, too
		case err != nil:
			return err
		}
		say("run %s: %s", run, v.DeliveryText())
		return nil
	}
}

// MakePlan lets the planner make the plan of the options, without starting it.
func MakePlan(ctx context.Context, a *console.Console, p *app.Repository, o *RunCommandOptions) error {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	lines := o.JSONL
	o.JSONL = false // the plan is the result
	w := newWatcher(a, p, settings, o, statusfile.Options{})
	w.in, w.agree = nil, nil // the plan is not started
	o.JSONL = lines
	defer w.close()
	return a.MakePlanOnly(ctx, p, &o.RunOptions, w)
}

// consoleWatcher shows a run on the console, and asks people elsewhere. It implements [app.RunWatcher].
type consoleWatcher struct {
	a     *console.Console
	place *app.Repository
	lines bool // events as JSON on standard output
	file  statusfile.Options
	in    io.Reader                      // input with answers; nil: none
	set   config.QuestionChannelSettings // the channels for questions
	told  config.NotificationSettings    // the settings of notifications
	trace config.TelemetrySettings
	agree ConsentDialog // asks a person for consent to the plan; nil: not here
	whole bool          // the run is shown on the whole screen once its tasks begin

	outlives bool // the run continues when the terminal is left or closed

	shown *runScreen
	end   func() // stops the observers; nil if there are none
}

// isWatched reports whether a person sees the run and can answer its questions: here, through a
// host, or, for a run in the background, from an attached terminal.
func isWatched(a *console.Console) bool {
	return a.CanRedraw(a.Err) || a.Host.Watched || a.Host.Parent != nil || a.Host.Front != nil
}

// newWatcher completes an order with the console's facts, and returns the watcher of the run.
func newWatcher(a *console.Console, p *app.Repository, c config.Config, o *RunCommandOptions, file statusfile.Options) *consoleWatcher {
	w := &consoleWatcher{a: a, place: p, lines: o.JSONL, file: file, set: c.Channels, told: c.Notify, trace: c.Telemetry}
	if o.Headless {
		w.set.Order = nil // no question waits
	}
	o.Person, o.Watched = a.HasPerson(), isWatched(a) || a.HasPlayedPerson()
	o.Refuse = func() error { return questionchannelsetup.Check(&a.App, p.State, w.set) }
	if o.Person && !o.Headless {
		w.in, w.agree, w.whole = a.In, o.Agree, o.Screen
	}
	return w
}

// Begin implements [app.RunWatcher].
func (w *consoleWatcher) Begin(ctx context.Context, id nexus.RunID, again bool) {
	w.shown = newScreen(ctx, w.a, w.place, id, w.lines, w.file)
	if w.whole {
		w.shown.look = func(ctx context.Context) error { return w.a.Screen(ctx, id) }
	}
	if front := w.a.Host.Front; front != nil && w.outlives {
		front.OnTerminalLost(w.shown.detachFromTerminal)
		w.shown.leave = func() { go w.shown.detachFromTerminal() } // the reader of the input has to end first
	}
	if w.shown.agree = w.agree; again {
		w.shown.showPast(ctx)
	}
	if w.a.Host.Began != nil {
		w.a.Host.Began(id)
	}
	end, err := w.startObservers(ctx, id)
	if err != nil {
		w.a.ReportError(err)
	}
	tell, err := w.keepIssueComment(ctx, id)
	if err != nil {
		w.a.ReportError(err) // hooks and plugins continue
	}
	notified, err := w.notify(ctx, id)
	if err != nil {
		w.a.ReportError(err) // the working channels continue
	}
	traced := w.startTraces(ctx, id)
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
func (w *consoleWatcher) notify(ctx context.Context, id nexus.RunID) (end func(), err error) {
	d, failed := noticesetup.NewNotifier(&w.a.App, w.place, w.told, w.shown.printMessage)
	ends := []func(){}
	if to := noticesetup.NewTerminalSender(w.a, w.told); to != nil {
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

// startObservers starts the observing hooks and the reporting plugins, if there are any.
func (w *consoleWatcher) startObservers(ctx context.Context, id nexus.RunID) (end func(), err error) {
	all, runner, err := w.a.HooksOfRepository(ctx, w.place.Repo.Work, w.place.State, id)
	if err != nil {
		return nil, err
	}
	o := hook.RepositoryObservers{Journal: w.place.Journal, Dir: filepath.Join(w.place.State, "hooks"), Say: w.shown.printMessage, Grace: hook.Grace}
	for _, h := range all {
		switch state, err := h.ReadTrustState(runner); {
		case err != nil:
			return nil, err
		case state != trust.StateTrusted:
			w.a.Say("hook %s is left out: it is not trusted (%s); read what it would run with nexus trust, then trust it with nexus trust --yes", h.Name, state)
		case h.HasObservingPoint():
			o.All = append(o.All, hook.NewHookObserver(h, func(ctx context.Context, h hookcmd.DeclaredHook, e hookcmd.HookEvent) (hookcmd.HookOutcome, error) {
				return h.RunHook(ctx, runner, e)
			}))
		}
	}
	reporters, err := w.trustedReporters(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, r := range reporters {
		o.All = append(o.All, hook.NewPluginObserver(r))
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

// trustedReporters returns the trusted reporting plugins. The builder of the workers reports which ones
// are left out.
func (w *consoleWatcher) trustedReporters(ctx context.Context, id nexus.RunID) ([]*plugin.EventReporter, error) {
	all, runner, err := w.a.PluginsOfRepository(ctx, w.place.Repo.Work, w.place.State, id)
	if err != nil {
		return nil, err
	}
	var reporters []*plugin.EventReporter
	for _, p := range plugin.PluginsOfKind(all, nexus.PluginReporter) {
		state, err := p.ReadTrustState(runner)
		if err != nil {
			return nil, err
		}
		if state == trust.StateTrusted {
			reporters = append(reporters, &plugin.EventReporter{Plugin: p, Runner: runner})
		}
	}
	return reporters, nil
}

// close stops the observers after they received all events.
func (w *consoleWatcher) close() {
	if w.end != nil {
		w.end()
	}
}

// Follow implements [app.RunWatcher].
func (w *consoleWatcher) Follow(ctx, work context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	if w.in != nil {
		all.Go(func() {
			w.shown.readAnswers(work, w.in, func(ctx context.Context, wish nexus.Request) error {
				wish.By = w.a.UserName()
				_, err := w.place.Journal.Ask(ctx, w.shown.state.Run, wish)
				return err
			})
		})
	}
	all.Go(func() {
		questionchannelsetup.Channels{
			App: &w.a.App, Place: w.place, Set: w.set, Say: w.shown.printMessage, Deliver: NewDeliverer(w.a, w.place, w.shown.printMessage),
			Show: func(ctx context.Context) (web.ServedRepository, error) { return w.a.Show(ctx, w.a, w.place) },
		}.Ask(work)
	})
	w.shown.Follow(ctx, work)
}

// Finish implements [app.RunWatcher].
func (w *consoleWatcher) Finish(ctx context.Context, final *state.State) {
	w.shown.Finish(ctx, final)
	if w.agree == nil {
		return
	}
	if kept := w.agree.Close(); kept != "" {
		w.a.Say("%s", kept)
	}
}
