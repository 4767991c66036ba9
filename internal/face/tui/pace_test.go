package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

// TestPace holds that a run that changes all the time is read ten times a second.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{stage: &stage{p: recorded(t)}}
		m := New(t.Context(), Options{Run: "261126-1500-abc", Source: c, Verbs: c, Style: view.Style{}})
		begin := time.Now()
		for time.Since(begin) < 10*time.Second {
			m.Update(m.wait()())
		}
		if c.reads < 95 || c.reads > 101 {
			t.Errorf("%d reads in ten seconds", c.reads)
		}
	})
}
