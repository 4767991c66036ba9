package schedule

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLandingTries lets accepted work try to land as often as the limit says, at least once.
func TestLandingTries(t *testing.T) {
	for _, c := range []struct {
		tries, refusals int
		want            bool
	}{{0, 0, true}, {0, 1, false}, {1, 0, true}, {1, 1, false}, {2, 1, true}, {2, 2, false}, {2, 3, false}} {
		s := &state.State{Limits: nexus.Limits{LandTries: c.tries}}
		a := &state.AttemptState{Outcome: nexus.Accepted, Refusals: c.refusals}
		if got := canLand(s, &state.TaskState{}, a); got != c.want {
			t.Errorf("with %d tries, work that was refused %d times may land: %t", c.tries, c.refusals, got)
		}
		if a.Outcome = nexus.Conflicted; canLand(s, &state.TaskState{}, a) {
			t.Error("work that was not accepted may land")
		}
	}
}
