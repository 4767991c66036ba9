package health_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/health"
)

// TestMachine measures a disk that fills up, stands at its bound and is cleaned:
// that is told of once, and is over once.
func TestMachine(t *testing.T) {
	bounds := nexus.AlertThresholds{Memory: 90, Disk: 1000 << 20, Lasting: 30 * time.Second}
	for name, c := range map[string]struct {
		raised []state.RaisedAlert
		free   []int64 // MB, each 10 s
		want   []string
	}{
		"a moment is no alert":      {nil, []int64{2000, 900, 900, 900, 2000, 900, 900}, nil},
		"it lasts":                  {nil, []int64{900, 900, 900, 900, 900, 900}, []string{"30s raised disk 900 MB are free on the disk of the state"}},
		"at the bound":              {nil, []int64{999, 999, 999, 999, 1001, 999, 1100, 999, 1001, 1249, 1249, 1249, 1249}, []string{"30s raised disk 999 MB are free on the disk of the state"}},
		"cleaned":                   {nil, []int64{900, 900, 900, 900, 1300, 1300, 1300, 1300, 1300}, []string{"30s raised disk 900 MB are free on the disk of the state", "1m10s cleared disk 1300 MB are free on the disk of the state"}},
		"cleaned for a moment":      {nil, []int64{900, 900, 900, 900, 1300, 1300, 900, 1300, 1300, 900}, []string{"30s raised disk 900 MB are free on the disk of the state"}},
		"raised by an earlier life": {[]state.RaisedAlert{{AlertRaised: nexus.AlertRaised{Kind: nexus.AlertDisk}}}, []int64{900, 900, 900, 900, 900}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m := health.NewMachineAlerts(c.raised)
			var got []string
			for i, mb := range c.free {
				at := time.Duration(i) * 10 * time.Second
				for _, f := range m.ApplySample(bounds, health.MachineSample{At: eventtapetest.TapeStartTime().Add(at), Free: mb << 20, Disk: true}) {
					switch f := f.(type) {
					case nexus.AlertRaised:
						got = append(got, at.String()+" raised "+string(f.Kind)+" "+f.Why)
					case nexus.AlertCleared:
						got = append(got, at.String()+" cleared "+string(f.Kind)+" "+f.Why)
					default:
						t.Errorf("%v", f)
					}
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestMemory(t *testing.T) {
	m := health.NewMachineAlerts(nil)
	at := eventtapetest.TapeStartTime()
	measured := func(percent int64) int {
		at = at.Add(time.Minute)
		return len(m.ApplySample(nexus.AlertThresholds{Memory: 90}, health.MachineSample{At: at, Memory: 1000, Available: 1000 - 10*percent}))
	}
	var got []int
	for _, percent := range []int64{50, 89, 90, 95, 88, 90, 86, 85, 84, 50} {
		got = append(got, measured(percent))
	}
	if d := cmp.Diff([]int{0, 0, 1, 0, 0, 0, 0, 0, 1, 0}, got); d != "" {
		t.Error(d)
	}
	if facts := m.ApplySample(nexus.AlertThresholds{Memory: 90}, health.MachineSample{At: at}); facts != nil {
		t.Errorf("nothing was measured: %v", facts)
	}
}

// TestBook counts what fails, and at what pace money is spent.
func TestBook(t *testing.T) {
	var b health.HealthCounters
	s := state.NewState("r")
	apply := func(minutes int, facts ...nexus.Fact) {
		for _, f := range facts {
			b.Apply(nexus.Event{At: eventtapetest.TapeStartTime().Add(time.Duration(minutes) * time.Minute), Fact: f})
		}
	}
	spend := func(minutes int, id string, money nexus.Money) {
		apply(minutes, nexus.BudgetReserved{ID: id, Model: "anthropic/x"}, nexus.BudgetSettled{ID: id, Money: money})
	}
	apply(0, nexus.SessionStarted{Session: "T1.1/coder.1", Role: nexus.Coder})
	spend(0, "a", 4*nexus.Dollar)
	spend(90, "b", nexus.Dollar)
	spend(100, "c", nexus.Dollar)
	apply(100, nexus.ModelCallDelayed{Model: "anthropic/x", Try: 1}, nexus.ModelCallDelayed{Model: "anthropic/x"},
		nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Exceeded, Over: "memory"}},
		nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Pass}},
		nexus.GateJudged{Evidence: nexus.GateEvidence{Gate: "test", State: nexus.Fail}, Cached: true},
		nexus.ToolCallEnded{Over: "memory"}, nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.GaveUp})
	r := health.ReportFor(s, &b, true, eventtapetest.TapeStartTime().Add(120*time.Minute))
	want := health.HealthReport{
		OK: true, Alerts: []health.ActiveAlertReport{}, Attempts: []health.WorkerLastActivity{},
		Providers: map[string]health.FailureCount{"anthropic": {All: 4, Failed: 1, Rate: 0.25}},
		Gates:     map[string]health.FailureCount{"test": {All: 2, Failed: 1, Rate: 0.5}},
		Roles:     map[nexus.Role]health.FailureCount{nexus.Coder: {All: 1, Failed: 1, Rate: 1}},
		Bounds:    map[string]int{"memory": 2}, Hourly: 2,
	}
	if d := cmp.Diff(want, r); d != "" {
		t.Error(d)
	}
}

// TestQueue holds what waits and since when: a task since the last one landed that it needs, work that is accepted, and
// questions that are open.
func TestQueue(t *testing.T) {
	s := state.NewState("r")
	seq := int64(0)
	apply := func(minutes int, facts ...nexus.Fact) {
		t.Helper()
		for _, f := range facts {
			seq++
			if err := s.Apply(nexus.Event{Seq: seq, Run: "r", At: eventtapetest.TapeStartTime().Add(time.Duration(minutes) * time.Minute), Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
	}
	queue := func(minutes int) health.QueueLengths {
		return health.ReportFor(s, &health.HealthCounters{}, true, eventtapetest.TapeStartTime().Add(time.Duration(minutes)*time.Minute)).Queue
	}
	apply(0, nexus.GoalAccepted{Goal: nexus.Goal{Text: "x"}, Base: "b", Target: "main"}, nexus.RunStarted{}, nexus.PlanProposed{Plan: "p", Tasks: 3})
	for _, task := range []nexus.Task{{ID: "T1"}, {ID: "T2", Needs: []nexus.TaskID{"T1"}}, {ID: "T3", Needs: []nexus.TaskID{"T2"}}} {
		task.Title = "Do it"
		apply(0, nexus.TaskPlanned{Task: task})
	}
	if got := queue(5); got != (health.QueueLengths{}) {
		t.Errorf("nothing waits before there is a plan: %+v", got)
	}
	apply(5, nexus.PlanApproved{})
	if got, want := queue(10), (health.QueueLengths{Ready: 1, Oldest: 600}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	apply(10, nexus.AttemptStarted{Task: "T1", Attempt: "T1.1", Base: "b"}, nexus.QuestionAsked{ID: "q1", Text: "which?", Trigger: humaninput.AmbiguityTrigger})
	if got, want := queue(12), (health.QueueLengths{People: 1, Oldest: 120}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	apply(20, nexus.QuestionAnswered{ID: "q1", Text: "this", By: "ada"}, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c", Tree: "t"}, nexus.LandingQueued{Task: "T1", Attempt: "T1.1"})
	if got, want := queue(22), (health.QueueLengths{Train: 1}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	apply(25, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b"}, nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c", Tree: "t", Parent: "b"})
	if got, want := queue(28), (health.QueueLengths{Ready: 1, Oldest: 180}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
