package view_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestTriedSaysWhatItMeans says of a check whose test is still to be written that none runs yet.
func TestTriedSaysWhatItMeans(t *testing.T) {
	for why, want := range map[string]string{
		nexus.NoTests:               "checked before the work: go test -run X: no test runs yet",
		nexus.NoTests + ": a.go: ?": "checked before the work: go test -run X: not-run, no test ran: a.go: ?",
	} {
		if _, got := view.DescribeFact(nexus.CriterionCommandTried{Evidence: nexus.GateEvidence{Command: "go test -run X", State: nexus.NotRun, Why: why}}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
