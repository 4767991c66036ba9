package state

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// rewound is the reason for the end of work in progress, and the author of the end of an open
// question, after a rewind.
const rewound = "the run was rewound"

// RunRewind is one rewind of the run.
type RunRewind struct {
	nexus.RunRewound
	Seq int64 // of the fact
	At  time.Time
}

// checkRewind refuses to go back to a point that the run never had.
func (s *State) checkRewind(f nexus.RunRewound) error {
	switch {
	case s.first == 0 || f.To < s.first:
		return fmt.Errorf("the run had not started at event %d", f.To)
	case f.To > s.Seq:
		return fmt.Errorf("event %d does not exist yet", f.To)
	case !s.Goal.Goal.Mode.WorksOnTasks():
		return fmt.Errorf("a run of the mode %s cannot be taken back", s.Goal.Goal.Mode)
	case s.rewindDepth(f.To) >= mostDeep:
		return errors.New("the run was taken back too often to points after earlier rewinds")
	}
	halfway, err := s.isInsideEventGroup(f.To)
	if err == nil && halfway {
		err = fmt.Errorf("event %d is in the middle of facts that were recorded together", f.To)
	}
	return err
}

// isInsideEventGroup reports whether the events after an event were recorded together with it: a plan,
// or the parts of a task.
func (s *State) isInsideEventGroup(seq int64) (bool, error) {
	for e, err := range s.PastEvents() {
		if err != nil {
			return false, err
		}
		if _, request := e.Fact.(nexus.RequestMade); e.Seq <= seq || request {
			continue
		}
		switch e.Fact.(type) {
		case nexus.PlanRevised, nexus.TaskPlanned, nexus.TaskSplitCompleted, nexus.TasksAdded, nexus.FixTasksPlanned, nexus.TaskStateInherited:
			return true, nil
		default:
			return false, nil
		}
	}
	return false, nil
}

// mostDeep limits the nesting of rewinds, that is, rewinds to a point after an earlier
// rewind: each level doubles the time of folding.
const mostDeep = 8

// rewindDepth returns the nesting of rewinds for a point.
func (s *State) rewindDepth(seq int64) int {
	n := 0
	for _, r := range s.Rewinds {
		if r.Seq <= seq {
			n = max(n, 1+s.rewindDepth(r.To))
		}
	}
	return n
}

// rewindTo restores the state after an earlier event. Effects on people and the world cannot be
// undone and still count: spent money and time, limits, used names, gates' evidence about
// trees, and people's guidance about tasks. Work in progress at that point has ended: each
// attempt is followed by another one, with its own name, that starts from the files at that
// point. On an error nothing is changed.
func (s *State) rewindTo(e nexus.Event, f nexus.RunRewound) error {
	then, err := s.StateAt(f.To)
	if err != nil {
		return err
	}
	for _, all := range []*State{s, then} {
		if all.shelf == nil {
			continue
		}
		for _, a := range all.attempts {
			all.unpackAttempt(a)
		}
	}
	then.interruptWork(e.At)
	then.copyTotalsAfterRewind(s)
	then.copyNamesAfterRewind(s)
	for _, t := range then.Tasks {
		then.countAttempts(t)
		t.copyHistoryAfterRewind(s.tasks[t.ID])
	}
	then.copyQuestionsAfterRewind(s)
	then.Checkpoints = slices.Clone(s.Checkpoints)
	for i, c := range then.Checkpoints {
		if c.Seq > f.To {
			undone := *c
			undone.Undone = true
			then.Checkpoints[i] = &undone
		}
	}
	then.Rewinds = append(slices.Clip(s.Rewinds), RunRewind{RunRewound: f, Seq: e.Seq, At: e.At})
	then.first, then.past, then.log = s.first, s.past, s.log
	then.copyClockAfterRewind(s)
	*s = *then
	return nil
}

// interruptWork ends work in progress as if it had never begun.
func (s *State) interruptWork(at time.Time) {
	if s.Judging != nil && s.Judging.Stage != Over {
		for id := range s.asked {
			if _, told := s.told[id]; !told {
				delete(s.asked, id)
			}
		}
	}
	if s.Mending != nil && s.Mending.Stage != Over {
		s.Fixes.interruptRound()
	}
	for _, a := range s.Additions {
		if at := s.attempts[a.Attempt]; at != nil && at.Stage != Over && !a.IsDone() {
			a.Attempt = ""
		}
		a.Question = s.answeredQuestionID(a.Question)
	}
	for _, t := range s.Tasks {
		if !t.Status.HasEnded() {
			t.Status = nexus.Pending
			s.Splits.forgetTask(t.ID)
		}
		t.OverCap, t.Replan = nil, nil
	}
	for _, a := range s.attempts {
		landed := s.tasks[a.Task] != nil && s.tasks[a.Task].Landed != nil && s.tasks[a.Task].Landed.Attempt == a.ID
		if a.Stage != Over || a.Outcome == nexus.Accepted && a.Task != "" && !landed {
			a.endByRewind(at)
		}
	}
	s.Consent.Question = s.answeredQuestionID(s.Consent.Question)
	for _, q := range s.Questions {
		if q.By == "" {
			q.By, q.Mark = rewound, ""
		}
	}
	s.Queue, s.CurrentLanding, s.Gating, s.Drain, s.OverCap, s.deliver = nil, nil, nil, nil, nil, false
	s.TargetMerge.resetMerge()
}

// answeredQuestionID returns the ID of a question that was answered, or "" for one that must be
// asked again.
func (s *State) answeredQuestionID(id string) string {
	if q := s.QuestionByID(id); q == nil || q.By == "" {
		return ""
	}
	return id
}

// endByRewind ends an attempt at its present point: the results of its rounds are kept, and
// the attempt has no result.
func (a *AttemptState) endByRewind(at time.Time) {
	for _, c := range a.Sessions {
		c.clearStep()
	}
	a.ResumeAfterAnswer("", at)
	a.Stage, a.Finished, a.Outcome, a.Commit, a.Tree, a.Why = Over, at, "", "", "", rewound
}

// copyTotalsAfterRewind copies the values that only grow, and the last reports of people and the
// world that no point of the run changes.
func (s *State) copyTotalsAfterRewind(now *State) {
	s.Ledger, s.Spending, s.Pressed = now.Ledger, now.Spending, now.Pressed
	s.Limits, s.Alone, s.Patience = now.Limits, now.Alone, now.Patience
	s.Parked, s.Windows, s.pace = now.Parked, now.Windows, now.pace
	maps.Copy(s.evidence, now.evidence)
	s.Starts, s.PlanTries, s.Judged, s.AddTries = now.Starts, now.PlanTries, now.Judged, now.AddTries
	s.Splits.Sought, s.TargetMerge.Tries, s.Fixes.Rounds, s.Undo.Tries = now.Splits.Sought, now.TargetMerge.Tries, now.Fixes.Rounds, now.Undo.Tries
	for id := range now.attempts { // a refused plan counts too, for its name
		if n, ok := strings.CutPrefix(string(id), "plan."); ok {
			number, _ := strconv.Atoi(n)
			s.PlanTries = max(s.PlanTries, number)
		}
	}
	s.Alerts = now.Alerts
	s.Alerts.work = nil
	s.Requested, s.out = now.Requested, now.out
}

// copyNamesAfterRewind copies the names that were used since, so that none is used again. Attempts
// are kept as undone.
func (s *State) copyNamesAfterRewind(now *State) {
	s.void = map[nexus.TaskID][]*AttemptState{}
	for id, a := range now.attempts {
		if s.attempts[id] == nil {
			s.attempts[id] = a.undoneCopy()
		}
		s.attempts[id].Worked = a.Worked // a task's time is that of its attempts
	}
	for id, c := range now.sessions {
		if s.sessions[id] == nil {
			// costs are booked on it
			s.sessions[id] = &AgentSessionState{SessionStarted: c.SessionStarted, Over: true, Outcome: nexus.Stopped, Purpose: c.Purpose}
		}
	}
	for id, c := range now.sessions { // money that was paid stays paid
		s.sessions[id].Spent, s.sessions[id].Usage = c.Spent, c.Usage
	}
	for _, l := range now.Lanes[len(s.Lanes):] {
		l.Tasks = nil
		s.Lanes = append(s.Lanes, l)
	}
	given := maps.Clone(now.void)
	if given == nil {
		given = map[nexus.TaskID][]*AttemptState{}
	}
	for _, t := range now.Tasks {
		given[t.ID] = t.Attempts
	}
	for id, attempts := range given {
		t := s.tasks[id]
		if t == nil {
			t = &TaskState{}
		}
		for _, a := range attempts {
			if !slices.ContainsFunc(t.Attempts, func(mine *AttemptState) bool { return mine.ID == a.ID }) {
				t.Attempts = append(t.Attempts, s.attempts[a.ID])
			}
		}
		if s.tasks[id] == nil {
			s.void[id] = t.Attempts
		}
	}
	if s.Planning == nil && now.Planning != nil && !s.Planned {
		s.Planning = s.attempts[now.Planning.ID]
	}
}

// undoneCopy returns an attempt of which only its existence and its cost count.
func (a *AttemptState) undoneCopy() *AttemptState {
	c := &AttemptState{
		ID: a.ID, Task: a.Task, Tier: a.Tier, Strategy: a.Strategy, Base: a.Base, Stage: Over, Outcome: nexus.Stopped, Undone: true,
		Why: rewound, Sessions: a.Sessions, Network: a.Network, Began: a.Began, Finished: a.Finished, Active: a.Active,
	}
	for _, session := range c.Sessions {
		session.clearStep()
	}
	return c
}

// copyHistoryAfterRewind copies a task's later rounds and people's guidance about it, and gives it new
// attempts if it has not ended.
func (t *TaskState) copyHistoryAfterRewind(now *TaskState) {
	if now != nil {
		t.Rounds, t.Retried = now.Rounds, now.Retried
		t.Said, t.Helped = now.Said, now.Helped
		t.Comments, t.Commented, t.Looks = now.Comments, now.Commented, now.Looks
	}
	if !t.Status.HasEnded() {
		t.RoundsOf = 0
		t.Mercy, t.MercyRounds, t.MercyWorked, t.MercyReplans = len(t.Attempts), t.Rounds, t.Worked, len(t.Replans)
	}
}

// countAttempts sets the time and cost of a task to those of all of its attempts, also of those that a
// rewind undid.
func (s *State) countAttempts(t *TaskState) {
	cost := s.Spending.By[budget.CostBreakdownKey{Way: budget.ByTask, Name: string(t.ID)}]
	t.Spent, t.Usage, t.Worked = cost.Money, cost.Usage, 0
	for _, a := range t.Attempts {
		t.Worked += a.Worked
	}
}

// copyQuestionsAfterRewind copies the questions and requests that were made since: a question has
// ended, and an open request is still to be settled.
func (s *State) copyQuestionsAfterRewind(now *State) {
	for _, q := range now.Questions[len(s.Questions):] {
		over := *q
		over.Mark = ""
		if over.By == "" {
			over.By = rewound
		}
		s.Questions = append(s.Questions, &over)
	}
	open := map[int64]bool{}
	for _, r := range now.Requests {
		open[r.Seq] = true
	}
	s.Requests = slices.DeleteFunc(s.Requests, func(r PendingRequest) bool { return !open[r.Seq] })
	for _, r := range now.Requests {
		if !slices.ContainsFunc(s.Requests, func(mine PendingRequest) bool { return mine.Seq == r.Seq }) {
			s.queueRequest(r.Seq, r.Request)
		}
	}
}

// copyClockAfterRewind sets the run's clock to its later value: time that was worked stays counted.
func (s *State) copyClockAfterRewind(now *State) {
	if s.Started.IsZero() {
		return // the clock starts at zero
	}
	s.held, s.since = now.held, now.since
	if s.since.IsZero() {
		s.stopClock(now.heard)
	}
}
