package view

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestBeforePlan tells what runs before the planner is asked, and not what runs for it later.
func TestBeforePlan(t *testing.T) {
	var l EventLineDrawer
	var said []string
	for _, f := range []nexus.Fact{
		nexus.GateStarted{Attempt: "plan.1", Base: true, Gate: nexus.WarmUpGate},
		nexus.GateStarted{Attempt: "plan.1", Base: true, Gate: "test"},
		nexus.GateStarted{Attempt: "T1.1", Base: true, Gate: "test"},
		nexus.SessionStarted{Attempt: "plan.1", Session: "plan.1/planner.1", Role: nexus.Planner},
		nexus.GateStarted{Attempt: "plan.1", Base: true, Gate: "go test ./x"},
	} {
		if text := l.Draw(OutputStyle{Plain: true}, nexus.Event{Fact: f}); text != "" {
			said = append(said, text)
		}
	}
	want := "plan: compiling the repository as it is: its gates run on it first, for the planner|plan: test runs on the repository as it is"
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
