package linemode

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
)

// TestNoFactIsObeyedInLines draws a fact of every kind with hostile text in every
// field, for people and for the runner of GitHub Actions.
func TestNoFactIsObeyedInLines(t *testing.T) {
	facts, err := hostiletest.HostileFacts(hostiletest.HostileText())
	if err != nil {
		t.Fatal(err)
	}
	s := state.NewState("261121-100000-abc")
	s.Goal.Goal.Text = hostiletest.HostileText()
	for i, f := range facts {
		for _, actions := range []bool{false, true} {
			l := EventLogDrawer{Actions: actions}
			l.Style.Plain = true
			text := l.DrawEvent(s, nexus.Event{Seq: int64(i + 1), At: start, Fact: f})
			if bad := hostiletest.ObeyedPart(text); bad != "" {
				t.Errorf("%s: %q", nexus.FactKind(f), bad)
			}
			for line := range strings.Lines(text) {
				if actions && strings.HasPrefix(line, "::error::x") {
					t.Errorf("%s: a command of the runner: %q", nexus.FactKind(f), line)
				}
			}
		}
	}
}
