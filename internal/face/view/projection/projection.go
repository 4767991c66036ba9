package projection

import (
	"iter"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Past reads the events of a run that come after a number.
type Past func(after int64) iter.Seq2[nexus.Event, error]

// Options are what a projection knows beside the events of its run. The zero
// Options will do.
type Options struct {
	Past    Past                                          // reads the run again; nil: it keeps what it applied in memory
	Earlier func() *route.Stats                           // what earlier runs took; nil: unknown
	Place   func(id nexus.AttemptID) (dir, branch string) // of an attempt's worktree; nil: unknown
	Keep    int                                           // events kept for [Projection.Log]; 0 means 500
}

// Projection is what faces show of one run. One goroutine owns it; see [Hub] for
// more.
type Projection struct {
	o       Options
	state   *state.State
	trail   trail
	held    *nexus.Process
	known   bool // whether somebody conducts the run is known: held says it
	earlier bool // another run of its repository began later
}

// New returns the projection of a run before its first event.
func New(run nexus.RunID, o Options) *Projection {
	if o.Keep == 0 {
		o.Keep = 500
	}
	p := &Projection{o: o, state: state.New(run).Spare(), trail: newTrail(o.Keep)}
	if o.Past != nil {
		p.state.Remember(o.Past(0))
	}
	return p
}

// Apply folds an event of the run. One that was applied already changes nothing.
// One that cannot follow is an error, and leaves the projection as it was.
func (p *Projection) Apply(e nexus.Event) error {
	if e.Seq <= p.state.Seq {
		return nil
	}
	booked := p.booking(e.Fact)
	if err := p.state.Apply(e); err != nil {
		return err
	}
	p.trail.apply(e, booked)
	return nil
}

// booking reports whether a fact settles a call: each counts once.
func (p *Projection) booking(f nexus.Fact) bool {
	spent, ok := f.(nexus.BudgetSpent)
	if !ok {
		return false
	}
	_, open := p.state.Ledger.Open(spent.ID)
	return open
}

// State returns what was folded. It is only read.
func (p *Projection) State() *state.State { return p.state }

// Seq returns the number of the last event that was applied.
func (p *Projection) Seq() int64 { return p.state.Seq }

// Held says who conducts the run, nil where nobody does. A run that is not over
// and that nobody conducts is interrupted, and its clock stands still.
func (p *Projection) Held(by *nexus.Process) { p.held, p.known = by, true }

// Interrupted reports whether the run is not over and known to be conducted by
// nobody.
func (p *Projection) Interrupted() bool { return p.known && p.held == nil && !p.state.Status.Ended() }

// clock returns the time that a face shows the run at.
func (p *Projection) clock(now time.Time) time.Time {
	if p.Interrupted() {
		return p.state.Updated
	}
	return now
}

// Run returns what there is to tell about the run as a whole.
func (p *Projection) Run(now time.Time) view.Run {
	now = p.clock(now)
	r := view.Of(p.state, now)
	if p.o.Earlier != nil && !p.Interrupted() {
		r.Expect(p.state, p.o.Earlier(), now)
	}
	if r.Held = p.held; p.Interrupted() {
		r.Status = nexus.StatusInterrupted
	}
	return r
}
