package accept_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestStillRed names what was red before and is red now, of gates and not of commands.
func TestStillRed(t *testing.T) {
	command := nexus.GateEvidence{Gate: "accept: sh x.sh", State: nexus.Pass, Old: []string{"m.TestZ"}}
	got := accept.RemainingBaseFailures([]nexus.GateEvidence{old(3, "m.TestB", "m.TestA"), verifierVerdict(2), command})
	if diff := cmp.Diff([]string{"gate test: failed before the work, and fails now: m.TestA, m.TestB"}, got); diff != "" {
		t.Error(diff)
	}
	s := ran(nexus.Landed, "t", old(3, "m.TestA"))
	if table := accept.BuildCriteriaTable(s, nil); len(table.Red) != 1 {
		t.Errorf("%+v", table.Red)
	}
}
