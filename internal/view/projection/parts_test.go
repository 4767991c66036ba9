package projection

import (
	"encoding/json"
	"flag"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func nothing(int64) iter.Seq2[nexus.Event, error] {
	return func(func(nexus.Event, error) bool) {}
}

// recorded returns a run that was played with a conductor, from its tape.
func recorded(t *testing.T, name string) []nexus.Event {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "decide", "state", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	events, err := eventtapetest.ReadTape("r", string(text))
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func runs(t *testing.T) map[string][]nexus.Event {
	t.Helper()
	return map[string][]nexus.Event{"middle": projectiontest.SampleRun(), "life1": recorded(t, "life1.tape"), "life2": recorded(t, "life2.tape")}
}

func fold(t *testing.T, p *RunProjection, events []nexus.Event) {
	t.Helper()
	for _, e := range events {
		if err := p.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
}

func past(events []nexus.Event) EventReadFunc {
	return func(after int64) iter.Seq2[nexus.Event, error] {
		return func(yield func(nexus.Event, error) bool) {
			for _, e := range events {
				if e.Seq > after && !yield(e, nil) {
					return
				}
			}
		}
	}
}

// all returns everything that a projection shows.
func all(t *testing.T, p *RunProjection, now time.Time) map[string]any {
	t.Helper()
	lines, err := p.EventLog(-1, 20)
	if err != nil {
		t.Fatal(err)
	}
	everything := map[string]any{
		"run": p.Run(now), "inbox": p.InboxItems(now), "lanes": p.BoardLanes(now), "graph": p.PlanGraph(now), "timeline": p.Timeline(now), "cost": p.Cost(now),
		"checks": p.GateResults(), "sessions": p.Sessions(now), "log": lines, "actions": p.RunActions(),
	}
	tasks := []TaskDetailView{}
	for _, t := range p.State().Tasks {
		task, _ := p.TaskDetailView(t.ID, now)
		tasks = append(tasks, task)
	}
	everything["tasks"] = tasks
	return everything
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

func TestGolden(t *testing.T) {
	for name, events := range runs(t) {
		p := NewProjection("r", Options{Past: past(events)})
		fold(t, p, events)
		for part, v := range all(t, p, events[len(events)-1].At.Add(time.Minute)) {
			file, got := filepath.Join("testdata", name, part+".json"), text(t, v)
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // golden files
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // a golden file
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s of %s:\n%s", part, name, diff)
			}
		}
	}
}

// TestPartsAreTheWhole looks at a run while it is folded, from which nothing may
// change, and gives some events twice.
func TestPartsAreTheWhole(t *testing.T) {
	for name, events := range runs(t) {
		now := events[len(events)-1].At.Add(time.Minute)
		whole := NewProjection("r", Options{Past: past(events)})
		fold(t, whole, events)
		want := text(t, all(t, whole, now))
		step := max(1, len(events)/25)
		for cut := 0; cut <= len(events); cut += step {
			p := NewProjection("r", Options{Past: past(events)})
			fold(t, p, events[:cut])
			all(t, p, now)
			fold(t, p, events[max(0, cut-3):])
			if diff := cmp.Diff(want, text(t, all(t, p, now))); diff != "" {
				t.Fatalf("%s, in two parts at %d:\n%s", name, cut, diff)
			}
		}
	}
}

// TestOneCount folds runs event by event: what waits is as many things for the
// inbox of all runs, the run, and its lanes.
func TestOneCount(t *testing.T) {
	for name, events := range runs(t) {
		p, book, most := NewProjection("r", Options{Past: past(events)}), humaninput.RepositoryInbox{}, 0
		for _, e := range events {
			fold(t, p, []nexus.Event{e})
			book.Apply(e)
			items := p.InboxItems(e.At)
			n := len(book.WaitingItems())
			if most = max(most, n); CountWaiting(items) != n || p.Run(e.At).Waiting != n {
				t.Fatalf("%s, event %d: %d wait in the inbox of all runs, %d in the projection, %d in the run", name, e.Seq, n, CountWaiting(items), p.Run(e.At).Waiting)
			}
			lanes, about := 0, map[nexus.TaskID]bool{}
			for _, l := range p.BoardLanes(e.At) {
				if l.Lane == LaneNeedsYou {
					lanes = len(l.Cards)
				}
			}
			for _, i := range items {
				if t := p.State().TaskByID(i.Task); !i.Notice && t != nil && t.Status != nexus.Split {
					about[i.Task] = true
				}
			}
			if lanes != len(about) {
				t.Fatalf("%s, event %d: %d tasks in the lane, %d with items", name, e.Seq, lanes, len(about))
			}
		}
		if most == 0 {
			t.Errorf("%s: nothing ever waited", name)
		}
	}
}

// TestEveryTaskIsInOneLane counts the tasks of all lanes after each event.
func TestEveryTaskIsInOneLane(t *testing.T) {
	for name, events := range runs(t) {
		p := NewProjection("r", Options{Past: past(events)})
		for _, e := range events {
			fold(t, p, []nexus.Event{e})
			n := 0
			for _, l := range p.BoardLanes(e.At) {
				n += len(l.Cards)
			}
			if total := p.Run(e.At).Counts.Total; n != total {
				t.Fatalf("%s, event %d: %d tasks in lanes, %d in the run", name, e.Seq, n, total)
			}
		}
	}
}

// TestTheBillAddsUp checks that each way to take the cost apart comes to the whole.
func TestTheBillAddsUp(t *testing.T) {
	for name, events := range runs(t) {
		p := NewProjection("r", Options{Past: past(events)})
		fold(t, p, events)
		c := p.Cost(events[len(events)-1].At)
		for way, shares := range map[string][]RunCostPart{"task": c.Tasks, "role": c.Roles, "model": c.Models, "stage": c.Stages, "day": c.Days} {
			var sum nexus.Money
			for _, s := range shares {
				sum += s.Spent
			}
			if sum != c.Spent {
				t.Errorf("%s by %s: %s of %s", name, way, sum, c.Spent)
			}
		}
	}
}

// TestLinesAreHarmless looks for what a terminal would obey in what is one line.
func TestLinesAreHarmless(t *testing.T) {
	p := NewProjection("r", Options{Past: past(projectiontest.SampleRun())})
	fold(t, p, projectiontest.SampleRun())
	now := projectiontest.Start().Add(time.Hour)
	lines, err := p.EventLog(0, 1000)
	if err != nil || len(lines) != len(projectiontest.SampleRun()) {
		t.Fatalf("%d lines of %d: %v", len(lines), len(projectiontest.SampleRun()), err)
	}
	check := func(what, text string) {
		if strings.ContainsAny(text, "\x1b\x07\r\n\u202e") {
			t.Errorf("%s: %q", what, text)
		}
	}
	for _, l := range lines {
		check(l.Kind, l.Text)
		check(l.Kind, l.About)
	}
	for _, i := range p.InboxItems(now) {
		check(i.ID, i.Title)
	}
	task, _ := p.TaskDetailView("T8", now)
	if task.Text != projectiontest.Hostile || task.Title != projectiontest.Hostile || task.Checks[0].Text != projectiontest.Hostile {
		t.Error("a text was changed that faces escape themselves")
	}
}
