package projection

import (
	"iter"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// EventReader reads the events of a run that come after a number.
type EventReader func(after int64) iter.Seq2[nexus.Event, error]

// Options are what a projection knows beside the events of its run. The zero
// Options will do.
type Options struct {
	Past    EventReader                                   // reads the run again; nil: it keeps what it applied in memory
	Earlier func() *route.Stats                           // what earlier runs took; nil: unknown
	Place   func(id nexus.AttemptID) (dir, branch string) // of an attempt's worktree; nil: unknown
	Keep    int                                           // events kept for [Projection.Log]; 0 means 500
}

// Projection is what faces show of one run. One goroutine owns it; package hub
// keeps those of several runs.
type Projection struct {
	o     Options
	state *state.State
	trail activityLog
	about RunContext
}

// RunContext is what the events of a run do not say of it. The zero About is of the
// latest run of its repository, of which nothing else is known.
type RunContext struct {
	Held    *nexus.Process // who conducts it; nil: nobody, where that is known
	Known   bool           // whether somebody conducts it is known
	Earlier bool           // another run of its repository began later
	Past    *route.Stats   // what earlier runs took; nil: unknown
}

// interrupted reports whether a run is not over and known to be conducted by nobody.
func (b RunContext) interrupted(s *state.State) bool {
	return b.Known && b.Held == nil && !s.Status.Ended()
}

// clock returns the time that a run is shown at: of one that is interrupted it stands
// still.
func (b RunContext) clock(s *state.State, now time.Time) time.Time {
	if b.interrupted(s) {
		return s.Updated
	}
	return now
}

// BuildRun returns what there is to tell about a run as a whole, for who has folded it
// already. It is what [Projection.Run] returns.
func BuildRun(s *state.State, b RunContext, now time.Time) view.Run {
	now = b.clock(s, now)
	r := view.Of(s, humaninput.Waiting(s, !b.Earlier), now)
	if r.Held = b.Held; b.interrupted(s) {
		r.Status = nexus.StatusInterrupted
	} else if b.Past != nil {
		r.Expect(s, b.Past, now)
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

// Apply folds an event of the run. One that was applied already changes nothing.
// One that cannot follow is an error, and leaves the projection as it was.
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

// isSettlement reports whether a fact settles a call: each counts once.
func (p *Projection) isSettlement(f nexus.Fact) bool {
	spent, ok := f.(nexus.BudgetSpent)
	if !ok {
		return false
	}
	_, open := p.state.Ledger.Reservation(spent.ID)
	return open
}

// State returns what was folded. It is only read.
func (p *Projection) State() *state.State { return p.state }

// Seq returns the number of the last event that was applied.
func (p *Projection) Seq() int64 { return p.state.Seq }

// SetHolder says who conducts the run, nil where nobody does. A run that is not over
// and that nobody conducts is interrupted, and its clock stands still.
func (p *Projection) SetHolder(by *nexus.Process) { p.about.Held, p.about.Known = by, true }

// Interrupted reports whether the run is not over and known to be conducted by
// nobody.
func (p *Projection) Interrupted() bool { return p.about.interrupted(p.state) }

// MarkEarlier says that another run of its repository began later: what waits of a run that is
// over waits no more.
func (p *Projection) MarkEarlier() { p.about.Earlier = true }

// IsEarlier reports whether another run of its repository is known to have begun later.
func (p *Projection) IsEarlier() bool { return p.about.Earlier }

// clock returns the time that a face shows the run at.
func (p *Projection) clock(now time.Time) time.Time { return p.about.clock(p.state, now) }

// Run returns what there is to tell about the run as a whole.
func (p *Projection) Run(now time.Time) view.Run {
	b := p.about
	if p.o.Earlier != nil && !p.state.Status.Ended() && !p.Interrupted() {
		b.Past = p.o.Earlier()
	}
	return BuildRun(p.state, b, now)
}
