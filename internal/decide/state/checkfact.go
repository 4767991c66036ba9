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
	case nexus.TaskPlanned, nexus.SharedSessionGroupFormed, nexus.CriterionRevised, nexus.TaskSplitStarted:
		return s.checkTaskFact(f)
	case nexus.AttemptStarted:
		if s.attempts[f.Attempt] != nil {
			return fmt.Errorf("attempt %q was started before", f.Attempt)
		}
	case nexus.LandingStarted:
		if s.CurrentLanding != nil {
			return fmt.Errorf("%s is still landing", s.CurrentLanding.Task)
		}
	case nexus.LandingCompleted:
		return s.checkLanding(f)
	case nexus.CriterionFaultsFound:
		if s.Mending == nil || s.Mending.ID != f.Attempt {
			return fmt.Errorf("%q does not look for faults", f.Attempt)
		}
	case nexus.TaskSplitCompleted:
		return s.checkSplit(f)
	case nexus.AdditionPlanningStarted, nexus.AdditionTasksProposed, nexus.AdditionPlanningFailed, nexus.TasksAdded:
		return s.checkAdditionFact(f)
	case nexus.CheckpointMade:
		if s.CheckpointByName(f.Name) != nil || f.Name == "" {
			return fmt.Errorf("there is a checkpoint %q", f.Name)
		}
	case nexus.RunRewound:
		return s.checkRewind(f)
	case nexus.UndoStarted, nexus.UndoLanded:
		return s.checkUndo(f)
	case nexus.PlanRejected, nexus.PlanRevised:
		if s.Proposed == 0 || s.Planned {
			return errors.New("no plan waits for consent")
		}
	case nexus.PlanApproved, nexus.FixTasksPlanned:
		_, err := s.taskGraph()
		return err
	default:
	}
	return nil
}

// checkTaskFact returns an error for a fact that cannot happen to a task, or to tasks that share
// a session.
func (s *State) checkTaskFact(f nexus.Fact) error {
	switch f := f.(type) {
	case nexus.TaskPlanned:
		if s.tasks[f.Task.ID] != nil {
			return fmt.Errorf("task %q was planned before", f.Task.ID)
		}
	case nexus.SharedSessionGroupFormed:
		for _, id := range f.Tasks {
			if s.tasks[id] == nil {
				return fmt.Errorf("there is no task %q", id)
			}
		}
	case nexus.CriterionRevised:
		if f.Number < 1 || f.Number > len(s.tasks[f.Task].Criteria) {
			return fmt.Errorf("%s has no criterion %d", f.Task, f.Number)
		}
	case nexus.TaskSplitStarted:
		if e := s.Splits.SplitOfTask(f.Task); e != nil && (e.Attempt != f.Attempt || !e.IsOpen()) {
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
				then.Tasks = append(slices.Clip(then.Tasks), &TaskState{Task: f.Task})
			}
		case nexus.PlanRejected, nexus.PlanRevised:
			then.Tasks, then.tasks, anew = nil, nil, true
		default:
		}
		if to, err := then.nextRunStatus(f); err == nil {
			then.setStatus(to)
		}
	}
	return nil
}

// checkLanding refuses a second landing of a task, and a landing on a commit other than the
// branch's tip.
func (s *State) checkLanding(f nexus.LandingCompleted) error {
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

// checkSplit refuses the parts of a task whose split was not requested, or that began or
// ended since.
func (s *State) checkSplit(f nexus.TaskSplitCompleted) error {
	e, t := s.Splits.SplitOfTask(f.Task), s.tasks[f.Task]
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

// checkAdditionFact refuses a fact about an unknown addition, or about one that has already
// advanced.
func (s *State) checkAdditionFact(f nexus.Fact) error {
	var a *RunAddition
	switch f := f.(type) {
	case nexus.AdditionPlanningStarted:
		if a = s.AdditionBySeq(f.Request); a != nil && a.Attempt != "" && a.Attempt != f.Attempt {
			return fmt.Errorf("%s makes tasks of request %d", a.Attempt, f.Request)
		}
	case nexus.AdditionTasksProposed:
		a = s.additionOfAttempt(f.Attempt)
	case nexus.AdditionPlanningFailed:
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
	case nexus.TaskSplitStarted:
		return f.Task, true
	case nexus.TaskSplitCompleted:
		return f.Task, true
	case nexus.TaskSplitFailed:
		return f.Task, true
	case nexus.TaskSkipped:
		return f.Task, true
	case nexus.TaskPaused:
		return f.Task, true
	case nexus.TaskResumed:
		return f.Task, true
	case nexus.TaskRetried:
		return f.Task, true
	case nexus.StartTierChosen:
		return f.Task, true
	case nexus.TaskEscalated:
		return f.Task, true
	case nexus.ReplanDecided:
		return f.Task, true
	case nexus.CriterionRevised:
		return f.Task, true
	case nexus.AttemptStarted:
		return f.Task, true
	case nexus.LandingQueued:
		return f.Task, true
	case nexus.WorkReturnedToAuthor:
		return f.Task, true
	case nexus.SuggestionsApplied:
		return f.Task, true
	case nexus.CommentsAnswered:
		return f.Task, true
	case nexus.LandingStarted:
		return f.Task, true
	case nexus.LandingCompleted:
		return f.Task, true
	case nexus.LandingRejected:
		return f.Task, true
	case nexus.TaskStateInherited:
		return f.Task, true
	default:
		return "", false
	}
}

// plannerOf returns the attempt of an interview, spec, split or addition that a fact is about.
func plannerOf(f nexus.Fact) (nexus.AttemptID, bool) {
	switch f := f.(type) {
	case nexus.InterviewRoundEnded:
		return f.Attempt, true
	case nexus.InterviewRoundFailed:
		return f.Attempt, true
	case nexus.SpecWritten:
		return f.Attempt, true
	case nexus.SpecWritingFailed:
		return f.Attempt, true
	case nexus.TaskSplitCompleted:
		return f.Attempt, true
	case nexus.TaskSplitFailed:
		return f.Attempt, true
	case nexus.AdditionTasksProposed:
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
	case nexus.ComplexityRatingEnded:
		return f.Attempt, true
	case nexus.AttemptResumed:
		return f.Attempt, true
	case nexus.TargetMergeCommitted:
		return f.Attempt, true
	case nexus.UndoLanded:
		return f.Attempt, true
	case nexus.UndoRefused:
		return f.Attempt, true
	case nexus.AgentTurnInterrupted:
		return f.Attempt, true
	case nexus.AttemptLost:
		return f.Attempt, true
	case nexus.AttemptInfrastructureFailed:
		return f.Attempt, true
	case nexus.AttemptEnded:
		return f.Attempt, true
	case nexus.StartingTreeRejected:
		return f.Attempt, true
	case nexus.RoundStarted:
		return f.Attempt, true
	case nexus.GatesVerdictGiven:
		return f.Attempt, true
	case nexus.ReviewerVerdictGiven:
		return f.Attempt, true
	case nexus.PlanCoverageChecked:
		return f.Attempt, true
	case nexus.RoleIsolationViolated:
		return f.Attempt, true
	case nexus.VerifierVerdictGiven:
		return f.Attempt, true
	case nexus.TamperSuspected:
		return f.Attempt, true
	case nexus.TreeSnapshotted:
		return f.Attempt, true
	case nexus.SessionStarted:
		return f.Attempt, true
	case nexus.LandingQueued:
		return f.Attempt, true
	default:
		return "", false
	}
}

// attemptOfProof returns the attempt of a fact about evidence for its work.
func attemptOfProof(f nexus.Fact) (nexus.AttemptID, bool) {
	switch f := f.(type) {
	case nexus.TestsRunWithoutWork:
		return f.Attempt, true
	case nexus.CriterionTestsFound:
		return f.Attempt, true
	case nexus.IndependentChecksRun:
		return f.Attempt, true
	case nexus.BaseFailuresCompared:
		return f.Attempt, true
	case nexus.CriterionCommandTried:
		return f.Attempt, true
	case nexus.CriteriaEvidenceRecorded:
		return f.Attempt, true
	default:
		return attemptOfComment(f)
	}
}

// attemptOfComment returns the attempt of a fact about people's comments.
func attemptOfComment(f nexus.Fact) (nexus.AttemptID, bool) {
	switch f := f.(type) {
	case nexus.WorkReturnedToAuthor:
		return f.Attempt, true
	case nexus.SuggestionsApplied:
		return f.Attempt, true
	case nexus.CommentsAnswered:
		return f.Attempt, true
	case nexus.ChangeRiskRated:
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
