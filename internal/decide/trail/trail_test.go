package trail_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/trail"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestACompactedSessionGoesOnWithWhatIsLeft: what is said later is added to
// what it was compacted to, and a clone shares none of it.
func TestACompactedSessionGoesOnWithWhatIsLeft(t *testing.T) {
	a := &trail.Attempt{ID: "T1.1"}
	compacted := nexus.SessionCompacted{Session: "T1.1/coder.1", Turn: 1, Row: 1, Messages: []string{"brief", "note"}}
	for _, f := range []nexus.Fact{
		nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1"},
		nexus.PromptSent{Session: "T1.1/coder.1", Message: "brief"},
		nexus.TurnTaken{Session: "T1.1/coder.1", Message: "answer", Turn: 1, Stop: "tools"},
		nexus.ToolsAnswered{Session: "T1.1/coder.1", Message: "results"},
		compacted,
	} {
		a.Apply(f, time.Time{})
	}
	b := a.Clone()
	b.Apply(nexus.TurnTaken{Session: "T1.1/coder.1", Message: "other", Turn: 2}, time.Time{})
	a.Apply(nexus.TurnTaken{Session: "T1.1/coder.1", Message: "next", Turn: 2}, time.Time{})
	s := a.Session("T1.1/coder.1")
	if diff := cmp.Diff([]string{"brief", "note", "next"}, s.Messages); diff != "" || s.Compact.Row != 1 || s.Turns != 2 {
		t.Errorf("%+v: %s", s, diff)
	}
	if diff := cmp.Diff([]string{"brief", "note", "other"}, b.Session("T1.1/coder.1").Messages); diff != "" {
		t.Error(diff)
	}
}
