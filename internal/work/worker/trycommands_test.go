package worker_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// TestTryWithoutAWall runs only those checks of a plan that a planner may run
// itself where nothing confines them: nobody has agreed to any of them.
func TestTryWithoutAWall(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	var gates []gate.QualityGate
	for _, line := range []string{"grep -q good bad", "python3 -c 'print(1)'", "sudo true", "grep -q bad bad"} {
		gates = append(gates, gate.QualityGate{Name: nexus.AcceptGate + line, Args: []string{"sh", "-c", line}})
	}
	var tried []string
	told := func(e nexus.GateEvidence) error {
		tried = append(tried, e.Command+": "+string(e.State))
		return nil
	}
	if err := s.Judge.Bases.TryCommands(t.Context(), s.Judge, worker.JudgedBaseCommit{Commit: base}, gates, time.Minute, time.Minute, told, &desk{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"grep -q good bad: fail", "grep -q bad bad: pass"}; !slices.Equal(tried, want) {
		t.Errorf("%q, want %q", tried, want)
	}
	tried = nil
	if err := s.Judge.Bases.TryCommands(t.Context(), s.Judge, worker.JudgedBaseCommit{Commit: base}, gates, time.Minute, 0, told, &desk{}); err != nil || len(tried) > 0 {
		t.Errorf("with no time left %q ran, %v", tried, err)
	}
}

// TestTryEndsInTime: a check gets the shorter of its own time and that of a
// gate, and a check that is ended is heard of like any other.
func TestTryEndsInTime(t *testing.T) {
	const short, long = 50 * time.Millisecond, time.Hour
	for _, c := range []struct{ each, gate time.Duration }{{short, 0}, {short, long}, {long, short}} {
		s, base, _ := workertest.NewTestWorker(t)
		s.Judge.GateTime = c.gate
		var tried []nexus.GateEvidence
		told := func(e nexus.GateEvidence) error { tried = append(tried, e); return nil }
		gates := []gate.QualityGate{{Name: nexus.AcceptGate + "x", Args: []string{"sh", "-c", "sleep 20"}}}
		if err := s.Judge.Bases.TryCommands(t.Context(), s.Judge, worker.JudgedBaseCommit{Commit: base}, gates, c.each, long, told, &desk{}); err != nil {
			t.Fatal(err)
		}
		if len(tried) != 1 || tried[0].State != nexus.Timeout {
			t.Errorf("each %s, gates %s: %+v", c.each, c.gate, tried)
		}
	}
}

// TestTryStops when nobody can be told the result of a check.
func TestTryStops(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	full := errors.New("no space")
	heard := 0
	told := func(nexus.GateEvidence) error { heard++; return full }
	gates := []gate.QualityGate{
		{Name: nexus.AcceptGate + "x", Args: []string{"sh", "-c", "grep -q good bad"}}, {Name: nexus.AcceptGate + "y", Args: []string{"sh", "-c", "grep -q bad bad"}},
	}
	if err := s.Judge.Bases.TryCommands(t.Context(), s.Judge, worker.JudgedBaseCommit{Commit: base}, gates, time.Minute, time.Minute, told, &desk{}); !errors.Is(err, full) || heard != 1 {
		t.Errorf("%v, heard %d times", err, heard)
	}
}

// TestTryLeavesTheBaseAsItWas for the check after it, and tries none twice whose
// tests pass.
func TestTryLeavesTheBaseAsItWas(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	if err != nil {
		t.Fatal(err)
	}
	if s.Site.Box = box; box.Name() == string(sandbox.ModeOff) {
		testenv.NeedMachine(t, "a sandbox", errors.New("without one, what nobody has agreed to does not write"))
	}
	var gates []gate.QualityGate
	for _, name := range []string{"x", "y"} {
		gates = append(gates, gate.QualityGate{Name: nexus.AcceptGate + name, Args: []string{"sh", "-c", "test ! -e dirt && grep -q bad bad && echo x > dirt && echo good > bad"}})
	}
	var tried []nexus.GateState
	told := func(e nexus.GateEvidence) error { tried = append(tried, e.State); return nil }
	if err := s.Judge.Bases.TryCommands(t.Context(), s.Judge, worker.JudgedBaseCommit{Commit: base}, gates, time.Minute, time.Minute, told, &desk{}); err != nil {
		t.Fatal(err)
	}
	if want := []nexus.GateState{nexus.Pass, nexus.Pass}; !slices.Equal(tried, want) {
		t.Errorf("%v, want %v", tried, want)
	}
}
