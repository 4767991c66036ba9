// Package progress runs a run to its end for a command: it shows the run on the terminal of the
// process that conducts it, asks people, and prints a report at the end.
package progress

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/linemode"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// redrawn is the interval for redrawing the block on a terminal.
const redrawn = 200 * time.Millisecond

// runScreen shows a run while it continues: on a terminal as a block that is redrawn below the lines
// of events, elsewhere as lines alone, or as JSON events. It reads the journal, like every other
// display.
type runScreen struct {
	a     *console.Console
	place *app.Repository
	file  statusfile.Options
	lines bool // events as JSON on standard output
	live  bool
	quiet bool // events are not drawn, or drawn elsewhere

	shown chan struct{} // signals that an event was shown

	mu    sync.Mutex // guards the fields below
	state *state.State
	drawn int // lines of the block on the terminal
	over  bool
	past  *route.PastRunStatistics // durations of earlier runs; nil until they are read
	said  linemode.EventLogDrawer
	heard bool            // a person can answer here
	told  map[string]bool // gates that cannot run, which is reported only once

	agree      ConsentDialog                              // nil: consent is not asked for here
	wish       func(context.Context, nexus.Request) error // makes a request to the run
	asked      bool                                       // the question about the plan is on the last line
	why        bool                                       // the next line is the reason why the plan is refused
	gone       bool                                       // there is no more input
	sent       string                                     // the question that was answered here
	fullScreen                                            // state of the whole screen
	lost       error                                      // why the journal is no longer read
	leave      func()                                     // detaches the person from the run; nil: not possible
	other      bool                                       // another process conducts the run

	parting sync.Once     // the terminal is left once
	hushed  chan struct{} // closed when nothing is to be read any more
	ear     sync.Mutex    // held while typed input is read
}

// newScreen returns the screen of a run. With lines it writes events as JSON on standard output;
// file is where the status is also written.
func newScreen(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID, lines bool, file statusfile.Options) *runScreen {
	s := &runScreen{
		a: a, place: p, file: file, lines: lines, live: a.CanRedraw(a.Err) && !lines, quiet: a.Quiet || a.Host.Watched,
		state: state.NewState(id).ReadPastFrom(p.Journal.Events(context.WithoutCancel(ctx), id, 0)), told: map[string]bool{},
		shown: make(chan struct{}, 1), fullScreen: newFullScreen(), hushed: make(chan struct{}),
	}
	s.said = linemode.EventLogDrawer{Said: view.EventLineDrawer{Verbose: a.Verbose}, Style: a.Style(a.Err), Actions: IsGitHubActions(a)}
	return s
}

// guardText makes a text safe for the reader of the output.
func guardText(a *console.Console, text string) string {
	if IsGitHubActions(a) {
		return linemode.GuardActionsOutput(text)
	}
	return text
}

// IsGitHubActions reports whether the runner of GitHub Actions reads the output.
func IsGitHubActions(a *console.Console) bool {
	return a.Env("GITHUB_ACTIONS") == "true" && !a.CanRedraw(a.Err)
}

// Follow shows the run until the work is over, and prints a message at the first signal, which
// ends ctx.
func (s *runScreen) Follow(ctx, work context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { s.reportFirstSignal(ctx, work) })
	all.Go(func() { s.openFullScreenWhenReady(ctx, work) })
	s.showEvents(work)
}

func (s *runScreen) showEvents(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil) // drawing that runs beside the events ends with them
	if s.file.Path != "" {
		all.Go(func() {
			file := s.file
			file.Past = s.place.Journal.Events(ctx, s.state.Run, 0)
			events := s.place.Journal.Follow(ctx, s.state.Run, 0)
			if err := statusfile.KeepFileUpToDate(ctx, s.state.Run, events, file); err != nil && ctx.Err() == nil {
				s.a.ReportError(err)
			}
		})
	}
	if s.live {
		all.Go(func() { s.redrawPeriodically(ctx) })
		all.Go(func() { s.readPastStats(ctx) })
	} else if !s.lines && !s.quiet {
		all.Go(func() { linemode.RunHeartbeat(ctx, func(time.Time) { s.printHeartbeat() }) })
	}
	for e, err := range s.place.Journal.Follow(ctx, s.state.Run, s.lastSeen()) {
		if err != nil && ctx.Err() == nil {
			s.mu.Lock()
			s.lost = err
			s.mu.Unlock()
		}
		if err != nil || !s.showEvent(ctx, e) {
			return
		}
	}
}

// readPastStats reads the durations of earlier runs, which takes a moment. If they cannot be read, they
// remain unknown.
func (s *runScreen) readPastStats(ctx context.Context) {
	past, err := app.RecentRunStatistics(ctx, s.place.Journal, s.state.Run)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.past = past
}

// showPast reads the events before this process, and prints in one line how far the run had come.
// An event stream contains all of them.
func (s *runScreen) showPast(ctx context.Context) {
	if s.lines {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for e, err := range s.place.Journal.Events(ctx, s.state.Run, 0) {
		if err != nil || s.state.Apply(e) != nil {
			return // Follow reports it
		}
		s.isRepeatedGateFailure(e.Fact)
	}
	if s.quiet {
		return
	}
	v := s.runView()
	how := "continues: it was"
	if s.other {
		how = "continues: it is"
	}
	s.a.Say("run %s %s %s, %d of %d tasks landed, %s of %s spent; nexus logs shows what happened before",
		s.state.Run, how, s.state.Status, v.Counts.Landed, v.Counts.Total, v.Money.Spent, v.Money.Limit)
	SayPaused(s.a, s.state)
	for _, q := range v.Asks {
		s.a.Say("it waits for a person, %s: %s (%s)", q.ID, view.EscapeForTerminal(q.Text), view.EscapeForTerminal(q.ReplyCommands()))
	}
}

// redrawPeriodically keeps the clock on the terminal running.
func (s *runScreen) redrawPeriodically(ctx context.Context) {
	beat := time.NewTicker(redrawn)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
			s.mu.Lock()
			if !s.up && s.prompt() == "" { // typed input stays
				s.draw()
			}
			s.mu.Unlock()
		case <-ctx.Done():
			return
		}
	}
}

// showEvent shows one event, and reports whether to continue.
func (s *runScreen) showEvent(ctx context.Context, e nexus.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.signalShown()
	if s.over || e.Seq <= s.state.Seq {
		return !s.over
	}
	if err := s.state.Apply(e); err != nil {
		s.lost = unreadableEventError(e, err)
		return false
	}
	s.allowFullScreen()
	if s.lines && s.a.PrintEventJSON(e) != nil {
		return false
	}
	if f, settled := e.Fact.(nexus.RequestSettled); settled && !f.Granted {
		s.sent = "" // possibly requested here
	}
	if f, asks := e.Fact.(nexus.QuestionAsked); asks && f.ID == s.state.Consent.Question && s.isAskingConsent() {
		s.showPlanQuestion(ctx)
		return true
	}
	if s.lines {
		return true
	}
	if _, planned := e.Fact.(nexus.TaskPlanned); s.isRepeatedGateFailure(e.Fact) || s.repeatsOwnInput(e.Fact) || planned && s.live {
		return true // the block has all tasks
	}
	if text := s.eventLine(e); text != "" && !s.quiet && !s.up {
		s.eraseBlock()
		if _, ok := e.Fact.(nexus.RunDrainStarted); ok {
			text += s.awaitedAnswers()
		}
		_, _ = fmt.Fprintln(s.a.Err, text)
		s.draw()
	}
	return true
}

// unreadableEventError returns the error of an event that does not fit the events before it.
func unreadableEventError(e nexus.Event, err error) error {
	return &nexus.Error{
		Code: nexus.CodeJournalCorrupt, Message: fmt.Sprintf("run %s cannot be shown after event %d", e.Run, e.Seq-1), Cause: err,
		Hint: "The run is not affected. nexus journal verify says whether the journal is damaged; a newer nexus may have written it.",
	}
}

// eventLine draws one event, empty if it is not worth a line. Without a redrawn block, it adds the
// time and the cost so far.
func (s *runScreen) eventLine(e nexus.Event) string {
	if s.said.Style = s.a.Style(s.a.Err); s.live {
		return s.said.Said.Draw(s.said.Style, e)
	}
	return s.said.DrawEvent(s.state, e)
}

// printHeartbeat prints a sign of life of the run.
func (s *runScreen) printHeartbeat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.asked || s.state.Status == "" || s.state.Status.HasEnded() {
		return
	}
	_, _ = fmt.Fprintln(s.a.Err, s.said.HeartbeatLine(s.runView(), s.a.Now()))
}

// runView returns the view of the run with its conductor. The caller holds the lock.
func (s *runScreen) runView() view.RunView {
	return projection.BuildRunView(s.state, projection.RunFactsOutsideJournal{Past: s.past}, s.a.Now())
}

// signalShown wakes the reader that waits for an event.
func (s *runScreen) signalShown() {
	select {
	case s.shown <- struct{}{}:
	default: // it has not read the previous one yet
	}
}

// printMessage prints a message between the lines of the run.
func (s *runScreen) printMessage(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eraseBlock()
	s.a.Say("%s", view.EscapeForTerminal(fmt.Sprintf(format, args...)))
	s.draw()
}

// reportFirstSignal prints a message at the first signal, unless the work is over before.
func (s *runScreen) reportFirstSignal(ctx, work context.Context) {
	select {
	case <-ctx.Done():
		s.reportInterrupt(work)
	case <-work.Done():
	}
}

// reportInterrupt prints at once what a signal has started, and what the run still waits for
// according to the journal.
func (s *runScreen) reportInterrupt(ctx context.Context) {
	s.catchUp(ctx)
	s.awaitLines()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over || s.quiet {
		return
	}
	if s.eraseBlock(); s.isAskingConsent() {
		return // nothing is in progress
	}
	s.a.Say("interrupted: nothing new starts, and gates and commands are stopped%s; interrupt again to end at once, losing only the answers in progress", s.awaitedAnswers())
	s.draw()
}

// awaitedAnswers names the model calls whose answers are still to come, because they are paid for. The
// caller holds the lock.
func (s *runScreen) awaitedAnswers() string {
	var all []string
	for _, id := range s.state.Ledger.UnsettledIDs() {
		r, _ := s.state.Ledger.ReservationByID(id)
		all = append(all, string(r.Session))
	}
	if len(all) == 0 {
		return ""
	}
	return "; waiting for " + view.CountWithNoun(len(all), "answer") + " of a model: " + view.EscapeForTerminal(strings.Join(all, ", "))
}

// isRepeatedGateFailure reports whether a fact repeats that a gate cannot run. The caller holds
// the lock.
func (s *runScreen) isRepeatedGateFailure(f nexus.Fact) bool {
	g, ok := f.(nexus.GateJudged)
	cannot := g.Evidence.State == nexus.NotRun || g.Base && g.Evidence.State == nexus.Environmental
	if !ok || g.Cached || !cannot {
		return false
	}
	key := g.Evidence.Gate + ": " + g.Evidence.Why
	known := s.told[key]
	s.told[key] = true
	return known
}

// Finish shows the remaining events and removes the block.
func (s *runScreen) Finish(ctx context.Context, final *state.State) {
	s.closeFullScreen(final)
	if final != nil {
		s.catchUp(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eraseBlock()
	if !s.over && !s.live && !s.lines && !s.quiet && final != nil {
		ended := projection.BuildRunView(s.state, projection.RunFactsOutsideJournal{Known: !s.other}, s.a.Now())
		_, _ = io.WriteString(s.a.Err, s.said.EndTable(ended))
	}
	s.over = true
}

// catchUp shows the events in the journal that were not shown yet.
func (s *runScreen) catchUp(ctx context.Context) {
	for e, err := range s.place.Journal.Events(ctx, s.state.Run, s.lastSeen()) {
		if err != nil || !s.showEvent(ctx, e) {
			break
		}
	}
}

func (s *runScreen) lastSeen() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Seq
}

// draw redraws the block, or the question about the plan while there is one. The caller holds the
// lock.
func (s *runScreen) draw() {
	if s.isAskingConsent() && !s.over && !s.up {
		if text := s.consentPrompt(); !s.asked {
			s.drawn, s.asked = strings.Count(text, "\n"), true
			s.a.Ask(text)
		}
		return
	}
	if !s.live || s.over || s.up || s.state.Status == "" {
		return
	}
	block := view.DrawLiveStatus(s.a.Style(s.a.Err), s.runView())
	var b strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", s.drawn)
	}
	block += s.prompt()
	b.WriteString("\r" + strings.ReplaceAll(block, "\n", "\x1b[K\n") + "\x1b[J")
	s.drawn = strings.Count(block, "\n")
	_, _ = io.WriteString(s.a.Err, b.String())
}

// eraseBlock removes the block, or the question. The caller holds the lock.
func (s *runScreen) eraseBlock() {
	switch {
	case s.up: // it is erased
	case s.asked && !s.live:
		s.a.Ask("\n")
	case s.drawn > 0:
		_, _ = fmt.Fprintf(s.a.Err, "\x1b[%dA\r\x1b[J", s.drawn)
	case s.asked:
		s.a.Ask("\r\x1b[J")
	}
	s.drawn, s.asked = 0, false
}
