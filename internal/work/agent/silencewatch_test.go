package agent_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
)

// TestNoTimeForSilence checks what becomes of a call when the process is told
// to end soon, a second after it began: one that says something now
// and then is waited for, whatever it says, and one that does not is over
// within two seconds, and is settled.
func TestNoTimeForSilence(t *testing.T) {
	const told = time.Second
	enough := errors.New("the process is told to end")
	input := calls(call("write_file", map[string]any{"path": "a.go", "content": "package sum\n\n// It is long, longer than one event, and it is the input of a call, which nobody is shown.\n"}))
	for name, c := range map[string]struct {
		turn  llmtest.ScriptTurn
		kept  bool
		after time.Duration
	}{
		"text":    {turn: llmtest.ScriptTurn{Say: "It takes more than one event to say this, as a rule, and it takes a second for each of them, so that it is long."}, kept: true},
		"input":   {turn: input, kept: true},
		"stalled": {turn: llmtest.ScriptTurn{Say: "So it is", Fault: llmtest.Stall}, after: told + 1500*time.Millisecond},
		"pings":   {turn: llmtest.ScriptTurn{Say: "So it is", Fault: llmtest.Pings}, after: told + 1500*time.Millisecond},
		"nothing": {turn: llmtest.ScriptTurn{Say: "So it is", Fault: llmtest.Silent}, after: told + 1500*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if c.turn.Fault == "" {
				c.turn.Delay = 400 * time.Millisecond
			}
			b := newBench(t, nexus.Coder, script()) // whose own server stands outside of the time that is made up
			synctest.Test(t, func(t *testing.T) {
				server, err := llmtest.NewServer(script(c.turn, done()), llmtest.Options{})
				if err != nil {
					t.Fatal(err)
				}
				client, wait := conform.NewHandlerClient(server)
				defer wait()
				b.model = anthropic.NewProvider(anthropic.Config{BaseURL: "http://inside.invalid", HTTP: client, Limits: llm.CallLimits{Idle: 5 * time.Minute}})
				b.brief.Hurry = func(end func(error)) func() bool { return time.AfterFunc(told, func() { end(enough) }).Stop }
				start := time.Now()
				_, err = b.run(t.Context())
				if took := time.Since(start); errors.Is(err, enough) == c.kept || !c.kept && took != c.after {
					t.Errorf("after %s: %v", took, err)
				}
				settled(t, b)
			})
		})
	}
}
