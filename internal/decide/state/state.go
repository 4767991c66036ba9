// Package state folds a run's events into the present state of the run. It is the only
// projection that the program decides from: the scheduler decides from it, every interface
// shows it, and a restarted process rebuilds it from the journal alone.
package state

import (
	"fmt"
	"iter"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// State is the state of a run after the last applied event: what decisions read, in parts that are each
// folded for themselves. What only people read of a run is computed from it, or folded beside it, in view.
// One goroutine owns it; other goroutines get a [WorkerView] or a clone.
type State struct {
	PlanProgress            // how the plan is made and agreed to
	ComplexityRating        // which tasks a model was asked to rate
	BranchState             // the run's branch, and the attempts that wait to land on it
	DeliveryState           // the end of the run and its result
	RequestAndQuestionState // what people asked for, and what they are asked
	MoneyState              // what the run costs and may cost
	RunPoints               // points that a person may go back to
	RunClock                // the run's times

	Run     nexus.RunID
	Goal    nexus.GoalAccepted
	Limits  nexus.Limits // of the goal, or the last ones that a person set
	Status  nexus.RunStatus
	Why     string              // why it ended
	Seq     int64               // last applied event
	Spec    SpecWritingResult   // spec of the goal
	Tasks   []*TaskState        // in the plan's order
	Start   StartHookCheck      // whether hooks let the work start
	Starts  int                 // attempts started, over the whole run
	Splits  TaskSplitHistory    // tasks that were to be split, and the results
	Fixes   CriterionFixHistory // faults behind criteria that the landed tree does not meet
	Mending *AttemptState       // the session that finds why criteria are not met; nil before
	Alerts  RunAlertWatch       // alerts that were sent, and the data for the next ones
	Gating  []RunningGate       // gates that are running, in the order in which they began
	// groups of small tasks that share a session, in the order in which they were formed
	Lanes   []nexus.SharedSessionGroupFormed
	Readers []nexus.ReviewModelChosen // models that review the work of other models

	phase nexus.RunStatus            // status to which paused and recovering return
	pace  map[string][]time.Duration // durations of the last judgements, by gate
	shelf *attemptPacker             // see [State.DiscardLandedDetails]; nil: nothing is discarded

	taskOrder
	stateIndex
	eventLog
}

// QueuedLanding is an accepted attempt in the landing queue.
type QueuedLanding struct {
	Task    nexus.TaskID
	Attempt nexus.AttemptID
	Onto    string        // set when its landing starts
	Merge   *AttemptState // the merger's sessions, if there is a conflict
}

// CompletedLanding is a commit on the run's branch.
type CompletedLanding struct {
	nexus.LandingCompleted
	At  time.Time
	Seq int64
}

// PendingRequest is a request that is not settled.
type PendingRequest struct {
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

	Comments []nexus.ReviewComment // a batch of comments on its change, instead of Text
}

// LookAgain is the message for an agent that a person interrupts without a text.
const LookAgain = "Look at what you have, and do not simply do the same again."

// NewState returns the state of a run before its first event.
func NewState(run nexus.RunID) *State {
	s := &State{Run: run, pace: map[string][]time.Duration{}, stateIndex: newStateIndex()}
	s.asked, s.told = map[nexus.TaskID]bool{}, map[nexus.TaskID]nexus.ComplexityRating{}
	return s
}

// ReplayRun folds a whole run. It stops at the first error of the sequence and returns the state
// up to there with it. The state reads its past from the sequence; see [State.ReadPastFrom].
func ReplayRun(run nexus.RunID, events iter.Seq2[nexus.Event, error]) (*State, error) {
	s := NewState(run).ReadPastFrom(events)
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

// IsDelivering reports whether the work on the tasks has ended and the result is being judged
// or published.
func (s *State) IsDelivering() bool {
	return s.phase == nexus.StatusReviewing || s.phase == nexus.StatusLanding
}

// ActiveAttempts returns the attempts that have a worker, in the plan's order.
func (s *State) ActiveAttempts() []*AttemptState {
	var all []*AttemptState
	for _, t := range s.Tasks {
		if a := t.CurrentAttempt(); a != nil && a.Stage == Working {
			all = append(all, a)
		}
	}
	return all
}

// ComplexityAnswer reports whether a model was asked for a task's complexity, and returns its
// answer, or nil if there is none.
func (s *State) ComplexityAnswer(id nexus.TaskID) (*nexus.ComplexityRating, bool) {
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
func (s *State) StatusOf(t *TaskState) nexus.TaskStatus {
	status := s.statusUnlessBlocked(t)
	if status == nexus.Pending {
		if _, ok := s.BlockerOf(t); ok {
			return nexus.Blocked
		}
	}
	return status
}

// statusUnlessBlocked returns a task's status without the computation of blocked.
func (s *State) statusUnlessBlocked(t *TaskState) nexus.TaskStatus {
	if s.Status.HasEnded() && !t.Status.HasEnded() {
		return nexus.Pending
	}
	return t.Status
}

// BlockerOf returns the nearest task that prevents t from ever starting.
func (s *State) BlockerOf(t *TaskState) (nexus.TaskID, bool) {
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
func (s *State) IsReady(t *TaskState) bool {
	if t.Status != nexus.Pending || s.IsSplitting(t.ID) {
		return false
	}
	for _, id := range t.Needs {
		if n := s.tasks[id]; n == nil || n.Status != nexus.Landed {
			return false
		}
	}
	for _, id := range t.Wants {
		if n := s.tasks[id]; n != nil && n.Status != nexus.Landed && !s.willNotLand(n) {
			return false
		}
	}
	return true
}

// willNotLand reports whether a task will not land by itself.
func (s *State) willNotLand(t *TaskState) bool {
	status := s.StatusOf(t)
	return status.HasEnded() && status != nexus.Landed
}

// IsSplitting reports whether a session is splitting a task.
func (s *State) IsSplitting(id nexus.TaskID) bool {
	e := s.Splits.SplitOfTask(id)
	return e != nil && e.IsOpen() && s.attempts[e.Attempt].Stage == Working
}
