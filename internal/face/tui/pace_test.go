package tui

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// TestPace holds that a run that changes all the time is read ten times a second.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &crowd{stage: &stage{p: recorded(t)}}
		m := NewModel(t.Context(), Options{Run: "261126-1500-abc", Source: c, Verbs: c, Style: view.OutputStyle{}})
		begin := time.Now()
		for time.Since(begin) < 10*time.Second {
			m.Update(m.readAfterChange()())
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
		snap, err := TakeSnapshot(recorded(t), SnapshotRequest{Run: "261126-1500-abc"}, begun)
		if err != nil {
			t.Fatal(err)
		}
		cards := make([]projection.TaskCard, tasks)
		for i := range cards {
			cards[i].ID, cards[i].Title = nexus.TaskID(fmt.Sprintf("T%d", i)), "Do it"
		}
		snap.Lanes = []projection.BoardLaneCards{{Lane: projection.LaneReady, Cards: cards}}
		p := begin(t, &stage{snap: &snap}, view.OutputStyle{}, 100, 30)
		p.keys("2G")
		return testing.AllocsPerRun(5, func() {
			p.View()
			p.selectedRow()
		})
	}
	if few, many := frame(100), frame(10_000); many > few*1.5 {
		t.Errorf("%.0f allocations with 100 tasks, %.0f with 10,000", few, many)
	}
}

// mostFirst is how many allocations the first frame may take, of a run that is folded:
// it stands 100 ms after the command, as docs/benchmarks.md has it.
const mostFirst = 1300

// TestFirstFrame holds that the first frame takes one read of the run, and what it costs.
func TestFirstFrame(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 50}} {
		var c *crowd
		p := recorded(t)
		allocs := testing.AllocsPerRun(5, func() {
			c = &crowd{stage: &stage{p: p}}
			m := NewModel(t.Context(), Options{Run: "261126-1500-abc", Place: "units", Source: c, Verbs: c, Style: view.OutputStyle{Color: true}})
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			m.Update(m.readSnapshotNow(false)())
			m.View()
		})
		if t.Logf("%v: %.0f allocations", size, allocs); allocs > mostFirst || c.reads != 1 {
			t.Errorf("%v: the first frame takes %.0f allocations, at most %d, and %d reads", size, allocs, mostFirst, c.reads)
		}
	}
}
