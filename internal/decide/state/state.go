// Package state folds a run's events into the present state of the run. It is the only
// projection that the program decides from: the scheduler decides from it, every interface
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

// State is the state of a run after the last applied event. One goroutine owns it; other
// goroutines get a [WorkerView] or a clone.
type State struct {
	Run      nexus.RunID
	Goal     nexus.GoalAccepted
	Limits   nexus.Limits // of the goal, or the last ones that a person set
	Status   nexus.RunStatus
	Why      string // why it ended
	Seq      int64  // last applied event
	Accepted time.Time
	Started  time.Time
	Ended    time.Time
	Updated  time.Time

	Process     nexus.RunProcess // the present or last conductor
	Planning    *Attempt         // the sessions that make the plan; nil before
	PlanTries   int
	Interview   clarify.Interview // the interview about the goal
	Spec        Spec              // spec of the goal
	Proposed    int               // tasks of the proposed plan; 0 if there is none
	Cover       *nexus.PlanCover  // result of the plan's coverage check; nil: not checked
	Assumed     []string          // assumptions of the plan
	Foreseen    []nexus.PlanRisk  // risks of the plan that its planner sees
	Planned     bool              // the plan is approved
	Consent     PlanConsent
	PlanError   string
	PlanOutcome nexus.Outcome    // why there is no plan, as an outcome if it has one
	Judging     *Attempt         // the session that estimates tasks' complexity; nil before
	Judged      int              // number of such sessions
	Mending     *Attempt         // the session that finds why criteria are not met; nil before
	Tasks       []*Task          // in the plan's order
	Graph       *graph.TaskGraph // of the tasks; nil until the plan is approved

	// groups of small tasks that share a session, in the order in which they were formed
	Lanes          []nexus.LaneFormed
	Tip            string           // last commit on the run's branch; the base before the first landing
	Queue          []*QueuedLanding // the landing queue: accepted attempts that wait to land
	CurrentLanding *QueuedLanding   // the attempt that is landing
	Landings       []*Landing       // landed commits, in order
	Drain          *nexus.RunDrained
	Result         *nexus.ResultGated
	Published      *nexus.ResultPublished
	TargetMerge    TargetMerge // merge of the landed commits onto a target that moved
	Start          StartCheck  // whether hooks let the work start

	Alone    bool          // no person answers questions
	Patience time.Duration // how long questions wait for an answer; 0: forever

	Requests  []Request // open requests, in order
	Requested int64     // sequence number of the last request
	Questions []*Question
	Guidance  []Guidance // undelivered guidance, in order
	Ledger    budget.MoneyLedger
	Usage     nexus.Usage
	Spending  budget.RunSpending
	Starts    int                  // attempts started, over the whole run
	OverCap   *nexus.BudgetRefused // the refusal by a cap that affects more than one task
	Pressed   int                  // last reported percentage of a cap
	Readers   []nexus.RoleRouted   // models that review the work of other models
	Alerts    AlertWatch           // alerts that were sent, and the data for the next ones
	Splits    TaskSplits           // tasks that were to be split, and the results
	Fixes     CriterionFixes       // faults behind criteria that the landed tree does not meet
	Additions []*RunAddition       // people's additions after the plan, in order; rejected ones are removed
	AddTries  int                  // sessions that made tasks of them
	Parked    []ParkedAccount      // accounts without quota, in the order in which they ran out
	// limits of accounts as agent programs reported them, in the order of the first reports
	Windows []QuotaWindow

	Checkpoints []*Checkpoint // named points, in order
	Rewinds     []Rewind      // rewinds of the run, in order
	Undo        LandingUndo   // revert of landed changes

	Gating []RunningGate // gates that are running, in the order in which they began

	machine  []RunTransition
	deliver  bool                 // it was reopened only to publish and merge the landed commits
	stirred  bool                 // something happened since the last checkpoint
	shelf    *attemptPacker       // see [State.DiscardLandedDetails]; nil: nothing is discarded
	out      bool                 // the landed commits were published, now or before
	phase    nexus.RunStatus      // status to which paused and recovering return
	held     time.Duration        // total time in which it was paused or not running
	since    time.Time            // start of the present such time; zero while it runs
	heard    time.Time            // time of the last fact by its conductor
	rank     map[nexus.TaskID]int // minutes of the longest path that starts with a task
	urgency  map[nexus.TaskID]int // see [State.TaskUrgency]; nil if no task has a priority
	tasks    map[nexus.TaskID]*Task
	attempts map[nexus.AttemptID]*Attempt
	sessions map[nexus.SessionID]*Session
	evidence map[evidenceKey]nexus.Evidence
	pace     map[string][]time.Duration // durations of the last judgements, by gate
	asked    map[nexus.TaskID]bool      // a model was asked for its complexity
	paused   []*Task                    // tasks that people paused, in order; see [TaskByID.IsPaused]
	waived   []string                   // criteria that people waived or approved
	told     map[nexus.TaskID]nexus.Route
	first    int64                         // first applied event
	past     iter.Seq2[nexus.Event, error] // reads the applied events again; nil: log contains them
	log      []nexus.Event                 // all applied events, without hashes; empty with a past
	void     map[nexus.TaskID][]*Attempt   // attempts at tasks that a rewind removed
}

// QueuedLanding is an accepted attempt in the landing queue.
type QueuedLanding struct {
	Task    nexus.TaskID
	Attempt nexus.AttemptID
	Onto    string   // set when its landing starts
	Merge   *Attempt // the merger's sessions, if there is a conflict
}

// Landing is a commit on the run's branch.
type Landing struct {
	nexus.TrainLanded
	At  time.Time
	Seq int64
}

// Request is a request that is not settled.
type Request struct {
	Seq int64
	nexus.Request
}

// Guidance is a message for a task's agent: from a person, or about a landing.
type Guidance struct {
	Seq    int64
	Task   nexus.TaskID
	Text   string
	Landed bool // it reports a landing, and has no author
	Cut    bool // its agent was interrupted for it

	Comments []nexus.Comment // a batch of comments on its change, instead of Text
}

// LookAgain is the message for an agent that a person interrupts without a text.
const LookAgain = "Look at what you have, and do not simply do the same again."

type evidenceKey struct{ tree, gate string }

// New returns the state of a run before its first event.
func New(run nexus.RunID) *State {
	return &State{
		Run: run, machine: RunTransitions(), tasks: map[nexus.TaskID]*Task{}, attempts: map[nexus.AttemptID]*Attempt{},
		sessions: map[nexus.SessionID]*Session{}, evidence: map[evidenceKey]nexus.Evidence{},
		pace: map[string][]time.Duration{}, asked: map[nexus.TaskID]bool{}, told: map[nexus.TaskID]nexus.Route{},
	}
}

// Replay folds a whole run. It stops at the first error of the sequence and returns the state
// up to there with it. The state reads its past from the sequence; see [State.ReadPastFrom].
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

// Apply applies one event. An event that cannot follow, or names a task or an attempt that
// does not exist, is an error and does not change the state.
func (s *State) Apply(e nexus.Event) error {
	if err := s.checkFact(e.Fact); err != nil {
		return fmt.Errorf("fold event %d (%s): %w", e.Seq, nexus.FactKind(e.Fact), err)
	}
	if f, ok := e.Fact.(nexus.RunRewound); ok {
		if err := s.rewindTo(e, f); err != nil {
			return fmt.Errorf("go back from event %d to event %d: %w", e.Seq, f.To, err)
		}
	} else {
		s.applyEvent(e)
	}
	s.Alerts.Apply(e)
	s.trackChange(e.Fact)
	s.logEvent(e)
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

// stopClock stops the run's clock at a time.
func (s *State) stopClock(at time.Time) {
	if s.since.IsZero() {
		s.since = at
	}
}

// resumeClock starts the run's clock again.
func (s *State) resumeClock(at time.Time) {
	if !s.since.IsZero() {
		s.held += at.Sub(s.since)
		s.since = time.Time{}
	}
}

// runClock returns the time without the run's pauses and the times between its processes.
func (s *State) runClock(at time.Time) time.Time {
	if !s.since.IsZero() {
		at = s.since
	}
	return at.Add(-s.held)
}

// WorkedTime returns the run's working time up to a time. Pauses and the time between two
// processes do not count, nor does what comes after the run's end.
func (s *State) WorkedTime(at time.Time) time.Duration {
	if s.Started.IsZero() {
		return 0
	}
	return max(0, s.runClock(at).Sub(s.Started))
}

// WorkedTimeReachedAt returns when [State.WorkedTime] will reach d, or zero while the run's clock is stopped.
func (s *State) WorkedTimeReachedAt(d time.Duration) time.Time {
	if !s.since.IsZero() {
		return time.Time{}
	}
	return s.Started.Add(d + s.held)
}

// IsDelivering reports whether the work on the tasks has ended and the result is being judged
// or published.
func (s *State) IsDelivering() bool {
	return s.phase == nexus.StatusReviewing || s.phase == nexus.StatusLanding
}

// Rank returns the minutes of the longest path of work that starts with a task: the higher,
// the sooner it should start.
func (s *State) Rank(id nexus.TaskID) int { return s.rank[id] }

// TaskUrgency returns the importance of a task and of the tasks that wait for it; see
// [taskGraph.TaskGraph.TaskUrgency]. It is the same for all tasks of a plan without priorities.
func (s *State) TaskUrgency(id nexus.TaskID) int { return s.urgency[id] }

// TaskByID returns the task with this ID, or nil if there is none.
func (s *State) TaskByID(id nexus.TaskID) *Task { return s.tasks[id] }

// AttemptByID returns the attempt with this ID, or nil if there is none.
func (s *State) AttemptByID(id nexus.AttemptID) *Attempt { return s.attempts[id] }

// KnownEvidence returns a gate's last evidence on exactly this tree.
func (s *State) KnownEvidence(tree, gate string) (nexus.Evidence, bool) {
	e, ok := s.evidence[evidenceKey{tree, gate}]
	return e, ok
}

// ActiveAttempts returns the attempts that have a worker, in the plan's order.
func (s *State) ActiveAttempts() []*Attempt {
	var all []*Attempt
	for _, t := range s.Tasks {
		if a := t.CurrentAttempt(); a != nil && a.Stage == Working {
			all = append(all, a)
		}
	}
	return all
}

// RouteAnswer reports whether a model was asked for a task's complexity, and returns its
// answer, or nil if there is none.
func (s *State) RouteAnswer(id nexus.TaskID) (*nexus.Route, bool) {
	if r, ok := s.told[id]; ok {
		return &r, true
	}
	return nil, s.asked[id]
}

// CountTasksByStatus counts tasks by status.
func (s *State) CountTasksByStatus() map[nexus.TaskStatus]int {
	c, blocked := map[nexus.TaskStatus]int{}, s.BlockerIndex()
	for _, t := range s.Tasks {
		c[blocked.StatusOf(t)]++
	}
	return c
}

// StatusOf returns a task's status. Blocked is computed: a task is blocked if one that it
// needs has ended without landing. No task is in progress in a run that has ended: its tasks
// wait until the run is reopened.
func (s *State) StatusOf(t *Task) nexus.TaskStatus {
	status := s.statusUnlessBlocked(t)
	if status == nexus.Pending {
		if _, ok := s.BlockerOf(t); ok {
			return nexus.Blocked
		}
	}
	return status
}

// statusUnlessBlocked returns a task's status without the computation of blocked.
func (s *State) statusUnlessBlocked(t *Task) nexus.TaskStatus {
	if s.Status.HasEnded() && !t.Status.HasEnded() {
		return nexus.Pending
	}
	return t.Status
}

// BlockerOf returns the nearest task that prevents t from ever starting.
func (s *State) BlockerOf(t *Task) (nexus.TaskID, bool) {
	seen := map[nexus.TaskID]bool{}
	for level := t.Needs; len(level) > 0; {
		var above []nexus.TaskID
		for _, id := range level {
			n := s.tasks[id]
			if n == nil || seen[id] {
				continue
			}
			seen[id] = true
			if n.Status.HasEnded() && n.Status != nexus.Landed {
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

// IsReady reports whether every task that t needs has landed, and every one that it wants has
// landed or will not.
func (s *State) IsReady(t *Task) bool {
	if t.Status != nexus.Pending || s.IsSplitting(t.ID) {
		return false
	}
	for _, id := range t.Needs {
		if n := s.tasks[id]; n == nil || n.Status != nexus.Landed {
			return false
		}
	}
	for _, id := range t.Wants {
		if n := s.tasks[id]; n != nil && n.Status != nexus.Landed && !s.cannotLand(n) {
			return false
		}
	}
	return true
}

// cannotLand reports whether a task will not land by itself.
func (s *State) cannotLand(t *Task) bool {
	status := s.StatusOf(t)
	return status.HasEnded() && status != nexus.Landed
}

// IsSplitting reports whether a session is splitting a task.
func (s *State) IsSplitting(id nexus.TaskID) bool {
	e := s.Splits.ForTask(id)
	return e != nil && e.IsOpen() && s.attempts[e.Attempt].Stage == Working
}
