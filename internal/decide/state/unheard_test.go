package state_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		"a turn came":                   {[]nexus.Fact{sent, sent, nexus.ModelTurnRecorded{Session: id, Turn: 1}}, 0},
		"said after a turn":             {[]nexus.Fact{sent, nexus.ModelTurnRecorded{Session: id, Turn: 1}, sent}, 1},
		"it ended without a turn":       {[]nexus.Fact{sent, nexus.AgentProgramEnded{Session: id, Fault: nexus.FaultQuota}, sent}, 2},
		"it was done, and took no turn": {[]nexus.Fact{sent, nexus.AgentProgramEnded{Session: id}}, 0},
	} {
		a := &state.AttemptState{ID: "T1.1"}
		for _, f := range append([]nexus.Fact{nexus.SessionStarted{Session: id, Attempt: "T1.1"}}, c.facts...) {
			a.Apply(f, time.Time{})
		}
		if got := a.SessionByID(id).Unheard; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// TestHeededBefore holds that whoever looked at the guidance before still sees what was refused or delivered since.
func TestHeededBefore(t *testing.T) {
	tell := func(text string) nexus.Fact {
		return nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: text, By: "ada"}}
	}
	s := fold(t, nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.PlanApproved{}, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"},
		nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1"}, tell("one"), tell("two"), tell("three"))
	for _, f := range []nexus.Fact{
		nexus.RequestSettled{Seq: s.Guidance[0].Seq, Why: "no"},
		nexus.PromptSent{Session: "T1.1/coder.1", Request: s.Guidance[1].Seq},
	} {
		seen := s.Guidance
		want := slices.Clone(seen)
		next(t, s, f)
		if !cmp.Equal(s.Guidance, want[1:]) || !cmp.Equal(seen, want) {
			t.Errorf("after %T there is %+v, and who looked before sees %+v, want %+v", f, s.Guidance, seen, want)
		}
	}
}
