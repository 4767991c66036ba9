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
	s := state.New("r")
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
		nexus.SplitSought{},
		nexus.TaskSplit{},
		nexus.SplitFailed{},
		nexus.TaskSkipped{},
		nexus.TaskRetried{},
		nexus.TaskRouted{},
		nexus.TaskEscalated{},
		nexus.CriterionRevised{},
		nexus.AttemptStarted{},
		nexus.TrainBoarded{},
		nexus.TrainDeparted{},
		nexus.TrainLanded{},
		nexus.TrainRefused{},
		nexus.TaskPaused{},
		nexus.TaskResumed{},
		nexus.ReplanDecided{},
		nexus.WorkReturned{},
		nexus.CommentsApplied{},
		nexus.CommentsAnswered{},
		nexus.TaskInherited{},
	} {
		if err := s.CheckFacts(about(f, "Task", "T9")); err == nil || !strings.Contains(err.Error(), `no task "T9"`) {
			t.Errorf("%T of an unknown task: %v", f, err)
		}
	}
	for _, f := range []nexus.Fact{
		nexus.RoutesTold{},
		nexus.AttemptResumed{},
		nexus.LandingMerged{},
		nexus.AttemptLost{},
		nexus.AttemptBroken{},
		nexus.AttemptEnded{},
		nexus.StartForgone{},
		nexus.RoundStarted{},
		nexus.VerdictGiven{},
		nexus.ReviewGiven{},
		nexus.TestsProved{},
		nexus.ChecksProved{},
		nexus.RedSeen{},
		nexus.CheckTried{},
		nexus.PlanLooked{},
		nexus.CriteriaWeighed{},
		nexus.IsolationBroken{},
		nexus.WorkVerified{},
		nexus.TamperSuspected{},
		nexus.TreeSnapshotted{},
		nexus.SessionStarted{},
		nexus.UndoLanded{},
		nexus.UndoRefused{},
		nexus.AttemptInterrupted{},
		nexus.InterviewHeard{},
		nexus.InterviewFailed{},
		nexus.SpecWritten{},
		nexus.SpecFailed{},
		nexus.AdditionProposed{},
		nexus.ChangeWeighed{},
		nexus.TaskSplit{Task: "T1"},
		nexus.SplitFailed{Task: "T1"},
		nexus.WorkReturned{Task: "T1"},
		nexus.CommentsApplied{Task: "T1"},
		nexus.CommentsAnswered{Task: "T1"},
	} {
		if err := s.CheckFacts(about(f, "Attempt", "T1.9")); err == nil || !strings.Contains(err.Error(), `no attempt "T1.9"`) {
			t.Errorf("%T of an unknown attempt: %v", f, err)
		}
	}
	if err := s.CheckFacts(nexus.TrainBoarded{Task: "T1", Attempt: "T1.9"}, nexus.AttemptLost{Attempt: "T1.1"}); err == nil {
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
	e := nexus.Evidence{Tree: "t1", Gate: "test", State: nexus.Pass}
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
