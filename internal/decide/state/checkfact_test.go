package state_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// executing returns a run that works on one task, T1.
func executing(t *testing.T) *state.State {
	t.Helper()
	s := state.NewState("r")
	for _, f := range []nexus.Fact{
		nexus.GoalAccepted{Base: "c0"},
		nexus.RunStarted{},
		nexus.PlanProposed{Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
		nexus.PlanApproved{},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"},
	} {
		if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Run: "r", Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// about returns the fact with a field set.
func about(f nexus.Fact, field, value string) nexus.Fact {
	v := reflect.New(reflect.TypeOf(f)).Elem()
	v.Set(reflect.ValueOf(f))
	v.FieldByName(field).SetString(value)
	return v.Interface().(nexus.Fact)
}

// TestUnknownOnes holds that no fact is admitted about a task or an attempt
// that the state does not know.
func TestUnknownOnes(t *testing.T) {
	s := executing(t)
	for _, f := range []nexus.Fact{
		nexus.TaskParked{},
		nexus.TaskSplitStarted{},
		nexus.TaskSplitCompleted{},
		nexus.TaskSplitFailed{},
		nexus.TaskSkipped{},
		nexus.TaskRetried{},
		nexus.StartTierChosen{},
		nexus.TaskEscalated{},
		nexus.CriterionRevised{},
		nexus.AttemptStarted{},
		nexus.LandingQueued{},
		nexus.LandingStarted{},
		nexus.LandingCompleted{},
		nexus.LandingRejected{},
		nexus.TaskPaused{},
		nexus.TaskResumed{},
		nexus.ReplanDecided{},
		nexus.WorkReturnedToAuthor{},
		nexus.SuggestionsApplied{},
		nexus.CommentsAnswered{},
		nexus.TaskStateInherited{},
	} {
		if err := s.CheckFacts(about(f, "Task", "T9")); err == nil || !strings.Contains(err.Error(), `no task "T9"`) {
			t.Errorf("%T of an unknown task: %v", f, err)
		}
	}
	for _, f := range []nexus.Fact{
		nexus.ComplexityRatingEnded{},
		nexus.AttemptResumed{},
		nexus.TargetMergeCommitted{},
		nexus.AttemptLost{},
		nexus.AttemptInfrastructureFailed{},
		nexus.AttemptEnded{},
		nexus.StartingTreeRejected{},
		nexus.RoundStarted{},
		nexus.GatesVerdictGiven{},
		nexus.ReviewerVerdictGiven{},
		nexus.TestsRunWithoutWork{},
		nexus.CriterionTestsFound{},
		nexus.BaseFailuresCompared{},
		nexus.CriterionCommandTried{},
		nexus.PlanCoverageChecked{},
		nexus.CriteriaEvidenceRecorded{},
		nexus.RoleIsolationViolated{},
		nexus.VerifierVerdictGiven{},
		nexus.TamperSuspected{},
		nexus.TreeSnapshotted{},
		nexus.SessionStarted{},
		nexus.UndoLanded{},
		nexus.UndoRefused{},
		nexus.AgentTurnInterrupted{},
		nexus.InterviewRoundEnded{},
		nexus.InterviewRoundFailed{},
		nexus.SpecWritten{},
		nexus.SpecWritingFailed{},
		nexus.AdditionTasksProposed{},
		nexus.ChangeRiskRated{},
		nexus.TaskSplitCompleted{Task: "T1"},
		nexus.TaskSplitFailed{Task: "T1"},
		nexus.WorkReturnedToAuthor{Task: "T1"},
		nexus.SuggestionsApplied{Task: "T1"},
		nexus.CommentsAnswered{Task: "T1"},
	} {
		if err := s.CheckFacts(about(f, "Attempt", "T1.9")); err == nil || !strings.Contains(err.Error(), `no attempt "T1.9"`) {
			t.Errorf("%T of an unknown attempt: %v", f, err)
		}
	}
	if err := s.CheckFacts(nexus.LandingQueued{Task: "T1", Attempt: "T1.9"}, nexus.AttemptLost{Attempt: "T1.1"}); err == nil {
		t.Error("an unknown attempt of a known task boarded")
	}
}

// TestDumpHasTheEvidence holds that two states that differ in what gates said
// have different dumps: snapshots are compared by them.
func TestDumpHasTheEvidence(t *testing.T) {
	s := executing(t)
	before, err := s.DumpJSON()
	if err != nil {
		t.Fatal(err)
	}
	e := nexus.GateEvidence{Tree: "t1", Gate: "test", State: nexus.Pass}
	if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Run: "r", At: time.Unix(9, 0), Fact: nexus.GateJudged{Attempt: "T1.1", Evidence: e}}); err != nil {
		t.Fatal(err)
	}
	after, err := s.DumpJSON()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(before, `"t1\u0000test"`) || !strings.Contains(after, `"t1\u0000test"`) {
		t.Errorf("before %s\nafter %s", before, after)
	}
}
