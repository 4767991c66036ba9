package tui

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
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

// TestLargeRun holds that a frame of a run of 10,000 tasks costs what one of 100 does:
// only what is seen is drawn, and once for each change.
func TestLargeRun(t *testing.T) {
	frame := func(tasks int) float64 {
		snap, err := Snap(recorded(t), Ask{Run: "261126-1500-abc"}, begun)
		if err != nil {
			t.Fatal(err)
		}
		cards := make([]projection.Card, tasks)
		for i := range cards {
			cards[i].ID, cards[i].Title = nexus.TaskID(fmt.Sprintf("T%d", i)), "Do it"
		}
		snap.Lanes = []projection.LaneCards{{Lane: projection.LaneReady, Cards: cards}}
		p := begin(t, &stage{snap: &snap}, view.Style{}, 100, 30)
		p.keys("2G")
		return testing.AllocsPerRun(5, func() {
			p.View()
			p.selected()
		})
	}
	if few, many := frame(100), frame(10_000); many > few*1.5 {
		t.Errorf("%.0f allocations with 100 tasks, %.0f with 10,000", few, many)
	}
}
