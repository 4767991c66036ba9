package ratelimit

import (
	"testing"
	"time"
)

// TestReportsOvertake holds which of two reports about a window counts: providers round the ends, and
// responses overtake each other.
func TestReportsOvertake(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		end  time.Duration // of the second report, after the end in the first
		left int64
		want int64
	}{
		"less is left":                    {0, 40, 40},
		"less is left, the end is nearer": {-900 * time.Millisecond, 40, 40},
		"it is of an earlier window":      {-2 * time.Second, 10, 50},
		"it was overtaken":                {0, 60, 50},
		"it is of a later window":         {time.Minute, 90, 90},
	} {
		w := trackedLimitWindow{name: "requests", limit: 100, left: 50, at: now, end: now.Add(time.Minute)}
		w.from = limitWindowReport{w.left, w.at, w.end}
		at := now.Add(time.Second)
		if w.mergeReport(trackedLimitWindow{name: "requests", limit: 100, left: c.left, at: at, end: w.end.Add(c.end)}, at); w.left != c.want {
			t.Errorf("%s: %d are left, want %d", name, w.left, c.want)
		}
	}
}
