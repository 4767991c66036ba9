package progress

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/questionchannelsetup"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/face/web"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// ConductInterview asks people about the goal until it is clear, or continues the interview that
// the options name. Its cost counts against the run's budget. A person at the keyboard and
// people on any channel can answer at the same time.
func ConductInterview(ctx context.Context, a *console.Console, p *app.Repository, o *RunCommandOptions) (*state.State, error) {
	return conductPreparation(ctx, a, p, o, nexus.Interview)
}

// WriteSpec lets agents write a spec of the goal, or continues the run that does. The
// returned state contains it; the journal contains all steps.
func WriteSpec(ctx context.Context, a *console.Console, p *app.Repository, o *RunCommandOptions) (*state.State, error) {
	return conductPreparation(ctx, a, p, o, nexus.Specify)
}

// conductPreparation conducts a run that precedes a plan.
func conductPreparation(ctx context.Context, a *console.Console, p *app.Repository, o *RunCommandOptions, mode nexus.PlanningMode) (*state.State, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	asking := *o
	asking.Goal.Mode, asking.Plan, asking.JSONL = mode, nil, false
	w := newWatcher(a, p, settings, &asking, statusfile.Options{})
	defer w.close()
	var watcher app.RunWatcher = w
	again := "nexus spec --resume"
	if mode == nexus.Interview {
		again = "nexus interview --resume"
		if w.in != nil {
			watcher = &interviewWatcher{consoleWatcher: w, keys: a.Keyboard()}
		}
	}
	s, err := a.ConductRun(ctx, p, settings, &asking.RunOptions, watcher)
	if s == nil {
		return nil, err
	}
	interrupted := !s.Status.HasEnded() && (errors.Is(err, run.ErrInterrupted) || ctx.Err() != nil)
	switch {
	case app.IsKillSwitchStop(err):
		a.Say("%s", view.EscapeForTerminal(err.Error()))
		return s, console.ExitError(console.ErrorExitCode(nexus.CodeHalted))
	case err != nil && !interrupted:
		return s, err
	case interrupted:
		a.Say("interrupted; nothing is lost, continue with: %s %s", again, s.Run)
		return s, console.ExitError(console.CodeInterrupted)
	case s.Status == nexus.StatusWaiting && s.Interview.OpenQuestionID() != "":
		a.Say("paused; continue with: nexus interview --resume %s", s.Run)
	case s.Status != nexus.StatusDone:
		a.Say("%s", view.EscapeForTerminal(s.Why))
	}
	o.Spent += s.Ledger.SpentMoney()
	return s, runEndError(s, projection.BuildRunView(s, projection.RunFactsOutsideJournal{}, a.Now()))
}

// interviewWatcher shows an interview, and lets the person at the keyboard answer one question after
// the other. It implements [app.RunWatcher].
type interviewWatcher struct {
	*consoleWatcher

	keys *console.KeyboardReader
	id   nexus.RunID

	mu   sync.Mutex // guards the fields below: the end may be reported while the last events arrive
	told int64      // the last event that was checked
	live bool       // events from before this process are not printed
}

// Begin implements [app.RunWatcher].
func (w *interviewWatcher) Begin(ctx context.Context, id nexus.RunID, again bool) {
	w.id = id
	quiet := *w.consoleWatcher
	quiet.a = w.a.Copy()
	quiet.a.Quiet = true // events are printed between the questions
	quiet.Begin(ctx, id, again)
	w.shown, w.end = quiet.shown, quiet.end
}

// Follow implements [app.RunWatcher].
func (w *interviewWatcher) Follow(ctx, work context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() {
		questionchannelsetup.Channels{
			App: &w.a.App, Place: w.place, Set: w.set, Say: w.shown.printMessage, Deliver: NewDeliverer(w.a, w.place, w.shown.printMessage),
			Show: func(ctx context.Context) (web.ServedRepository, error) { return w.a.Show(ctx, w.a, w.place) },
		}.Ask(work)
	})
	w.askQuestions(ctx, work)
}

// Finish prints the last events, because the work may end before they were read. It implements
// [app.RunWatcher].
func (w *interviewWatcher) Finish(ctx context.Context, final *state.State) {
	if final == nil {
		return
	}
	w.mu.Lock()
	after := w.told
	w.mu.Unlock()
	for e, err := range w.place.Journal.Events(ctx, w.id, after) {
		if err != nil {
			return
		}
		w.reportEvent(e)
	}
}

// reportEvent prints an event once, if it is new. It reports whether events are new now.
func (w *interviewWatcher) reportEvent(e nexus.Event) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Seq <= w.told {
		return w.live
	}
	w.told = e.Seq
	_, started := e.Fact.(nexus.RunStarted)
	_, resumed := e.Fact.(nexus.RunResumed)
	if w.live = w.live || started || resumed; w.live {
		w.printFact(e.Fact)
	}
	return w.live
}

// askQuestions shows each question as it is asked, until the work is over.
func (w *interviewWatcher) askQuestions(ctx, work context.Context) {
	both, stop := context.WithCancelCause(work)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(run.ErrInterrupted) })()
	s := state.NewState(w.id).ReadPastFrom(w.place.Journal.Events(both, w.id, 0))
	answered := func() {}
	defer func() { answered() }()
	asked := ""
	for e, err := range w.place.Journal.Follow(both, w.id, 0) {
		if err != nil || s.Apply(e) != nil {
			return
		}
		live := w.reportEvent(e)
		open := ""
		if q := s.Interview.CurrentQuestion(); live && q != nil && !s.Interview.Paused {
			open = s.Interview.OpenQuestionID()
		}
		if open == asked {
			continue
		}
		answered()
		answered, asked = func() {}, open
		if open != "" {
			answered = w.askQuestion(both, open, s.Interview.QuestionText(*s.Interview.CurrentQuestion()))
		}
	}
}

// printFact prints the facts that a person may want to correct.
func (w *interviewWatcher) printFact(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.SpecPartsCorrected:
		for _, l := range view.CorrectionLines(f, w.a.Style(w.a.Err)) {
			w.a.Say("%s", l)
		}
	case nexus.InterviewRoundStarted, nexus.RequirementCaptured, nexus.RequirementWithdrawn, nexus.SpecPartWithdrawn, nexus.AssumptionStated, nexus.AssumptionConfirmed, nexus.InterviewRoundEnded, nexus.InterviewRoundFailed:
		_, text := view.DescribeFact(f)
		style := w.a.Style(w.a.Err)
		w.a.Say("%s", strings.TrimPrefix(style.WrapWords(view.EscapeForTerminal(text), "  "), "  "))
	default:
	}
}

// askQuestion shows a question and reads the answer from the keyboard, unless it is answered elsewhere.
// The end of the input postpones the question. The returned function waits until the keyboard is
// free.
func (w *interviewWatcher) askQuestion(ctx context.Context, id, question string) (free func()) {
	ctx, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	all.Go(func() {
		style := w.a.Style(w.a.Err)
		w.a.Ask("\n" + style.Warn(id) + " " + style.WrapWords(view.EscapeLinesForTerminal(question), "") + "\n")
		for {
			line, err := w.keys.AskLine(ctx, "> ")
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				line = string(clarify.Hold)
			}
			if strings.TrimSpace(line) == "" {
				line = string(clarify.Skip)
			}
			if _, err = w.place.Journal.Ask(ctx, w.id, nexus.Request{Verb: nexus.VerbAnswer, ID: id, Text: line, By: w.a.UserName()}); err == nil {
				return
			}
			w.a.ReportError(err)
		}
	})
	return func() {
		stop(nil)
		all.Wait()
	}
}
