package projection

import (
	"iter"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// EventReadFunc reads the events of a run after a number.
type EventReadFunc func(after int64) iter.Seq2[nexus.Event, error]

// Options provide the facts that are not in the events of a run. The zero Options are valid.
type Options struct {
	Past    EventReadFunc                                 // reads the run again; nil: events stay in memory
	Earlier func() *route.PastRunStatistics               // durations of earlier runs; nil: unknown
	Place   func(id nexus.AttemptID) (dir, branch string) // of an attempt's worktree; nil: unknown
	Keep    int                                           // events kept for [RunProjection.EventLog]; 0 means 500
}

// RunProjection is the data of one run for all interfaces. One goroutine owns it; package hub stores
// those of several runs.
type RunProjection struct {
	o     Options
	state *state.State
	trail activityLog
	about RunFactsOutsideJournal
}

// RunFactsOutsideJournal holds the facts about a run that are not in its events. The zero value means
// the latest run of its repository, with nothing else known.
type RunFactsOutsideJournal struct {
	Held    *nexus.RunProcess        // its conductor; nil: none, if known
	Known   bool                     // Held is known
	Earlier bool                     // a later run of its repository exists
	Past    *route.PastRunStatistics // durations of earlier runs; nil: unknown
}

// isInterrupted reports whether a run is unfinished and known to have no conductor.
func (b RunFactsOutsideJournal) isInterrupted(s *state.State) bool {
	return b.Known && b.Held == nil && !s.Status.HasEnded()
}

// RunStatus returns the status of a run as it is shown.
func RunStatus(s *state.State, b RunFactsOutsideJournal) nexus.RunStatus {
	if b.isInterrupted(s) {
		return nexus.StatusInterrupted
	}
	return s.Status
}

// currentOrInterruptedTime returns the time at which a run is shown: the clock of an interrupted run stops.
func (b RunFactsOutsideJournal) displayTime(s *state.State, now time.Time) time.Time {
	if b.isInterrupted(s) {
		return s.Updated
	}
	return now
}

// BuildRunView returns the view of a run, for a caller that has its state already. [RunProjection.Run]
// returns the same.
func BuildRunView(s *state.State, b RunFactsOutsideJournal, now time.Time) view.RunView {
	now = b.displayTime(s, now)
	r := view.NewRunView(s, humaninput.WaitingInRun(s, !b.Earlier), now)
	if r.Held = b.Held; b.isInterrupted(s) {
		r.MarkInterrupted()
	} else if b.Past != nil {
		r.AddForecast(s, b.Past, now)
	}
	return r
}

// NewProjection returns the projection of a run before its first event.
func NewProjection(run nexus.RunID, o Options) *RunProjection {
	if o.Keep == 0 {
		o.Keep = 500
	}
	p := &RunProjection{o: o, state: state.NewState(run).DiscardLandedDetails(), trail: newActivityLog(o.Keep)}
	if o.Past != nil {
		p.state.ReadPastFrom(o.Past(0))
	}
	return p
}

// Apply applies an event of the run. An event that was applied already changes nothing. An event
// that does not fit is an error, and leaves the projection unchanged.
func (p *RunProjection) Apply(e nexus.Event) error {
	if e.Seq <= p.state.Seq {
		return nil
	}
	booked := p.isSettlement(e.Fact)
	if err := p.state.Apply(e); err != nil {
		return err
	}
	p.trail.applyEvent(e, booked)
	return nil
}

// isSettlement reports whether a fact settles a call: each call counts once.
func (p *RunProjection) isSettlement(f nexus.Fact) bool {
	spent, ok := f.(nexus.BudgetSettled)
	if !ok {
		return false
	}
	_, open := p.state.Ledger.ReservationByID(spent.ID)
	return open
}

// State returns the state. The caller must not change it.
func (p *RunProjection) State() *state.State { return p.state }

// LastSeq returns the number of the last applied event.
func (p *RunProjection) LastSeq() int64 { return p.state.Seq }

// SetConductor sets the conductor of the run, nil for none. An unfinished run without a conductor is
// interrupted, and its clock stops.
func (p *RunProjection) SetConductor(by *nexus.RunProcess) { p.about.Held, p.about.Known = by, true }

// IsInterrupted reports whether the run is unfinished and known to have no conductor.
func (p *RunProjection) IsInterrupted() bool { return p.about.isInterrupted(p.state) }

// MarkLaterRunExists records that a later run of its repository exists: the items of a finished run then
// no longer wait.
func (p *RunProjection) MarkLaterRunExists() { p.about.Earlier = true }

// HasLaterRun reports whether a later run of its repository is known.
func (p *RunProjection) HasLaterRun() bool { return p.about.Earlier }

// currentOrInterruptedTime returns the time at which the run is shown.
func (p *RunProjection) currentOrInterruptedTime(now time.Time) time.Time {
	return p.about.displayTime(p.state, now)
}

// Run returns the view of the run.
func (p *RunProjection) Run(now time.Time) view.RunView {
	b := p.about
	if p.o.Earlier != nil && !p.state.Status.HasEnded() && !p.IsInterrupted() {
		b.Past = p.o.Earlier()
	}
	return BuildRunView(p.state, b, now)
}
