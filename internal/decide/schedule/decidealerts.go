package schedule

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// decideAlerts returns the due alerts and their ends, and pauses or ends the run if agents repeat
// forbidden calls too often.
func decideAlerts(s *state.State, now time.Time) []nexus.Fact {
	var fs []nexus.Fact
	for _, a := range s.Alerts.DueAlerts(s.Limits, isIdle(s), now) {
		fs = append(fs, a)
		if a.Kind != nexus.AlertDenials || s.Drain != nil {
			continue
		}
		switch s.Limits.Alerts.Denied {
		case nexus.ReactPause:
			if s.Status != nexus.StatusPaused {
				fs = append(fs, nexus.RunPaused{Why: a.Why})
			}
		case nexus.ReactStop:
			fs = append(fs, nexus.RunDrainStarted{To: nexus.StatusStopped, Why: a.Why, Code: nexus.CodeNeedsPerson})
		case nexus.ReactTell:
		}
	}
	for _, c := range s.Alerts.AlertsToClear(s.Limits, now) {
		fs = append(fs, c)
	}
	return fs
}

// isIdle reports whether no sign of life is expected: the run is paused, or waits for a
// provider's quota.
func isIdle(s *state.State) bool {
	return s.Status == nexus.StatusPaused || len(s.Parked) > 0
}
