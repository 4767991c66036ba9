package journaltest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func leaseExcludesOthers(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j, other := open(t, c.now), open(t, c.now)
	l := acquireLease(t, j, "r1", 4711)
	_, err := other.Acquire(t.Context(), "r1", remoteProcess(2), time.Minute)
	requireErrorCode(t, err, nexus.CodeRunHeld)
	if s := err.Error(); !strings.Contains(s, "4711") || !strings.Contains(s, "elsewhere.invalid") {
		t.Errorf("the error does not name who holds the run: %s", s)
	}
	acquireLease(t, other, "r2", 2) // another run is free
	mustAppend(t, l, parkedFact(1))
}

func leaseExpires(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j, other := open(t, c.now), open(t, c.now)
	old := acquireLease(t, j, "r1", 1)
	mustAppend(t, old, parkedFact(1))
	c.advance(time.Minute - 1)
	if _, err := other.Acquire(t.Context(), "r1", remoteProcess(2), time.Minute); err == nil {
		t.Fatal("the run was taken before its lease ran out")
	}
	c.advance(1)
	mustAppend(t, old, parkedFact(2)) // the lease was not acquired by another
	next := acquireLease(t, other, "r1", 2)
	if next.Fence() <= old.Fence() {
		t.Errorf("fence went from %d to %d", old.Fence(), next.Fence())
	}
	_, err := old.Append(t.Context(), parkedFact(3))
	requireErrorCode(t, err, nexus.CodeLeaseLost)
	requireErrorCode(t, old.Renew(t.Context()), nexus.CodeLeaseLost)
	if err := old.Release(t.Context()); err != nil {
		t.Errorf("releasing what is lost: %v", err)
	}
	mustAppend(t, next, parkedFact(4)) // the release by the old holder had no effect
	if got := allEvents(t, j, "r1", 0); len(got) != 3 {
		t.Errorf("the run has %d events, want 3: the old holder's must be refused", len(got))
	}
}

func leaseRenewed(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j, other := open(t, c.now), open(t, c.now)
	l := acquireLease(t, j, "r1", 1)
	for range 5 {
		c.advance(50 * time.Second)
		if err := l.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	c.advance(50 * time.Second)
	_, err := other.Acquire(t.Context(), "r1", remoteProcess(2), time.Minute)
	requireErrorCode(t, err, nexus.CodeRunHeld)
}

func leaseReleased(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j, other := open(t, c.now), open(t, c.now)
	l := acquireLease(t, j, "r1", 1)
	for range 2 {
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, err := l.Append(t.Context(), parkedFact(1))
	requireErrorCode(t, err, nexus.CodeLeaseLost)
	last := l.Fence()
	for range 3 {
		next := acquireLease(t, other, "r1", 2)
		if next.Fence() <= last {
			t.Errorf("fence went from %d to %d", last, next.Fence())
		}
		last = next.Fence()
		if err := next.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func concurrentAcquires(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	open(t, c.now)
	var wait sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for pid := range 8 {
		j := open(t, c.now)
		wait.Go(func() {
			_, err := j.Acquire(t.Context(), "r1", remoteProcess(pid+1), time.Minute)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}) {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if won != 1 {
		t.Errorf("%d processes hold the run", won)
	}
}
