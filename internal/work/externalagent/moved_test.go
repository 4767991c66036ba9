package externalagent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/agenttest"
	"github.com/nexus-ai-builder/nexus/internal/work/externalagent"
)

// TestWhatANewConversationIsTold holds that whoever continues a session knows the
// task, and what was said where something was.
func TestWhatANewConversationIsTold(t *testing.T) {
	const task, notes = "Do it well.", "I was half way."
	for name, c := range map[string]struct {
		old   state.AgentSessionState
		next  string
		want  string
		said  int // messages of ours that are recorded
		begun bool
	}{
		"killed before it began":         {state.AgentSessionState{}, "", "GUIDE\n\n" + task, 0, false},
		"moved before it began":          {state.AgentSessionState{SessionStarted: nexus.SessionStarted{Model: "claude/default"}}, "", "GUIDE\n\n" + task, 0, false},
		"moved on the way":               {state.AgentSessionState{Turns: 2, Opened: nexus.AgentConversationOpened{Agent: "codex", ID: "x"}}, "", "GUIDE\n\n" + task + "\n\nAnother conversation worked", 1, false},
		"moved, and findings come":       {state.AgentSessionState{Turns: 2, Opened: nexus.AgentConversationOpened{Agent: "codex", ID: "x"}}, "It is red.", "GUIDE\n\n" + task + "\n\nAnother conversation worked", 1, false},
		"resumed, in its conversation":   {state.AgentSessionState{Turns: 2, Opened: nexus.AgentConversationOpened{Agent: "claude", ID: "x"}}, "", "Your program was stopped.", 1, true},
		"resumed, opened without a turn": {state.AgentSessionState{Opened: nexus.AgentConversationOpened{Agent: "claude", ID: "x"}}, "", "Your program was stopped.", 1, true},
	} {
		a := &scripted{ends: []agentcli.PromptResult{done("ok")}}
		_, d, _, err := run(t, a, func(b *externalagent.ExternalSessionBrief) {
			b.Old, b.Next, b.Told, b.Earlier = &c.old, c.next, func() string { return task }, func() string { return notes }
		})
		if err != nil {
			t.Fatal(err)
		}
		p := a.prompts[0]
		if !strings.HasPrefix(p.Text, c.want) || !strings.HasSuffix(p.Text, c.next) || p.Resume != c.begun {
			t.Errorf("%s: prompted with %+v", name, p)
		}
		if strings.Contains(p.Text, notes) != (c.old.Turns > 0 && !c.begun) || strings.Count(p.Text, task) > 1 {
			t.Errorf("%s: told\n%s", name, p.Text)
		}
		if sent := only[nexus.PromptSent](d); len(sent) != c.said {
			t.Errorf("%s: %d messages are recorded", name, len(sent))
		}
	}
}

// TestElsewhere holds that a session which is to go on with another is left for
// whoever has that one, and is not ended.
func TestElsewhere(t *testing.T) {
	a := &scripted{ends: []agentcli.PromptResult{fault(nexus.FaultQuota)}}
	d := &agenttest.FakeSessionRecorder{Leave: func(n int) error {
		if n == 1 {
			return nil
		}
		return &schedule.SwitchModelError{Model: "codex/default", Why: "it is out of quota"}
	}}
	_, err := externalagent.RunExternalSession(t.Context(), a, brief(func(b *externalagent.ExternalSessionBrief) { b.Others = []string{"codex/default"} }), d, &agenttest.InMemoryBlobStore{})
	e, ok := errors.AsType[*schedule.SwitchModelError](err)
	if !ok || e.Model != "codex/default" || len(only[nexus.SessionEnded](d)) != 0 || len(only[nexus.QuotaExhausted](d)) != 1 {
		t.Errorf("%v\n%s", err, kinds(d))
	}
	if r := only[nexus.BudgetReserved](d); len(r) != 1 || len(r[0].Else) != 1 {
		t.Errorf("%+v", r)
	}
}
