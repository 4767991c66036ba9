package projection

import (
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
	"github.com/nexus-ai-builder/nexus/internal/view/taskdetail"
)

// The most that a projection may take, and what a fact costs to fold: 10,000 tasks take
// at most 50 MiB, as docs/benchmarks.md has it.
const (
	mostBytes  = 50 << 20 / 10_000 // for a task that landed
	mostAllocs = 8                 // for a fact
)

// TestSize folds a thousand tasks, and counts what that takes.
func TestSize(t *testing.T) {
	const tasks = 1000
	var events []nexus.Event
	facts := projectiontest.LargeRun(tasks, 13, func(e nexus.Event) { events = append(events, e) })
	var before, after runtime.MemStats
	func() {
		p := NewProjection("r", Options{Past: nothing})
		runtime.ReadMemStats(&before)
		fold(t, p, events)
		runtime.ReadMemStats(&after)
	}()
	if each := float64(after.Mallocs-before.Mallocs) / float64(facts); each > mostAllocs {
		t.Errorf("a fact takes %.1f allocations, more than %d", each, mostAllocs)
	}
	// No event is kept beside the projection, so that the texts which it keeps count.
	events = nil
	base := heap()
	p := NewProjection("r", Options{Past: nothing})
	projectiontest.LargeRun(tasks, 13, func(e nexus.Event) { fold(t, p, []nexus.Event{e}) })
	p.trail.last = nil // there are as many of any run
	held := (int64(heap()) - int64(base)) / tasks
	if t.Logf("a task takes %d bytes, at most %d", held, mostBytes); held > mostBytes || held < mostBytes/10 {
		t.Errorf("a task takes %d bytes, and not some, of at most %d", held, mostBytes)
	}
	runtime.KeepAlive(p)
}

// TestSparingShowsTheSame compares a run with one whose state forgets nothing.
func TestSparingShowsTheSame(t *testing.T) {
	for name, events := range runs(t) {
		now := events[len(events)-1].At.Add(time.Minute)
		sparing, full := NewProjection("r", Options{Past: past(events)}), NewProjection("r", Options{Past: past(events)})
		full.state = state.NewState("r").ReadPastFrom(past(events)(0))
		fold(t, sparing, events)
		fold(t, full, events)
		if diff := cmp.Diff(text(t, all(t, full, now)), text(t, all(t, sparing, now))); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if diff := cmp.Diff(text(t, beside(full.State(), now)), text(t, beside(sparing.State(), now))); diff != "" {
			t.Errorf("%s, what others draw of its state:\n%s", name, diff)
		}
	}
}

// beside is what is drawn of the state of a projection besides the projection itself.
func beside(s *state.State, now time.Time) map[string]any {
	run := view.NewRunView(s, nil, now)
	all := map[string]any{"repaired": view.RepairLines(s), "bill": view.BillOf(s), "quality": runquality.NewRunQuality(s, run, accept.BuildCriteriaTable(s, nil))}
	for _, t := range s.Tasks {
		all[string(t.ID)] = taskdetail.NewTaskDetail(s, run, t, "")
	}
	return all
}
