package state

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Addition is something that somebody added to the run after its plan.
type Addition struct {
	Seq  int64      // of the request
	Item string     // of the backlog; empty where it is none
	Task nexus.Task // as it was asked for; its ID is empty
	By   string

	Attempt  nexus.AttemptID // that makes tasks of it; empty where nobody has to, or did yet
	Proposed []nexus.Task    // what came of that
	Question string          // that asks whether those may be the run's; empty: nobody was asked
	Tasks    []nexus.TaskID  // that the run got of it
	Why      string          // why nothing comes of it
	Back     bool            // somebody took it back
}

// IsDone reports whether the tasks of an addition are the run's, or nothing comes of it.
func (a *Addition) IsDone() bool { return len(a.Tasks) > 0 || a.Why != "" }

// add notes what a request adds.
func (s *State) add(seq int64, r nexus.Request) {
	if r.Verb != nexus.VerbAdd || r.Plan == nil || len(r.Plan.Tasks) == 0 {
		return
	}
	s.Additions = append(s.Additions, &Addition{Seq: seq, Item: r.Item, Task: r.Plan.Tasks[0], By: r.By})
}

// Addition returns what a request added, nil where it added nothing.
func (s *State) Addition(seq int64) *Addition {
	for _, a := range s.Additions {
		if a.Seq == seq {
			return a
		}
	}
	return nil
}

// addedBy returns the addition whose tasks an attempt makes, nil for others.
func (s *State) addedBy(id nexus.AttemptID) *Addition {
	for _, a := range s.Additions {
		if a.Attempt == id && id != "" {
			return a
		}
	}
	return nil
}

// Item returns the last addition that is an item of the backlog, nil where it was
// not added, or was turned down.
func (s *State) Item(id string) *Addition {
	for _, a := range slices.Backward(s.Additions) {
		if a.Item == id {
			return a
		}
	}
	return nil
}

// TasksOfAddition returns the tasks of an addition; the parts of one that was split stand in
// its place.
func (s *State) TasksOfAddition(a *Addition) []*Task {
	var all []*Task
	ids := slices.Clone(a.Tasks)
	for n := 0; n < len(ids); n++ {
		t := s.tasks[ids[n]]
		switch {
		case t == nil:
		case t.Status == nexus.Split && s.Splits.ForTask(t.ID) != nil:
			ids = append(ids, s.Splits.ForTask(t.ID).Parts...)
		default:
			all = append(all, t)
		}
	}
	return all
}

// ActiveItems returns the additions that are items of the backlog and worked on: tasks are
// made of them, people are asked about those, or some of them have not ended.
func (s *State) ActiveItems() []*Addition {
	var all []*Addition
	for _, a := range s.Additions {
		begun := a.Item != "" && a.Why == "" && (a.Attempt != "" || len(a.Tasks) > 0)
		if begun && (!a.IsDone() || slices.ContainsFunc(s.TasksOfAddition(a), func(t *Task) bool { return !s.StatusOf(t).Ended() })) {
			all = append(all, a)
		}
	}
	return all
}

// applyAddition folds what becomes of an addition.
func (s *State) applyAddition(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.AdditionSought:
		if s.attempts[f.Attempt] == nil {
			s.attempts[f.Attempt] = &Attempt{ID: f.Attempt, Base: s.Tip, Began: at, Active: at}
			s.AddTries++
		}
		s.attempts[f.Attempt].Stage = Working
		s.Addition(f.Request).Attempt = f.Attempt
	case nexus.AdditionProposed:
		s.attempts[f.Attempt].Stage, s.attempts[f.Attempt].Finished = Over, at
		s.addedBy(f.Attempt).Proposed = f.Tasks
	case nexus.AdditionFailed:
		if a := s.attempts[f.Attempt]; a != nil {
			a.Stage, a.Finished, a.Why = Over, at, f.Why
		}
		x := s.Addition(f.Request)
		x.Why, x.Back = cmp.Or(f.Why, "no reason given"), f.By != ""
	case nexus.TasksAdded:
		s.Addition(f.Request).Tasks = f.Tasks
		s.order()
	default:
	}
}

// asksAddition keeps which question is about an addition, and what was said before it
// was asked.
func (s *State) asksAddition(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.QuestionAsked:
		if a := s.addedBy(nexus.AttemptID(f.Mark)); f.Trigger == nexus.AddTrigger && a != nil {
			a.Question = f.ID
		}
	case nexus.RunRecovered, nexus.RunReopened:
		for _, q := range s.Questions {
			q.Anew = q.By == ""
		}
	default:
	}
}

// IsAddingTasks reports whether somebody makes tasks of an addition now.
func (s *State) IsAddingTasks() bool {
	return slices.ContainsFunc(s.Additions, func(a *Addition) bool {
		return s.attempts[a.Attempt] != nil && s.attempts[a.Attempt].Stage == Working
	})
}
