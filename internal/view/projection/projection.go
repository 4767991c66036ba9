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

// EventReader reads the events of a run after a number.
type EventReader func(after int64) iter.Seq2[nexus.Event, error]

// Options provide the facts that are not in the events of a run. The zero Options are valid.
type Options struct {
	Past    EventReader                                   // reads the run again; nil: events stay in memory
	Earlier func() *route.RunStats                        // durations of earlier runs; nil: unknown
	Place   func(id nexus.AttemptID) (dir, branch string) // of an attempt's worktree; nil: unknown
	Keep    int                                           // events kept for [Projection.Log]; 0 means 500
}

// Projection is the data of one run for all interfaces. One goroutine owns it; package hub stores
// those of several runs.
type Projection struct {
	o     Options
	state *state.State
	trail activityLog
	about RunContext
}

// RunContext holds the facts about a run that are not in its events. The zero RunContext means
// the latest run of its repository, with nothing else known.
type RunContext struct {
	Held    *nexus.RunProcess // its conductor; nil: none, if known
	Known   bool              // Held is known
	Earlier bool              // a later run of its repository exists
	Past    *route.RunStats   // durations of earlier runs; nil: unknown
}

// isInterrupted reports whether a run is unfinished and known to have no conductor.
func (b RunContext) isInterrupted(s *state.State) bool {
	return b.Known && b.Held == nil && !s.Status.HasEnded()
}

// RunStatus returns the status of a run as it is shown.
func RunStatus(s *state.State, b RunContext) nexus.RunStatus {
	if b.isInterrupted(s) {
		return nexus.StatusInterrupted
	}
	return s.Status
}

// displayTime returns the time at which a run is shown: the clock of an interrupted run stops.
func (b RunContext) displayTime(s *state.State, now time.Time) time.Time {
	if b.isInterrupted(s) {
		return s.Updated
	}
	return now
}

// BuildRun returns the view of a run, for a caller that has its state already. [Projection.Run]
// returns the same.
func BuildRun(s *state.State, b RunContext, now time.Time) view.Run {
	now = b.displayTime(s, now)
	r := view.RunOf(s, humaninput.WaitingInRun(s, !b.Earlier), now)
	if r.Held = b.Held; b.isInterrupted(s) {
		r.MarkInterrupted()
	} else if b.Past != nil {
		r.AddForecast(s, b.Past, now)
	}
	return r
}

// New returns the projection of a run before its first event.
func New(run nexus.RunID, o Options) *Projection {
	if o.Keep == 0 {
		o.Keep = 500
	}
	p := &Projection{o: o, state: state.New(run).DiscardLandedDetails(), trail: newActivityLog(o.Keep)}
	if o.Past != nil {
		p.state.ReadPastFrom(o.Past(0))
	}
	return p
}

// Apply applies an event of the run. An event that was applied already changes nothing. An event
// that does not fit is an error, and leaves the projection unchanged.
func (p *Projection) Apply(e nexus.Event) error {
	if e.Seq <= p.state.Seq {
		return nil
	}
	booked := p.isSettlement(e.Fact)
	if err := p.state.Apply(e); err != nil {
		return err
	}
	p.trail.apply(e, booked)
	return nil
}

// isSettlement reports whether a fact settles a call: each call counts once.
func (p *Projection) isSettlement(f nexus.Fact) bool {
	spent, ok := f.(nexus.BudgetSpent)
	if !ok {
		return false
	}
	_, open := p.state.Ledger.ReservationByID(spent.ID)
	return open
}

// State returns the state. The caller must not change it.
func (p *Projection) State() *state.State { return p.state }

// LastSeq returns the number of the last applied event.
func (p *Projection) LastSeq() int64 { return p.state.Seq }

// SetHolder sets the conductor of the run, nil for none. An unfinished run without a conductor is
// interrupted, and its clock stops.
func (p *Projection) SetHolder(by *nexus.RunProcess) { p.about.Held, p.about.Known = by, true }

// IsInterrupted reports whether the run is unfinished and known to have no conductor.
func (p *Projection) IsInterrupted() bool { return p.about.isInterrupted(p.state) }

// MarkEarlier records that a later run of its repository exists: the items of a finished run then
// no longer wait.
func (p *Projection) MarkEarlier() { p.about.Earlier = true }

// IsEarlier reports whether a later run of its repository is known.
func (p *Projection) IsEarlier() bool { return p.about.Earlier }

// displayTime returns the time at which the run is shown.
func (p *Projection) displayTime(now time.Time) time.Time { return p.about.displayTime(p.state, now) }

// Run returns the view of the run.
func (p *Projection) Run(now time.Time) view.Run {
	b := p.about
	if p.o.Earlier != nil && !p.state.Status.HasEnded() && !p.IsInterrupted() {
		b.Past = p.o.Earlier()
	}
	return BuildRun(p.state, b, now)
}
