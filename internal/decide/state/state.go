// Package state folds a run's events into what is true now. It is the one
// projection that everybody reads: the scheduler decides from it, every face
// shows it, and a restarted process rebuilds it from the journal alone.
package state

import (
	"fmt"
	"iter"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/graph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// State is what is true of a run after the last applied event. One goroutine
// owns it; what leaves that goroutine is a [View] or a clone.
type State struct {
	Run      nexus.RunID
	Goal     nexus.GoalAccepted
	Limits   nexus.Limits // of the goal, or the last that a person set
	Status   nexus.RunStatus
	Why      string // why it ended
	Seq      int64  // last applied event
	Accepted time.Time
	Started  time.Time
	Ended    time.Time
	Updated  time.Time

	Process     nexus.Process // who conducts it, or did last
	Planning    *Attempt      // the sessions that make the plan; nil before
	PlanTries   int
	Interview   clarify.Interview // what people were asked about the goal
	Spec        Spec              // that was written of the goal
	Proposed    int               // tasks that the proposed plan has; 0 without one
	Cover       *nexus.PlanCover  // what a second look at the plan found; nil: nobody looked
	Assumed     []string          // what the plan takes for granted
	Foreseen    []nexus.PlanRisk  // what may go wrong with it, as its planner thinks
	Planned     bool              // the plan is approved
	Consent     PlanConsent
	PlanError   string
	PlanOutcome nexus.Outcome // why there is no plan, where that has a name
	Judging     *Attempt      // the session that says how hard tasks are; nil before
	Judged      int           // times that was begun
	Mending     *Attempt      // the session that says why criteria are not met; nil before
	Tasks       []*Task       // in the plan's order
	Graph       *graph.Graph  // of the tasks; nil until the plan is approved

	Lanes          []nexus.LaneFormed // of small tasks that share a session, in the order in which they were formed
	Tip            string             // last commit on the run's branch; the base before the first landing
	Queue          []*QueuedLanding   // accepted attempts that wait for the train
	CurrentLanding *QueuedLanding     // the one that is landing
	Landings       []*Landing         // what landed, in order
	Drain          *nexus.RunDrained
	Result         *nexus.ResultGated
	Published      *nexus.ResultPublished
	TargetMerge    TargetMerge // how what landed gets onto a target that moved
	Start          Start       // whether hooks let the work start

	Alone    bool          // nobody answers questions
	Patience time.Duration // that they wait for an answer; 0: for ever

	Requests  []Request // not settled, in order
	Requested int64     // the last request that was seen
	Questions []*Question
	Guidance  []Guidance // not delivered, in order
	Ledger    budget.Ledger
	Usage     nexus.Usage
	Spending  budget.Spending
	Starts    int                  // attempts started, over the whole run
	OverCap   *nexus.BudgetRefused // a cap said no that concerns more than one task
	Pressed   int                  // last mark of a cap that was said, in percent
	Readers   []nexus.RoleRouted   // who reads whose work
	Alerts    Alerts               // what people were told is odd, and what may be
	Splits    Splits               // which tasks were to be split, and what came of it
	Fixes     Fixes                // what was done about criteria that were not met on what landed
	Additions []*Addition          // what people added after the plan, in order; those that were turned down are gone
	AddTries  int                  // sessions that made tasks of them
	Parked    []ParkedAccount      // accounts without quota, in the order in which they ran out
	Windows   []QuotaWindow        // what agent programs said of the limits of their accounts, in the order in which they first did

	Checkpoints []*Checkpoint // points with names, in order
	Rewinds     []Rewind      // times that the run went back, in order
	Undo        Undo          // how what landed is reverted

	Gating []RunningGate // gates that judge now, in the order in which they began

	machine  []Transition
	deliver  bool                 // it was taken up to publish and land what landed, and nothing else
	stirred  bool                 // something happened since the last checkpoint
	shelf    *attemptPacker       // see [State.DiscardLandedDetails]; nil: nothing is forgotten
	out      bool                 // what landed was published, now or before
	phase    nexus.RunStatus      // where paused and recovering go back to
	held     time.Duration        // it was paused, or nobody conducted it
	since    time.Time            // when that began; zero while it continues
	heard    time.Time            // when its conductor last said something
	rank     map[nexus.TaskID]int // minutes of the longest path that begins with a task
	urgency  map[nexus.TaskID]int // see [State.Urgency]; nil where no task has a priority
	tasks    map[nexus.TaskID]*Task
	attempts map[nexus.AttemptID]*Attempt
	sessions map[nexus.SessionID]*Session
	evidence map[evidenceKey]nexus.Evidence
	pace     map[string][]time.Duration // by gate: how long its last judgements took
	asked    map[nexus.TaskID]bool      // a model was to say how hard it is
	paused   []*Task                    // that people paused, in order; see [Task.IsPaused]
	waived   []string                   // criteria that people do without, or signed
	told     map[nexus.TaskID]nexus.Route
	first    int64                         // first applied event
	past     iter.Seq2[nexus.Event, error] // reads what was applied again; nil: log has it
	log      []nexus.Event                 // everything that was applied, without hashes; empty with a past
	void     map[nexus.TaskID][]*Attempt   // at tasks that a rewind took away
}

// QueuedLanding is an accepted attempt on its way to the branch.
type QueuedLanding struct {
	Task    nexus.TaskID
	Attempt nexus.AttemptID
	Onto    string   // set when it departs
	Merge   *Attempt // the merger's sessions, where there is a conflict
}

// Landing is a commit on the run's branch.
type Landing struct {
	nexus.TrainLanded
	At  time.Time
	Seq int64
}

// Request is a request that waits to be settled.
type Request struct {
	Seq int64
	nexus.Request
}

// Guidance is what somebody wants the agent of a task to know, or what it is to
// hear of a landing.
type Guidance struct {
	Seq    int64
	Task   nexus.TaskID
	Text   string
	Landed bool // nobody said it
	Cut    bool // what its agent did was cut off to say it

	Comments []nexus.Comment // a batch about its change, in place of Text
}

// LookAgain is what an agent hears whom a person interrupts without a word.
const LookAgain = "Look at what you have, and do not simply do the same again."

type evidenceKey struct{ tree, gate string }

// New returns the state of a run before its first event.
func New(run nexus.RunID) *State {
	return &State{
		Run: run, machine: Transitions(), tasks: map[nexus.TaskID]*Task{}, attempts: map[nexus.AttemptID]*Attempt{},
		sessions: map[nexus.SessionID]*Session{}, evidence: map[evidenceKey]nexus.Evidence{},
		pace: map[string][]time.Duration{}, asked: map[nexus.TaskID]bool{}, told: map[nexus.TaskID]nexus.Route{},
	}
}

// Replay folds a whole run. It stops at the first error of the sequence, and
// returns the state up to there with it. The sequence is the state's past; see [State.ReadPastFrom].
func Replay(run nexus.RunID, events iter.Seq2[nexus.Event, error]) (*State, error) {
	s := New(run).ReadPastFrom(events)
	for e, err := range events {
		if err != nil {
			return s, err
		}
		if err := s.Apply(e); err != nil {
			return s, err
		}
	}
	return s, nil
}

// Apply folds one event. An event that cannot follow, or names a task or an
// attempt that does not exist, is an error and leaves the state as it was.
func (s *State) Apply(e nexus.Event) error {
	if err := s.admit(e.Fact); err != nil {
		return fmt.Errorf("fold event %d (%s): %w", e.Seq, nexus.Kind(e.Fact), err)
	}
	if f, ok := e.Fact.(nexus.RunRewound); ok {
		if err := s.rewind(e, f); err != nil {
			return fmt.Errorf("go back from event %d to event %d: %w", e.Seq, f.To, err)
		}
	} else {
		s.apply(e)
	}
	s.Alerts.Apply(e)
	s.trackChange(e.Fact)
	s.keep(e)
	s.discardAfterLanding(e.Fact)
	s.Seq = max(s.Seq, e.Seq)
	if e.At.After(s.Updated) {
		s.Updated = e.At
	}
	if _, ok := e.Fact.(nexus.RequestMade); !ok {
		s.heard = e.At
	}
	return nil
}

// stopClock stops the run's clock, from a time on.
func (s *State) stopClock(at time.Time) {
	if s.since.IsZero() {
		s.since = at
	}
}

// resumeClock lets the run's clock continue.
func (s *State) resumeClock(at time.Time) {
	if !s.since.IsZero() {
		s.held += at.Sub(s.since)
		s.since = time.Time{}
	}
}

// clock returns the time as it would be had the run never been paused, and
// never been without a process.
func (s *State) clock(at time.Time) time.Time {
	if !s.since.IsZero() {
		at = s.since
	}
	return at.Add(-s.held)
}

// Worked returns how long the run was conducted up to a time. Pauses and the
// time between two processes do not count.
func (s *State) Worked(at time.Time) time.Duration { return s.clock(at).Sub(s.Started) }

// Due returns when [State.Worked] will reach d; zero while the run is held.
func (s *State) Due(d time.Duration) time.Time {
	if !s.since.IsZero() {
		return time.Time{}
	}
	return s.Started.Add(d + s.held)
}

// IsDelivering reports whether the work on the tasks is over and what landed is
// judged or published.
func (s *State) IsDelivering() bool {
	return s.phase == nexus.StatusReviewing || s.phase == nexus.StatusLanding
}

// Rank returns the minutes of the longest path of work that begins with a
// task: the higher, the sooner it should start.
func (s *State) Rank(id nexus.TaskID) int { return s.rank[id] }

// Urgency returns how much a task and what waits for it matter; see [graph.Graph.Urgency]. It is the
// same for all tasks of a plan without priorities.
func (s *State) Urgency(id nexus.TaskID) int { return s.urgency[id] }

// Task returns the task with this ID, nil when there is none.
func (s *State) Task(id nexus.TaskID) *Task { return s.tasks[id] }

// Attempt returns the attempt with this ID, nil when there is none.
func (s *State) Attempt(id nexus.AttemptID) *Attempt { return s.attempts[id] }

// KnownEvidence returns the evidence that a gate gave last on exactly this tree.
func (s *State) KnownEvidence(tree, gate string) (nexus.Evidence, bool) {
	e, ok := s.evidence[evidenceKey{tree, gate}]
	return e, ok
}

// Active returns the attempts that have a worker, in the plan's order.
func (s *State) Active() []*Attempt {
	var all []*Attempt
	for _, t := range s.Tasks {
		if a := t.Current(); a != nil && a.Stage == Working {
			all = append(all, a)
		}
	}
	return all
}

// RouteAnswer reports whether a model was to say how hard a task is, and returns
// what it said, nil when it said nothing.
func (s *State) RouteAnswer(id nexus.TaskID) (*nexus.Route, bool) {
	if r, ok := s.told[id]; ok {
		return &r, true
	}
	return nil, s.asked[id]
}

// Counts counts tasks by status.
func (s *State) Counts() map[nexus.TaskStatus]int {
	c, blocked := map[nexus.TaskStatus]int{}, s.Blockers()
	for _, t := range s.Tasks {
		c[blocked.StatusOf(t)]++
	}
	return c
}

// StatusOf returns a task's status. Blocked is computed: a task is blocked
// while one that it needs has ended without landing. Nothing is under way in
// a run that has ended: what was waits for the run to be taken up again.
func (s *State) StatusOf(t *Task) nexus.TaskStatus {
	status := s.unblocked(t)
	if status == nexus.Pending {
		if _, ok := s.Blocker(t); ok {
			return nexus.Blocked
		}
	}
	return status
}

// unblocked returns a task's status but for blocked.
func (s *State) unblocked(t *Task) nexus.TaskStatus {
	if s.Status.Ended() && !t.Status.Ended() {
		return nexus.Pending
	}
	return t.Status
}

// Blocker returns the nearest task that keeps t from ever starting.
func (s *State) Blocker(t *Task) (nexus.TaskID, bool) {
	seen := map[nexus.TaskID]bool{}
	for level := t.Needs; len(level) > 0; {
		var above []nexus.TaskID
		for _, id := range level {
			n := s.tasks[id]
			if n == nil || seen[id] {
				continue
			}
			seen[id] = true
			if n.Status.Ended() && n.Status != nexus.Landed {
				return id, true
			}
			if n.Status == nexus.Pending {
				above = append(above, n.Needs...)
			}
		}
		level = above
	}
	return "", false
}

// Ready reports whether every task that t needs has landed, and every one that it wants has, or will not.
func (s *State) Ready(t *Task) bool {
	if t.Status != nexus.Pending || s.Splitting(t.ID) {
		return false
	}
	for _, id := range t.Needs {
		if n := s.tasks[id]; n == nil || n.Status != nexus.Landed {
			return false
		}
	}
	for _, id := range t.Wants {
		if n := s.tasks[id]; n != nil && n.Status != nexus.Landed && !s.hopeless(n) {
			return false
		}
	}
	return true
}

// hopeless reports whether a task will not land by itself.
func (s *State) hopeless(t *Task) bool {
	status := s.StatusOf(t)
	return status.Ended() && status != nexus.Landed
}

// Splitting reports whether somebody splits a task now.
func (s *State) Splitting(id nexus.TaskID) bool {
	e := s.Splits.ForTask(id)
	return e != nil && e.Open() && s.attempts[e.Attempt].Stage == Working
}
