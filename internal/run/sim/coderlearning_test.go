package sim

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestWhatIsKnownSavesRounds plays the same runs twice: once new attempts are told
// how earlier ones ended, as it was, and once what is known from them.
func TestWhatIsKnownSavesRounds(t *testing.T) {
	runs := 50
	if testenv.IsRaceEnabled() {
		runs = 20
	}
	before, now := MeasureLearning(1, runs, false), MeasureLearning(1, runs, true)
	if before.Violation != "" || now.Violation != "" {
		t.Fatalf("%s; %s", before.Violation, now.Violation)
	}
	ratio := now.RoundsPerTask() / before.RoundsPerTask()
	t.Logf("rounds for each task that landed: %.1f told how attempts ended (%+v), %.1f told what is known (%+v): %.0f %%", before.RoundsPerTask(), before, now.RoundsPerTask(), now, 100*ratio)
	if ratio > 0.7 || now.Landed < before.Landed {
		t.Errorf("it takes %.2f of the rounds, and lands %d of %d tasks instead of %d", ratio, now.Landed, now.Tasks, before.Landed)
	}
}
