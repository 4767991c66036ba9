package state_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestUnheard holds that it is known how many messages of ours nothing came of yet.
func TestUnheard(t *testing.T) {
	const id = nexus.SessionID("T1.1/coder.1")
	sent := nexus.PromptSent{Session: id, Message: "m"}
	for name, c := range map[string]struct {
		facts []nexus.Fact
		want  int
	}{
		"said":                          {[]nexus.Fact{sent, sent}, 2},
		"a turn came":                   {[]nexus.Fact{sent, sent, nexus.TurnTaken{Session: id, Turn: 1}}, 0},
		"said after a turn":             {[]nexus.Fact{sent, nexus.TurnTaken{Session: id, Turn: 1}, sent}, 1},
		"it ended without a turn":       {[]nexus.Fact{sent, nexus.AgentEnded{Session: id, Fault: nexus.FaultQuota}, sent}, 2},
		"it was done, and took no turn": {[]nexus.Fact{sent, nexus.AgentEnded{Session: id}}, 0},
	} {
		a := &state.Attempt{ID: "T1.1"}
		for _, f := range append([]nexus.Fact{nexus.SessionStarted{Session: id, Attempt: "T1.1"}}, c.facts...) {
			a.Apply(f, time.Time{})
		}
		if got := a.Session(id).Unheard; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
