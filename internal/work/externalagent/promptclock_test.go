package externalagent_test

import (
	"context"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/work/externalagent"
)

// TestClock holds that the time of a session and of its task stands still while a
// person is asked, and that both still end an agent that works for longer.
func TestClock(t *testing.T) {
	for name, c := range map[string]struct {
		hangs   bool
		outcome nexus.Outcome
		took    time.Duration
	}{
		"a person takes long": {false, nexus.Accepted, 3 * time.Hour},
		"then it hangs":       {true, nexus.Exhausted, 3*time.Hour + 10*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			a := &scripted{ends: []agentcli.PromptResult{done("Done.")}, asks: true, hangs: c.hangs}
			o, _, took, err := run(t, a, func(b *externalagent.ExternalSessionBrief) {
				b.Limits.SessionTime = 10 * time.Minute
				rested := time.Duration(0)
				began := b.Now()
				b.Left = func() time.Duration { return 20*time.Minute + rested - b.Now().Sub(began) }
				wait := func(d time.Duration) {
					<-time.After(d)
					rested += d
				}
				b.Ask = func(context.Context, agentcli.AgentQuestion) (string, error) {
					wait(2 * time.Hour)
					return "blue", nil
				}
				b.Permit = func(context.Context, stream.AgentToolCall) (nexus.ToolCallDecision, string) {
					wait(time.Hour)
					return nexus.ToolCallDecision{}, ""
				}
			})
			if err != nil || o.Outcome != c.outcome || took != c.took || len(a.answers) != 1 || a.answers[0] != "blue" {
				t.Errorf("%q (%s) after %s, %v, answered %q; want %q after %s", o.Outcome, o.Why, took, err, a.answers, c.outcome, c.took)
			}
		})
	}
}
