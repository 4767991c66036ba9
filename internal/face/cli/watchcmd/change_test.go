package watchcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/common/projectionhub"
	"github.com/nexus-ai-builder/nexus/internal/face/tui"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

const run = "261126-1500-abc"

// worked is a journal with a run in which four agents work, its hub, and how to add
// to it.
func worked(tb testing.TB) (*hubSource, func(...nexus.Fact)) {
	tb.Helper()
	held := clitest.NewUser(tb, nil).HoldRun(run)
	add, j := held.Record, held.Repository.Journal
	add(nexus.GoalAccepted{Goal: nexus.Goal{Text: "Do"}, Limits: nexus.Limits{RunMoney: 5 * nexus.Dollar}}, nexus.RunStarted{})
	for i := range 20 {
		id := nexus.TaskID(fmt.Sprintf("T%d", i+1))
		add(nexus.TaskPlanned{Task: nexus.Task{ID: id, Title: "Do as is said in " + string(id), Criteria: []nexus.Criterion{{Text: "It is so"}}}})
		if a := nexus.AttemptID(id + ".1"); i < 4 {
			s := nexus.SessionID(a + "/coder.1")
			add(nexus.AttemptStarted{Attempt: a, Task: id, Base: "abcdef", Tier: nexus.Fast},
				nexus.SessionStarted{Session: s, Attempt: a, Role: nexus.Coder, Model: "m/x"},
				nexus.RoundStarted{Attempt: a, Round: 1, Role: nexus.Coder, Session: s})
		}
	}
	hub, err := projectionhub.OpenHub(tb.Context(), j, projectionhub.Options{Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	return &hubSource{hub: hub, journal: j, now: time.Now}, add
}

// TestGone holds that a run that is deleted while it is shown is missed within a
// second, with what to do next.
func TestGone(t *testing.T) {
	s, _ := worked(t)
	now := time.Now()
	s.now = func() time.Time { return now }
	if _, err := s.Read(t.Context(), tui.SnapshotRequest{Run: run}); err != nil {
		t.Fatal(err)
	}
	other, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	s.journal = other
	if _, err := s.Read(t.Context(), tui.SnapshotRequest{Run: run}); err != nil {
		t.Errorf("it is looked for again at once: %v", err)
	}
	now = now.Add(time.Second)
	_, err = s.Read(t.Context(), tui.SnapshotRequest{Run: run})
	if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code != nexus.CodeNotFound || !strings.Contains(e.Hint, "nexus runs") {
		t.Errorf("%v", err)
	}
}

// BenchmarkChange shows a change of a run in which four agents work: the journal is
// looked at, the run is projected, and a frame of 120 columns and 40 lines is drawn.
// As it is done ten times a second at most, a millisecond is a percent of a core.
func BenchmarkChange(b *testing.B) {
	s, add := worked(b)
	ctx, stop := context.WithCancelCause(b.Context())
	followed := make(chan error)
	go func() { followed <- s.hub.Follow(ctx) }()
	defer func() {
		stop(context.Canceled)
		if err := <-followed; err != nil {
			b.Error(err)
		}
	}()
	m := tui.NewModel(b.Context(), tui.Options{Run: run, Source: s, Style: view.OutputStyle{Color: true}})
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		n++
		changed := s.Changed(run)
		add(nexus.ToolCallStarted{Session: nexus.SessionID(fmt.Sprintf("T%d.1/coder.1", n%4+1)), Tool: "shell", Call: fmt.Sprint(n)})
		<-changed
		b.StartTimer()
		m.Update(m.Init()())
		if len(m.View().Content) < 1000 {
			b.Fatal("nothing is drawn")
		}
	}
}
