package policy

import (
	"strings"
	"testing"
)

// TestReasons holds for commands which rule answers them, and how: a part of a rule that goes missing, or that is about more
// than before, shows here.
func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range lines(t, "reasons.txt") {
		want, command, ok := strings.Cut(line, " | ")
		if !ok || seen[command] {
			t.Errorf("%s: it is there twice, or no answer is before it", line)
		}
		seen[command] = true
		if d := JudgeCommand(command, tree()); string(d.Decision)+" "+d.Rule != want {
			t.Errorf("%s: want %s, got %+v", command, want, d)
		}
	}
	if len(seen) < 900 {
		t.Errorf("only %d commands", len(seen))
	}
}
