package progress

import (
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestUnread holds that whoever shows a run hears of an event that makes no sense: it
// ended as if the person had left.
func TestUnread(t *testing.T) {
	s := &runScreen{state: state.NewState("r"), shown: make(chan struct{}, 1), fullScreen: newFullScreen()}
	if s.showEvent(t.Context(), nexus.Event{Seq: 7, Run: "r", Fact: nexus.LandingCompleted{Task: "T9", Attempt: "T9.1"}}) {
		t.Error("it wants more")
	}
	e, ok := errors.AsType[*nexus.Error](s.lost)
	if !ok || e.Code != nexus.CodeJournalCorrupt || !strings.Contains(e.Message, "cannot be shown after event 6") || e.Hint == "" {
		t.Errorf("%v", s.lost)
	}
}
