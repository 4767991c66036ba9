package attempt

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestRefused returns what verifiers had against the work since one last found
// it right.
func TestRefused(t *testing.T) {
	no := func(why string) *state.Round {
		return &state.Round{Verified: &nexus.WorkVerified{Read: true, Category: nexus.TestsFailing, Why: why}}
	}
	yes, unread := &state.Round{Verified: &nexus.WorkVerified{Read: true, Why: "fine"}}, &state.Round{Verified: &nexus.WorkVerified{Why: "nonsense"}}
	w := attemptWork{task: &state.Task{Refused: []state.Refusal{{Attempt: "T1.0", Why: "old"}, {Attempt: "T1.1", Why: "own"}}}}
	for _, c := range []struct {
		rounds []*state.Round
		want   []string
	}{
		{nil, []string{"old"}},
		{[]*state.Round{no("a"), {}, unread}, []string{"old", "a"}},
		{[]*state.Round{no("a"), yes}, nil},
		{[]*state.Round{no("a"), yes, no("b")}, []string{"b"}},
	} {
		w.a = &state.Attempt{ID: "T1.1", Rounds: c.rounds}
		if got := w.earlierVerifierObjections(); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
