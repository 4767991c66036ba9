package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RunAddition is a request to add work to the run after its plan.
type RunAddition struct {
	Seq  int64      // sequence number of the request
	Item string     // id of the backlog item; empty if it is not one
	Task nexus.Task // the task as requested; its ID is empty
	By   string

	Attempt  nexus.AttemptID // attempt that makes tasks of it; empty if none is needed or none was made yet
	Proposed []nexus.Task    // the tasks that the attempt proposed
	Question string          // question that asks whether those may join the run; empty: not asked
	Tasks    []nexus.TaskID  // tasks that joined the run
	Why      string          // why it produced no tasks
	Back     bool            // it was withdrawn
}

// IsDone reports whether an addition's tasks joined the run, or it failed.
func (a *RunAddition) IsDone() bool { return len(a.Tasks) > 0 || a.Why != "" }

// recordAddition records the addition of a request.
func (s *State) recordAddition(seq int64, r nexus.Request) {
	if r.Verb != nexus.VerbAdd || r.Plan == nil || len(r.Plan.Tasks) == 0 {
		return
	}
	s.Additions = append(s.Additions, &RunAddition{Seq: seq, Item: r.Item, Task: r.Plan.Tasks[0], By: r.By})
}

// AdditionBySeq returns the addition of a request, or nil if the request added nothing.
func (s *State) AdditionBySeq(seq int64) *RunAddition {
	for _, a := range s.Additions {
		if a.Seq == seq {
			return a
		}
	}
	return nil
}

// additionOfAttempt returns the addition for which an attempt makes tasks, or nil.
func (s *State) additionOfAttempt(id nexus.AttemptID) *RunAddition {
	for _, a := range s.Additions {
		if a.Attempt == id && id != "" {
			return a
		}
	}
	return nil
}

// BacklogAddition returns the last addition of a backlog item, or nil if it was not added or was
// rejected.
func (s *State) BacklogAddition(id string) *RunAddition {
	for _, a := range slices.Backward(s.Additions) {
		if a.Item == id {
			return a
		}
	}
	return nil
}

// TasksOfAddition returns the tasks of an addition. The parts of a split task replace it.
func (s *State) TasksOfAddition(a *RunAddition) []*TaskState {
	var all []*TaskState
	ids := slices.Clone(a.Tasks)
	for n := 0; n < len(ids); n++ {
		t := s.tasks[ids[n]]
		switch {
		case t == nil:
		case t.Status == nexus.Split && s.Splits.SplitOfTask(t.ID) != nil:
			ids = append(ids, s.Splits.SplitOfTask(t.ID).Parts...)
		default:
			all = append(all, t)
		}
	}
	return all
}

// ActiveItems returns the additions that are items of the backlog and in progress: tasks are
// being made of them, people are asked about those tasks, or some of them have not ended.
func (s *State) ActiveItems() []*RunAddition {
	var all []*RunAddition
	for _, a := range s.Additions {
		begun := a.Item != "" && a.Why == "" && (a.Attempt != "" || len(a.Tasks) > 0)
		if begun && (!a.IsDone() || slices.ContainsFunc(s.TasksOfAddition(a), func(t *TaskState) bool { return !s.StatusOf(t).HasEnded() })) {
			all = append(all, a)
		}
	}
	return all
}

// applyAddition applies facts about an addition.
func (s *State) applyAddition(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.AdditionPlanningStarted:
		if s.attempts[f.Attempt] == nil {
			s.attempts[f.Attempt] = &AttemptState{ID: f.Attempt, Base: s.Tip, Began: at, Active: at}
			s.AddTries++
		}
		s.attempts[f.Attempt].Stage = Working
		s.AdditionBySeq(f.Request).Attempt = f.Attempt
	case nexus.AdditionTasksProposed:
		s.attempts[f.Attempt].Stage, s.attempts[f.Attempt].Finished = Over, at
		s.additionOfAttempt(f.Attempt).Proposed = f.Tasks
	case nexus.AdditionPlanningFailed:
		if a := s.attempts[f.Attempt]; a != nil {
			a.Stage, a.Finished, a.Why = Over, at, f.Why
		}
		x := s.AdditionBySeq(f.Request)
		x.Why, x.Back = cmp.Or(f.Why, "no reason given"), f.By != ""
	case nexus.TasksAdded:
		s.AdditionBySeq(f.Request).Tasks = f.Tasks
		s.orderTasks()
	default:
	}
}

// recordAdditionQuestion records the question about an addition, and the answers given before it was
// asked.
func (s *State) recordAdditionQuestion(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.QuestionAsked:
		if a := s.additionOfAttempt(nexus.AttemptID(f.Mark)); f.Trigger == nexus.AddTrigger && a != nil {
			a.Question = f.ID
		}
	case nexus.RunRecovered, nexus.RunReopened:
		for _, q := range s.Questions {
			q.Anew = q.By == ""
		}
	default:
	}
}

// IsAddingTasks reports whether an attempt is making tasks of an addition.
func (s *State) IsAddingTasks() bool {
	return slices.ContainsFunc(s.Additions, func(a *RunAddition) bool {
		return s.attempts[a.Attempt] != nil && s.attempts[a.Attempt].Stage == Working
	})
}
