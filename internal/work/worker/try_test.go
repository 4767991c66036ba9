package worker_test

import (
	"slices"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// TestTryWithoutAWall runs only those checks of a plan that a planner may run
// itself where nothing confines them: nobody has agreed to any of them.
func TestTryWithoutAWall(t *testing.T) {
	s, base, _ := workertest.New(t)
	var gates []gate.Gate
	for _, line := range []string{"grep -q good bad", "python3 -c 'print(1)'", "sudo true", "grep -q bad bad"} {
		gates = append(gates, gate.Gate{Name: nexus.AcceptGate + line, Args: []string{"sh", "-c", line}})
	}
	var tried []string
	told := func(e nexus.Evidence) error {
		tried = append(tried, e.Command+": "+string(e.State))
		return nil
	}
	if err := s.Judge.Bases.Try(t.Context(), s.Judge, worker.Base{Commit: base}, gates, time.Minute, time.Minute, told, &desk{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"grep -q good bad: fail", "grep -q bad bad: pass"}; !slices.Equal(tried, want) {
		t.Errorf("%q, want %q", tried, want)
	}
	tried = nil
	if err := s.Judge.Bases.Try(t.Context(), s.Judge, worker.Base{Commit: base}, gates, time.Minute, 0, told, &desk{}); err != nil || len(tried) > 0 {
		t.Errorf("with no time left %q ran, %v", tried, err)
	}
}
