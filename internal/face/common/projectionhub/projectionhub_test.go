package projectionhub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/projection/projectiontest"
)

// book opens a journal in a new directory, and how to open it once more.
func book(tb testing.TB) (*journal.Journal, func() *journal.Journal) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "journal.db")
	open := func() *journal.Journal {
		j, err := journal.Open(tb.Context(), path, journal.Options{Now: time.Now})
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = j.Close() })
		return j
	}
	return open(), open
}

func acquire(tb testing.TB, j *journal.Journal, run nexus.RunID) *journal.Lease {
	tb.Helper()
	l, err := j.Acquire(tb.Context(), run, journal.CallingProcess(), time.Hour)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func write(tb testing.TB, l *journal.Lease, facts ...nexus.Fact) []nexus.Event {
	tb.Helper()
	events, err := l.Append(tb.Context(), facts...)
	if err != nil {
		tb.Fatal(err)
	}
	return events
}

func facts(events []nexus.Event) []nexus.Fact {
	all := make([]nexus.Fact, 0, len(events))
	for _, e := range events {
		all = append(all, e.Fact)
	}
	return all
}

// follow opens a hub and keeps it in step until the test ends.
func follow(tb testing.TB, j EventJournal) *ProjectionHub {
	tb.Helper()
	ctx, stop := context.WithCancel(tb.Context())
	h, err := OpenHub(ctx, j, Options{Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- h.Follow(ctx) }()
	tb.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			tb.Error(err)
		}
	})
	return h
}

// until looks at a run, at first and at each change, until it shows something.
func until(tb testing.TB, h *ProjectionHub, run nexus.RunID, shows func(*projection.RunProjection) bool) {
	tb.Helper()
	for {
		changed, shown := h.Changed(run), false
		err := h.WithProjection(run, func(p *projection.RunProjection) error {
			shown = shows(p)
			return nil
		})
		if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			tb.Fatal(err)
		}
		if shown {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			tb.Fatal("it is not shown")
		}
	}
}

// TestHubMissesNothing writes runs by other open journals while several readers
// wait for changes of them: each sees the last event of each run.
func TestHubMissesNothing(t *testing.T) {
	j, again := book(t)
	h := follow(t, j)
	events := projectiontest.SampleRun()
	var all sync.WaitGroup
	for n := range 3 {
		run := nexus.RunID(fmt.Sprintf("run-%d", n))
		other := again()
		l := acquire(t, other, run)
		for range 2 {
			all.Go(func() {
				until(t, h, run, func(p *projection.RunProjection) bool {
					return len(p.State().Alerts.Raised) == 1 && len(p.InboxItems(projectiontest.Start())) > 3
				})
			})
		}
		all.Go(func() {
			for _, e := range events {
				if r, ok := e.Fact.(nexus.RequestMade); ok {
					if _, err := other.Ask(t.Context(), run, r.Request); err != nil {
						t.Error(err)
					}
					continue
				}
				if _, err := l.Append(t.Context(), e.Fact); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	runs, err := h.Runs(projectiontest.Start())
	if err != nil || len(runs) != 3 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	var inbox humaninput.RepositoryInbox
	for e, err := range j.Events(t.Context(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		inbox.Apply(e)
	}
	items, err := h.Inbox(projectiontest.Start())
	if err != nil || projection.CountWaiting(items) != len(inbox.WaitingItems()) || projection.CountWaiting(items) == 0 {
		t.Errorf("%d things wait, the inbox of the channels has %d: %v", projection.CountWaiting(items), len(inbox.WaitingItems()), err)
	}
	sum := 0
	for _, r := range runs {
		sum += r.Waiting
	}
	if sum != projection.CountWaiting(items) {
		t.Errorf("the runs say that %d things wait, the inbox %d", sum, projection.CountWaiting(items))
	}
}

// TestSlowReader looks at a run for as long as thousands of facts come: neither
// the follower nor readers of other runs wait for it, and it misses nothing.
func TestSlowReader(t *testing.T) {
	j, _ := book(t)
	l, other := acquire(t, j, "slow"), acquire(t, j, "other")
	write(t, l, facts(projectiontest.SampleRun())[:14]...)
	write(t, other, facts(projectiontest.SampleRun())[:14]...)
	h := follow(t, j)
	err := h.WithProjection("slow", func(p *projection.RunProjection) error {
		before := p.LastSeq()
		for range maxQueue + 100 {
			write(t, l, nexus.AssumptionStated{Text: "a"})
		}
		last := write(t, other, nexus.AssumptionStated{Text: "b"})
		until(t, h, "other", func(p *projection.RunProjection) bool { return p.LastSeq() == last[0].Seq })
		if p.LastSeq() != before {
			t.Error("it changed while somebody looked")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	last := write(t, l, nexus.AssumptionStated{Text: "the last"})
	until(t, h, "slow", func(p *projection.RunProjection) bool { return p.LastSeq() == last[0].Seq })
}

// TestHubLetsGo forgets what nobody looks at, and shows it again.
func TestHubLetsGo(t *testing.T) {
	j, _ := book(t)
	write(t, acquire(t, j, "a"), facts(projectiontest.SampleRun())[:30]...)
	now := time.Now()
	h, err := OpenHub(t.Context(), j, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	look := func() (shown string) {
		if err := h.WithProjection("a", func(p *projection.RunProjection) error {
			now := projectiontest.Start()
			data, err := json.Marshal([]any{p.Run(now), p.InboxItems(now), p.Timeline(now), p.BoardLanes(now)})
			shown = string(data)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return shown
	}
	before := look()
	h.releaseIdleProjections()
	if h.runs["a"].p == nil {
		t.Error("it was let go at once")
	}
	now = now.Add(2 * time.Minute)
	h.releaseIdleProjections()
	if h.runs["a"].p != nil {
		t.Error("it was kept")
	}
	if diff := cmp.Diff(before, look()); diff != "" {
		t.Error(diff)
	}
}

// TestOverIsKeptSmall lists runs that are over without their projections, and
// reads one again when it is taken up.
func TestOverIsKeptSmall(t *testing.T) {
	j, _ := book(t)
	l := acquire(t, j, "a")
	write(t, l, slices.Concat(facts(projectiontest.SampleRun())[:4], []nexus.Fact{nexus.RunDrainStarted{To: nexus.StatusStopped}, nexus.RunEnded{Status: nexus.StatusStopped}})...)
	h := follow(t, j)
	status := func() nexus.RunStatus {
		runs, err := h.Runs(projectiontest.Start())
		if err != nil || len(runs) != 1 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		return runs[0].Status
	}
	if got := status(); got != nexus.StatusStopped || h.runs["a"].p != nil {
		t.Errorf("it is %s", got)
	}
	last := write(t, l, nexus.RunReopened{Why: "more"})
	until(t, h, "a", func(p *projection.RunProjection) bool { return p.LastSeq() == last[0].Seq })
	if got := status(); got.HasEnded() {
		t.Errorf("it is %s after it was taken up", got)
	}
}

// TestInterrupted says of a run that nobody conducts that it is interrupted.
func TestInterrupted(t *testing.T) {
	j, _ := book(t)
	l := acquire(t, j, "a")
	write(t, l, facts(projectiontest.SampleRun())[:14]...)
	h := follow(t, j)
	until(t, h, "a", func(p *projection.RunProjection) bool {
		return !p.IsInterrupted() && p.Run(projectiontest.Start()).Held != nil
	})
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, h, "a", func(p *projection.RunProjection) bool {
		return p.Run(projectiontest.Start()).Status == nexus.StatusInterrupted
	})
}

func TestNoSuchRun(t *testing.T) {
	j, _ := book(t)
	h := follow(t, j)
	h.Changed("nobody")
	if err := h.WithProjection("nobody", nil); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		t.Errorf("it says %v", err)
	}
	if runs, err := h.Runs(projectiontest.Start()); err != nil || len(runs) != 0 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
}

// TestShownSoon holds that a fact that another process wrote is shown within 100 ms. Time is
// virtual: it passes while everything waits, so a slow machine changes nothing.
func TestShownSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, again := book(t)
		l := acquire(t, again(), "r")
		write(t, l, facts(projectiontest.SampleRun())[:14]...)
		h := follow(t, j)
		waited := time.Duration(0)
		for n := range 50 {
			time.Sleep(time.Duration(n*17) * time.Millisecond)
			last := write(t, l, nexus.AssumptionStated{Text: "a"})
			began := time.Now()
			until(t, h, "r", func(p *projection.RunProjection) bool { return p.LastSeq() >= last[0].Seq })
			took := time.Since(began)
			if waited = max(waited, took); took > 100*time.Millisecond {
				t.Fatalf("fact %d is shown after %s", n, took)
			}
		}
		if waited == 0 {
			t.Error("no fact was waited for: nothing was measured")
		}
	})
}

// BenchmarkOpen opens a finished run of 100,000 facts.
func BenchmarkOpen(b *testing.B) {
	j, _ := book(b)
	l := acquire(b, j, "r")
	var batch []nexus.Fact
	n := projectiontest.LargeRun(1040, 13, func(e nexus.Event) {
		if batch = append(batch, e.Fact); len(batch) == 2000 {
			write(b, l, batch...)
			batch = nil
		}
	})
	write(b, l, append(batch, nexus.FinalGatesStarted{}, nexus.FinalGatesJudged{}, nexus.RunEnded{Status: nexus.StatusDone})...)
	began := used(b)
	for b.Loop() {
		h, err := OpenHub(b.Context(), j, Options{Now: time.Now})
		if err != nil {
			b.Fatal(err)
		}
		if err := h.WithProjection("r", func(p *projection.RunProjection) error {
			p.Run(projectiontest.Start())
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n), "facts")
	b.ReportMetric(float64((used(b)-began).Milliseconds())/float64(b.N), "cpu-ms/op")
}

// used returns the time of processors that the test has used: the same on a
// machine that does much else.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkChange writes a fact by another open journal, and waits until the hub
// shows it.
func BenchmarkChange(b *testing.B) {
	j, again := book(b)
	l := acquire(b, again(), "r")
	write(b, l, facts(projectiontest.SampleRun())[:14]...)
	h := follow(b, j)
	var worst time.Duration
	for b.Loop() {
		last := write(b, l, nexus.AssumptionStated{Text: "a"})
		began := time.Now()
		until(b, h, "r", func(p *projection.RunProjection) bool { return p.LastSeq() >= last[0].Seq })
		worst = max(worst, time.Since(began))
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms")
}
