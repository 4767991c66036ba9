package state_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestNewsOfWindows bounds what is recorded of a window: a hundred facts, whatever
// programs that work at once tell of it, and nothing that no program knows.
func TestNewsOfWindows(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	var known []state.AccountQuotaWindow
	tell := func(window string, used int, until time.Time) bool {
		f := nexus.AgentQuotaReported{Agent: "claude", Window: window, Used: used, Until: until}
		if !state.IsNewUsage(known, f, now) {
			return false
		}
		known = state.UpdateWindows(known, f)
		return true
	}
	for i, c := range []struct {
		window string
		used   int
		until  time.Time
		want   bool
	}{
		{"5h", 10, in(time.Hour), true},
		{"5h", 10, in(time.Hour), false},
		{"5h", 9, in(time.Hour), false}, // another session heard it earlier
		{"5h", 10, in(61 * time.Minute), false},
		{"5h", 11, in(59 * time.Minute), true},
		{"7d", 11, in(72 * time.Hour), true},
		{"5h", 0, in(6 * time.Hour), true}, // it started anew
		{"5h", 90, in(time.Hour), false},   // and that is older
		{"5h", 12, in(-time.Second), false},
		{"5h", 12, in(40 * 24 * time.Hour), false},
		{"5h", -1, in(7 * time.Hour), false},
		{"5h", 12, time.Time{}, false},
	} {
		if got := tell(c.window, c.used, c.until); got != c.want {
			t.Errorf("%d: %+v is news: %v", i, c, got)
		}
	}
	if len(known) != 2 || known[0] != (state.AccountQuotaWindow{Account: "claude", Name: "5h", Until: in(6 * time.Hour)}) {
		t.Errorf("%+v", known)
	}
	known = nil
	n := 0
	for i := range 10_000 {
		if tell("5h", i%101, in(time.Hour+time.Duration(i%100)*time.Second)) {
			n++
		}
	}
	if n > 101 {
		t.Errorf("%d facts of a window", n)
	}
}
