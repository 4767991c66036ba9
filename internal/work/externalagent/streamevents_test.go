package externalagent_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/agenttest"
	"github.com/nexus-ai-builder/nexus/internal/work/externalagent"
)

// TestUnheardIsSaidAgain holds that an agent that did not get to hear a prompt is told
// all of it again, with what people said: the journal has that as delivered.
func TestUnheardIsSaidAgain(t *testing.T) {
	for _, f := range []nexus.AgentProgramFault{nexus.FaultCrashed, nexus.FaultOverload, nexus.FaultQuota, nexus.FaultLost, nexus.FaultContext} {
		a := &scripted{ends: []agentcli.PromptResult{fault(f), done("ok")}, mute: true}
		d := &agenttest.FakeSessionRecorder{Guidance: []agent.Guidance{{Seq: 9, Text: "Use tabs."}, {Seq: 10, Text: "T2 landed.", Landed: true}}}
		var o agent.SessionStretchResult
		var err error
		synctest.Test(t, func(t *testing.T) {
			o, err = externalagent.RunExternalSession(t.Context(), a, brief(func(b *externalagent.ExternalSessionBrief) {
				b.Next, b.Why, b.Old = "It is red.", "repair", &state.AgentSessionState{Turns: 2, Opened: nexus.AgentConversationOpened{Agent: "claude", ID: "old"}}
				b.Told = func() string { return "" }
			}), d, &agenttest.InMemoryBlobStore{})
		})
		if err != nil || o.Outcome != nexus.Accepted || len(a.prompts) != 2 {
			t.Fatalf("%s: %+v, %v, %d prompts", f, o, err, len(a.prompts))
		}
		const whole = "It is red.\n\nGuidance from a person:\n\nUse tabs.\n\nT2 landed."
		for _, p := range a.prompts {
			if !strings.HasSuffix(p.Text, whole) || strings.Count(p.Text, "It is red.") != 1 {
				t.Errorf("%s: prompted with %q", f, p.Text)
			}
		}
		if n := len(only[nexus.PromptSent](d)); n != 3 {
			t.Errorf("%s: %d messages are recorded", f, n)
		}
	}
}

// TestHeardIsNotSaidAgain holds that guidance which an agent heard is not repeated,
// but in a new conversation.
func TestHeardIsNotSaidAgain(t *testing.T) {
	for f, again := range map[nexus.AgentProgramFault]bool{nexus.FaultCrashed: false, nexus.FaultQuota: false, nexus.FaultLost: true} {
		a := &scripted{ends: []agentcli.PromptResult{fault(f), done("ok")}}
		d := &agenttest.FakeSessionRecorder{Guidance: []agent.Guidance{{Seq: 9, Text: "Use tabs."}}}
		if _, err := externalagent.RunExternalSession(t.Context(), a, brief(nil), d, &agenttest.InMemoryBlobStore{}); err != nil {
			t.Fatal(err)
		}
		if text := a.prompts[1].Text; strings.Contains(text, "Use tabs.") != again {
			t.Errorf("%s: %q", f, text)
		}
	}
}

// TestUnheardBeforeAKill holds that findings and guidance that were recorded as sent,
// and that no agent got before the process ended, are told by the next process.
func TestUnheardBeforeAKill(t *testing.T) {
	store := &agenttest.InMemoryBlobStore{}
	keep := func(m llm.Message) string {
		hash, err := agent.StoreMessage(store, m)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	old := state.AgentSessionState{
		Messages: []string{keep(llm.UserMessage("Do it.")), keep(llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Text: "Done."}}}), keep(llm.UserMessage("It is red.")), keep(llm.UserMessage("Use tabs."))},
		Unheard:  2, Turns: 1,
	}
	for name, c := range map[string]struct {
		opened nexus.AgentConversationOpened
		want   string
	}{
		"resumed": {nexus.AgentConversationOpened{Agent: "claude", ID: "old"}, "It is red.\n\nUse tabs.\n\nYour program was stopped."},
		"moved":   {nexus.AgentConversationOpened{Agent: "codex", ID: "old"}, "It is red.\n\nUse tabs.\n\nThe files are as another agent left them."},
	} {
		a := &scripted{ends: []agentcli.PromptResult{done("ok")}}
		old.Opened = c.opened
		if _, err := externalagent.RunExternalSession(t.Context(), a, brief(func(b *externalagent.ExternalSessionBrief) {
			b.Next, b.Why, b.Old, b.Told = "", "", &old, func() string { return "Do it." }
		}), &agenttest.FakeSessionRecorder{}, store); err != nil {
			t.Fatal(err)
		}
		if text := a.prompts[0].Text; !strings.Contains(text, c.want) || strings.Count(text, "Do it.") != strings.Count(text, "GUIDE") {
			t.Errorf("%s: %q", name, text)
		}
	}
	// Before any agent began, all is told for the first time.
	a := &scripted{ends: []agentcli.PromptResult{done("ok")}}
	begun := state.AgentSessionState{Messages: []string{old.Messages[0], old.Messages[3]}, Unheard: 2}
	if _, err := externalagent.RunExternalSession(t.Context(), a, brief(func(b *externalagent.ExternalSessionBrief) {
		b.Next, b.Why, b.Old, b.Told = "", "", &begun, func() string { return "Do it." }
	}), &agenttest.FakeSessionRecorder{}, store); err != nil || a.prompts[0].Text != "GUIDE\n\nDo it.\n\nUse tabs." {
		t.Errorf("%v, %q", err, a.prompts[0].Text)
	}
}
