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
	no := func(why string) *state.AttemptRound {
		return &state.AttemptRound{Verified: &nexus.VerifierVerdictGiven{Read: true, Category: nexus.TestsFailing, Why: why}}
	}
	yes, unread := &state.AttemptRound{Verified: &nexus.VerifierVerdictGiven{Read: true, Why: "fine"}}, &state.AttemptRound{Verified: &nexus.VerifierVerdictGiven{Why: "nonsense"}}
	w := attemptWork{task: &state.TaskState{Refused: []state.VerifierRejection{{Attempt: "T1.0", Why: "old"}, {Attempt: "T1.1", Why: "own"}}}}
	for _, c := range []struct {
		rounds []*state.AttemptRound
		want   []string
	}{
		{nil, []string{"old"}},
		{[]*state.AttemptRound{no("a"), {}, unread}, []string{"old", "a"}},
		{[]*state.AttemptRound{no("a"), yes}, nil},
		{[]*state.AttemptRound{no("a"), yes, no("b")}, []string{"b"}},
	} {
		w.a = &state.AttemptState{ID: "T1.1", Rounds: c.rounds}
		if got := w.earlierVerifierObjections(); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
