package state

import (
	"errors"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// nextRunStatus returns the status after a fact, and an error with from, to and event if the fact is
// not allowed. A fact that changes no status returns the present one.
func (s *State) nextRunStatus(f nexus.Fact) (nexus.RunStatus, error) {
	kind, moves := nexus.FactKind(f), false
	if !changesRunStatus(f) {
		return s.Status, nil
	}
	var to nexus.RunStatus
	for _, row := range RunTransitions() {
		if row.Kind != kind {
			continue
		}
		to = row.To
		if row.From == s.Status {
			moves = true
			break
		}
	}
	if end, ok := f.(nexus.RunEnded); ok {
		to = end.Status
		moves = moves && to.HasEnded()
	}
	if !moves {
		return s.Status, &nexus.Error{
			Code:    nexus.CodeTransition,
			Message: fmt.Sprintf("a run cannot go from %q to %q by %s", s.Status, to, kind),
			Hint:    "Run nexus journal verify; if the journal is intact, this is a bug in nexus.",
		}
	}
	switch {
	case to == back:
		return s.phase, nil
	case kind == "run.reopened" && !s.Planned:
		return nexus.StatusPlanning, nil
	}
	if f, ok := f.(nexus.RunReopened); ok && f.Deliver {
		return nexus.StatusReviewing, nil
	}
	return to, nil
}

// checkFact returns an error for a fact that cannot happen in this state.
func (s *State) checkFact(f nexus.Fact) error {
	if _, err := s.nextRunStatus(f); err != nil {
		return err
	}
	if task, ok := requiredTaskOf(f); ok && s.tasks[task] == nil {
		return fmt.Errorf("there is no task %q", task)
	}
	if id, ok := requiredAttemptOf(f); ok && s.attempts[id] == nil {
		return fmt.Errorf("there is no attempt %q", id)
	}
	switch f := f.(type) {
	case nexus.TaskPlanned, nexus.LaneFormed, nexus.CriterionRevised, nexus.SplitSought:
		return s.admitTask(f)
	case nexus.AttemptStarted:
		if s.attempts[f.Attempt] != nil {
			return fmt.Errorf("attempt %q was started before", f.Attempt)
		}
	case nexus.TrainDeparted:
		if s.CurrentLanding != nil {
			return fmt.Errorf("%s is still landing", s.CurrentLanding.Task)
		}
	case nexus.TrainLanded:
		return s.admitLanding(f)
	case nexus.FaultsFound:
		if s.Mending == nil || s.Mending.ID != f.Attempt {
			return fmt.Errorf("%q does not look for faults", f.Attempt)
		}
	case nexus.TaskSplit:
		return s.admitSplit(f)
	case nexus.AdditionSought, nexus.AdditionProposed, nexus.AdditionFailed, nexus.TasksAdded:
		return s.admitAddition(f)
	case nexus.CheckpointMade:
		if s.CheckpointByName(f.Name) != nil || f.Name == "" {
			return fmt.Errorf("there is a checkpoint %q", f.Name)
		}
	case nexus.RunRewound:
		return s.admitRewind(f)
	case nexus.UndoSought, nexus.UndoLanded:
		return s.admitUndo(f)
	case nexus.PlanRefused, nexus.PlanRevised:
		if s.Proposed == 0 || s.Planned {
			return errors.New("no plan waits for consent")
		}
	case nexus.PlanApproved, nexus.FixesPlanned:
		_, err := s.taskGraph()
		return err
	default:
	}
	return nil
}

// admitTask returns an error for a fact that cannot happen to a task, or to tasks that share
// a session.
func (s *State) admitTask(f nexus.Fact) error {
	switch f := f.(type) {
	case nexus.TaskPlanned:
		if s.tasks[f.Task.ID] != nil {
			return fmt.Errorf("task %q was planned before", f.Task.ID)
		}
	case nexus.LaneFormed:
		for _, id := range f.Tasks {
			if s.tasks[id] == nil {
				return fmt.Errorf("there is no task %q", id)
			}
		}
	case nexus.CriterionRevised:
		if f.Number < 1 || f.Number > len(s.tasks[f.Task].Criteria) {
			return fmt.Errorf("%s has no criterion %d", f.Task, f.Number)
		}
	case nexus.SplitSought:
		if e := s.Splits.ForTask(f.Task); e != nil && (e.Attempt != f.Attempt || !e.IsOpen()) {
			return fmt.Errorf("%s was already to be split", f.Task)
		}
	default:
	}
	return nil
}

// CheckFacts returns why facts cannot happen one after the other, or nil if they can.
func (s *State) CheckFacts(facts ...nexus.Fact) error {
	then := *s // its status changes; shared values are only read
	planned, anew := map[nexus.TaskID]bool{}, false
	for _, f := range facts {
		if err := then.checkFact(f); err != nil {
			return err
		}
		switch f := f.(type) {
		case nexus.TaskPlanned:
			if planned[f.Task.ID] {
				return fmt.Errorf("task %q is planned twice", f.Task.ID)
			}
			if planned[f.Task.ID] = true; anew || s.Planned {
				then.Tasks = append(slices.Clip(then.Tasks), &Task{Task: f.Task})
			}
		case nexus.PlanRefused, nexus.PlanRevised:
			then.Tasks, then.tasks, anew = nil, nil, true
		default:
		}
		if to, err := then.nextRunStatus(f); err == nil {
			then.moveTo(to)
		}
	}
	return nil
}

// admitLanding refuses a second landing of a task, and a landing on a commit other than the
// branch's tip.
func (s *State) admitLanding(f nexus.TrainLanded) error {
	switch {
	case s.tasks[f.Task].Status == nexus.Landed:
		return fmt.Errorf("task %q landed before", f.Task)
	case s.CurrentLanding == nil || s.CurrentLanding.Task != f.Task:
		return fmt.Errorf("task %q is not landing", f.Task)
	case f.Parent != s.Tip:
		return fmt.Errorf("task %q landed on %.12s, not on the tip %.12s", f.Task, f.Parent, s.Tip)
	}
	return nil
}

// admitSplit refuses the parts of a task whose split was not requested, or that began or
// ended since.
func (s *State) admitSplit(f nexus.TaskSplit) error {
	e, t := s.Splits.ForTask(f.Task), s.tasks[f.Task]
	switch {
	case e == nil || e.Attempt != f.Attempt || !e.IsOpen():
		return fmt.Errorf("%q does not split %s", f.Attempt, f.Task)
	case t.Status != nexus.Pending || t.IsUnderway():
		return fmt.Errorf("%s is %s and cannot be split", f.Task, t.Status)
	case len(f.Parts) == 0:
		return fmt.Errorf("%s is split into nothing", f.Task)
	}
	return nil
}

// admitAddition refuses a fact about an unknown addition, or about one that has already
// advanced.
func (s *State) admitAddition(f nexus.Fact) error {
	var a *RunAddition
	switch f := f.(type) {
	case nexus.AdditionSought:
		if a = s.AdditionBySeq(f.Request); a != nil && a.Attempt != "" && a.Attempt != f.Attempt {
			return fmt.Errorf("%s makes tasks of request %d", a.Attempt, f.Request)
		}
	case nexus.AdditionProposed:
		a = s.addedBy(f.Attempt)
	case nexus.AdditionFailed:
		a = s.AdditionBySeq(f.Request)
	case nexus.TasksAdded:
		a = s.AdditionBySeq(f.Request)
		if _, err := s.taskGraph(); err != nil {
			return err
		}
	default:
	}
	switch {
	case a == nil:
		return errors.New("nothing was added")
	case a.IsDone():
		return fmt.Errorf("something came of request %d before", a.Seq)
	}
	return nil
}

// requiredTaskOf returns the task of a fact, which must exist.
func requiredTaskOf(f nexus.Fact) (nexus.TaskID, bool) {
	switch f := f.(type) {
	case nexus.TaskParked:
		return f.Task, true
	case nexus.SplitSought:
		return f.Task, true
	case nexus.TaskSplit:
		return f.Task, true
	case nexus.SplitFailed:
		return f.Task, true
	case nexus.TaskSkipped:
		return f.Task, true
	case nexus.TaskPaused:
		return f.Task, true
	case nexus.TaskResumed:
		return f.Task, true
	case nexus.TaskRetried:
		return f.Task, true
	case nexus.TaskRouted:
		return f.Task, true
	case nexus.TaskEscalated:
		return f.Task, true
	case nexus.ReplanDecided:
		return f.Task, true
	case nexus.CriterionRevised:
		return f.Task, true
	case nexus.AttemptStarted:
		return f.Task, true
	case nexus.TrainBoarded:
		return f.Task, true
	case nexus.WorkReturned:
		return f.Task, true
	case nexus.CommentsApplied:
		return f.Task, true
	case nexus.CommentsAnswered:
		return f.Task, true
	case nexus.TrainDeparted:
		return f.Task, true
	case nexus.TrainLanded:
		return f.Task, true
	case nexus.TrainRefused:
		return f.Task, true
	case nexus.TaskInherited:
		return f.Task, true
	default:
		return "", false
	}
}

// plannerOf returns the attempt of an interview, spec, split or addition that a fact is about.
func plannerOf(f nexus.Fact) (nexus.AttemptID, bool) {
	switch f := f.(type) {
	case nexus.InterviewHeard:
		return f.Attempt, true
	case nexus.InterviewFailed:
		return f.Attempt, true
	case nexus.SpecWritten:
		return f.Attempt, true
	case nexus.SpecFailed:
		return f.Attempt, true
	case nexus.TaskSplit:
		return f.Attempt, true
	case nexus.SplitFailed:
		return f.Attempt, true
	case nexus.AdditionProposed:
		return f.Attempt, true
	default:
		return "", false
	}
}

// requiredAttemptOf returns the attempt of a fact, which must exist.
func requiredAttemptOf(f nexus.Fact) (nexus.AttemptID, bool) {
	if id, ok := plannerOf(f); ok {
		return id, true
	}
	if id, ok := attemptOfProof(f); ok {
		return id, true
	}
	switch f := f.(type) {
	case nexus.RoutesTold:
		return f.Attempt, true
	case nexus.AttemptResumed:
		return f.Attempt, true
	case nexus.LandingMerged:
		return f.Attempt, true
	case nexus.UndoLanded:
		return f.Attempt, true
	case nexus.UndoRefused:
		return f.Attempt, true
	case nexus.AttemptInterrupted:
		return f.Attempt, true
	case nexus.AttemptLost:
		return f.Attempt, true
	case nexus.AttemptBroken:
		return f.Attempt, true
	case nexus.AttemptEnded:
		return f.Attempt, true
	case nexus.StartForgone:
		return f.Attempt, true
	case nexus.RoundStarted:
		return f.Attempt, true
	case nexus.VerdictGiven:
		return f.Attempt, true
	case nexus.ReviewGiven:
		return f.Attempt, true
	case nexus.PlanLooked:
		return f.Attempt, true
	case nexus.IsolationBroken:
		return f.Attempt, true
	case nexus.WorkVerified:
		return f.Attempt, true
	case nexus.TamperSuspected:
		return f.Attempt, true
	case nexus.TreeSnapshotted:
		return f.Attempt, true
	case nexus.SessionStarted:
		return f.Attempt, true
	case nexus.TrainBoarded:
		return f.Attempt, true
	default:
		return "", false
	}
}

// attemptOfProof returns the attempt of a fact about evidence for its work.
func attemptOfProof(f nexus.Fact) (nexus.AttemptID, bool) {
	switch f := f.(type) {
	case nexus.TestsProved:
		return f.Attempt, true
	case nexus.ChecksProved:
		return f.Attempt, true
	case nexus.ChecksReproduced:
		return f.Attempt, true
	case nexus.RedSeen:
		return f.Attempt, true
	case nexus.CheckTried:
		return f.Attempt, true
	case nexus.CriteriaWeighed:
		return f.Attempt, true
	default:
		return attemptOfComment(f)
	}
}

// attemptOfComment returns the attempt of a fact about people's comments.
func attemptOfComment(f nexus.Fact) (nexus.AttemptID, bool) {
	switch f := f.(type) {
	case nexus.WorkReturned:
		return f.Attempt, true
	case nexus.CommentsApplied:
		return f.Attempt, true
	case nexus.CommentsAnswered:
		return f.Attempt, true
	case nexus.ChangeWeighed:
		return f.Attempt, true
	default:
		return "", false
	}
}

// checkLanded returns an error if tasks have not landed on the present branch.
func (s *State) checkLanded(tasks []nexus.TaskID, tip string) error {
	if tip != s.Tip || len(tasks) == 0 {
		return fmt.Errorf("the tip is %.12s, not %.12s", s.Tip, tip)
	}
	for _, id := range tasks {
		if t := s.tasks[id]; t == nil || t.Landed == nil {
			return fmt.Errorf("%q has not landed", id)
		}
	}
	return nil
}
