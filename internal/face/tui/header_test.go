package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// shownOf is a screen of the recorded run, of which something was changed.
func shownOf(t *testing.T, v MainScreenView, change func(*RunSnapshot)) *play {
	t.Helper()
	snap, err := TakeSnapshot(recorded(t), SnapshotRequest{Run: "261126-1500-abc", View: v}, begun.Add(2*time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	change(&snap)
	return begin(t, &stage{p: recorded(t), snap: &snap}, view.OutputStyle{}, 200, 40)
}

// TestHeaderSaysWhatIsLeft holds that the header says how long the run still takes as
// soon as some tasks have landed, and which account takes no calls.
func TestHeaderSaysWhatIsLeft(t *testing.T) {
	for landed, want := range map[int]bool{2: false, 3: true} {
		m := shownOf(t, TasksView, func(s *RunSnapshot) {
			s.Run.Left, s.Run.Counts.Landed = &view.SecondsRange{Low: 61, High: 300}, landed
			s.Run.Quota = []view.ExhaustedQuota{{Account: "anthropic", Seconds: 90}}
		})
		head := ansi.Strip(m.headerLine())
		if got := strings.Contains(head, view.OutputStyle{}.FormatRange(view.SecondsRange{Low: 61, High: 300})+" left"); got != want {
			t.Errorf("%d landed: the time that is left is shown: %v: %s", landed, got, head)
		}
		if !strings.Contains(head, "anthropic rests for "+view.FormatSeconds(90)) {
			t.Errorf("the header does not say that an account takes no calls: %s", head)
		}
	}
}

// TestGraphSaysWhatCollides holds that each of two tasks that touch the same files names
// the other one.
func TestGraphSaysWhatCollides(t *testing.T) {
	m := shownOf(t, GraphView, func(s *RunSnapshot) {
		s.Graph.Edges = []projection.PlanGraphEdge{{From: "T1", To: "T2", Kind: "collides"}, {From: "T1", To: "T3", Kind: "needs"}}
	})
	m.keys("3")
	got := map[string]string{}
	for _, r := range m.currentRows() {
		got[string(r.task)] = ansi.Strip(r.rowText())
	}
	for task, want := range map[string]string{"T1": "same files as T2", "T2": "same files as T1"} {
		if !strings.Contains(got[task], want) {
			t.Errorf("%s does not say %q: %q", task, want, got[task])
		}
	}
	if strings.Contains(got["T3"], "same files") || !strings.Contains(got["T3"], "T1") {
		t.Errorf("T3 needs T1 and collides with nothing: %q", got["T3"])
	}
}
