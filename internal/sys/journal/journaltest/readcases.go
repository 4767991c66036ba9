package journaltest

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func followAllRuns(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	const n = 600 // more than one page
	j := open(t, c.now)
	l, noise := acquireLease(t, j, "r1", 1), acquireLease(t, j, "r2", 2)
	mustAppend(t, l, parkedFact(0))
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(errors.New("the test is over"))
	var wait sync.WaitGroup
	for _, same := range []bool{true, false} {
		reader := j
		if !same {
			reader = open(t, c.now)
		}
		wait.Go(func() {
			next := 0
			for e, err := range reader.Follow(ctx, "r1", 0) {
				if err != nil {
					t.Errorf("follow: %v", err)
					return
				}
				if d := cmp.Diff(parkedFact(next), e.Fact); d != "" || e.Run != "r1" {
					t.Errorf("event %d of the run is %+v", next, e)
					return
				}
				if next++; next == n {
					return
				}
			}
			t.Errorf("following ended after %d events", next)
		})
	}
	for i := 1; i < n; i++ {
		if i%10 == 0 {
			mustAppend(t, noise, parkedFact(i))
		}
		mustAppend(t, l, parkedFact(i))
	}
	wait.Wait()
}

func readLongRun(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	const n = 1500
	j := open(t, c.now)
	l := acquireLease(t, j, "r1", 1)
	facts := make([]nexus.Fact, n)
	for i := range facts {
		facts[i] = parkedFact(i)
	}
	want := mustAppend(t, l, facts...)
	for _, run := range []nexus.RunID{"r1", ""} {
		if d := cmp.Diff(want, allEvents(t, j, run, 0)); d != "" {
			t.Errorf("run %q is read as something else (-appended +read):\n%s", run, d)
		}
	}
	seen := 0
	for e, err := range j.Follow(t.Context(), "r1", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != want[seen].Seq {
			t.Fatalf("event %d follows event %d", e.Seq, seen)
		}
		if seen++; seen == n {
			break
		}
	}
}

func followEnds(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	mustAppend(t, acquireLease(t, j, "r1", 1), parkedFact(0), parkedFact(1))
	ctx, stop := context.WithCancelCause(t.Context())
	defer stop(nil)
	seen := 0
	for _, err := range j.Follow(ctx, "", 0) {
		if err != nil {
			t.Fatalf("an end by context is an error: %v", err)
		}
		if seen++; seen == 2 {
			stop(errors.New("seen enough"))
		}
	}
	if seen != 2 {
		t.Errorf("saw %d events, want 2", seen)
	}
	for e, err := range j.Follow(ctx, "", 0) {
		t.Errorf("followed to %+v, %v with an ended context", e, err)
	}
}

func readingStopsEarly(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	l := acquireLease(t, j, "r1", 1)
	mustAppend(t, l, parkedFact(0), parkedFact(1), parkedFact(2))
	for range 20 { // more than the limit of open reads
		for _, err := range j.Events(t.Context(), "", 0) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		for e, err := range j.Events(t.Context(), "", 0) {
			if err != nil {
				t.Fatal(err)
			}
			allEvents(t, j, "r1", e.Seq) // reading within reading
			if e.Seq == 1 {
				mustAppend(t, l, parkedFact(3)) // writing within reading
			}
		}
	}
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("not now"))
	for _, err := range j.Events(ctx, "", 0) {
		if err == nil {
			t.Fatal("reading goes on with an ended context")
		}
		return
	}
	t.Error("a reading that was cut off looks whole")
}
