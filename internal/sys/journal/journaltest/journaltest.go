// Package journaltest is the test suite for journals: the real one and every substitute.
package journaltest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestedJournal is the tested journal. A journal whose methods return types of its own must be wrapped
// by its test.
type TestedJournal interface {
	Acquire(ctx context.Context, run nexus.RunID, p nexus.RunProcess, ttl time.Duration) (TestedLease, error)
	Ask(ctx context.Context, run nexus.RunID, r nexus.Request) (nexus.Event, error)
	Events(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	Follow(ctx context.Context, run nexus.RunID, after int64) iter.Seq2[nexus.Event, error]
	SpentOnDay(ctx context.Context, day time.Time, except nexus.RunID) (nexus.Money, error)
}

// TestedLease is the tested lease.
type TestedLease interface {
	Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error)
	Renew(ctx context.Context) error
	Release(ctx context.Context) error
	Fence() int64
}

// OpenJournalFunc opens the same journal at each call within one test, like different processes. The journal
// must use the time from now.
type OpenJournalFunc func(t *testing.T, now func() time.Time) TestedJournal

// remoteProcess returns a process on another host, of which nobody here can know whether it runs.
func remoteProcess(pid int) nexus.RunProcess {
	return nexus.RunProcess{PID: pid, Host: "elsewhere.invalid", Start: 7}
}

// testClock is a time that tests can move.
type testClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *testClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// RunSuite runs the suite. Each test calls open with its own t, which identifies a new journal.
func RunSuite(t *testing.T, open func(t *testing.T) OpenJournalFunc) {
	t.Helper()
	for _, c := range []struct {
		name string
		test func(t *testing.T, open OpenJournalFunc, c *testClock)
	}{
		{"append then read", appendThenRead},
		{"a reader sees what the writer got", roundTripFacts},
		{"runs are told apart", runsAreSeparate},
		{"all or none", appendIsAtomic},
		{"nothing is appended for nothing", appendNothing},
		{"a run has one writer", leaseExcludesOthers},
		{"a lease runs out", leaseExpires},
		{"a lease is renewed", leaseRenewed},
		{"a lease is released", leaseReleased},
		{"many want the lease", concurrentAcquires},
		{"anybody asks", requestsFromAnyProcess},
		{"many append at once", concurrentAppends},
		{"follow misses nothing", followAllRuns},
		{"a long run is read whole", readLongRun},
		{"follow ends with its context", followEnds},
		{"reading can stop anywhere", readingStopsEarly},
		{"a cancelled caller changes nothing", appendCancelled},
		{"a cancelled append is made or not", appendCancelledMidway},
		{"money of the day", spentPerDay},
		{"a day ends at midnight", spentAtMidnight},
	} {
		t.Run(c.name, func(t *testing.T) {
			at := &testClock{at: time.Date(2026, 11, 21, 12, 0, 0, 123, time.UTC)}
			c.test(t, open(t), at)
		})
	}
}

func acquireLease(t *testing.T, j TestedJournal, run nexus.RunID, pid int) TestedLease {
	t.Helper()
	l, err := j.Acquire(t.Context(), run, remoteProcess(pid), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustAppend(t *testing.T, l TestedLease, facts ...nexus.Fact) []nexus.Event {
	t.Helper()
	events, err := l.Append(t.Context(), facts...)
	if err != nil {
		t.Fatal(err)
	}
	return events
}

func allEvents(t *testing.T, j TestedJournal, run nexus.RunID, after int64) []nexus.Event {
	t.Helper()
	var events []nexus.Event
	for e, err := range j.Events(t.Context(), run, after) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func requireErrorCode(t *testing.T, err error, code nexus.ErrorCode) {
	t.Helper()
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("got %v, want code %s", err, code)
	}
	if e.Hint == "" || e.Message == "" {
		t.Errorf("%s does not say what to do: %+v", code, e)
	}
}

func parkedFact(n int) nexus.Fact {
	return nexus.TaskParked{Task: nexus.TaskID(fmt.Sprintf("T%d", n)), Why: "a person is needed"}
}

func appendThenRead(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	l := acquireLease(t, j, "r1", 1)
	first := mustAppend(t, l, nexus.GoalAccepted{Goal: nexus.Goal{Text: "add a flag"}, Limits: nexus.DefaultLimits()})
	c.advance(time.Second)
	rest := mustAppend(t, l, parkedFact(1), nexus.RunEnded{Status: nexus.StatusPartial})
	want := append(first, rest...)
	if d := cmp.Diff(want, allEvents(t, open(t, c.now), "r1", 0)); d != "" {
		t.Errorf("another process reads something else (-appended +read):\n%s", d)
	}
	if d := cmp.Diff(want[1:], allEvents(t, j, "r1", 1)); d != "" {
		t.Errorf("after 1 (-want +got):\n%s", d)
	}
	if got := allEvents(t, j, "r1", 3); got != nil {
		t.Errorf("after the last one there is %v", got)
	}
	hashes := map[string]bool{}
	for i, e := range want {
		hashes[e.Hash] = true
		if e.Seq != int64(i)+1 || e.Run != "r1" || len(e.Hash) != 64 {
			t.Errorf("event %d is %+v", i, e)
		}
	}
	if len(hashes) != 3 || !rest[0].At.Equal(c.now()) || !first[0].At.Equal(c.now().Add(-time.Second)) {
		t.Errorf("hashes or times are wrong: %v", want)
	}
}

// roundTripFacts appends facts that change when they are encoded as JSON.
func roundTripFacts(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	odd := nexus.QuestionAsked{
		ID: "Q1", Text: "bad \xff text",
		Deadline: c.now().In(time.FixedZone("far", 3600)),
	}
	got := mustAppend(t, acquireLease(t, j, "r1", 1), odd, nexus.ReviewerVerdictGiven{Findings: []nexus.Finding{}})
	if d := cmp.Diff(allEvents(t, j, "r1", 0), got); d != "" {
		t.Errorf("who appends works with something else (-read +appended):\n%s", d)
	}
}

func runsAreSeparate(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	a, b := acquireLease(t, j, "a", 1), acquireLease(t, j, "b", 2)
	for n := range 5 {
		mustAppend(t, a, parkedFact(n), parkedFact(n))
		mustAppend(t, b, parkedFact(n))
	}
	if n := len(allEvents(t, j, "a", 0)); n != 10 {
		t.Errorf("run a has %d events, want 10", n)
	}
	for _, e := range allEvents(t, j, "b", 3) {
		if e.Run != "b" || e.Seq%3 != 0 || e.Seq <= 3 {
			t.Errorf("run b has %+v", e)
		}
	}
	for i, e := range allEvents(t, j, "", 0) {
		if e.Seq != int64(i)+1 {
			t.Errorf("event %d has number %d", i, e.Seq)
		}
	}
	if got := allEvents(t, j, "c", 0); got != nil {
		t.Errorf("a run that is not there has %v", got)
	}
}

func appendIsAtomic(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	l := acquireLease(t, j, "r1", 1)
	mustAppend(t, l, parkedFact(0))
	year10000 := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) // has no JSON
	if _, err := l.Append(t.Context(), parkedFact(1), nexus.QuestionAsked{Deadline: year10000}); err == nil {
		t.Error("a fact that cannot be written was appended")
	}
	if _, err := l.Append(t.Context(), parkedFact(1), nil); err == nil {
		t.Error("no fact at all was appended")
	}
	if got := mustAppend(t, l, parkedFact(2)); got[0].Seq != 2 || len(allEvents(t, j, "", 0)) != 2 {
		t.Errorf("after a refused append comes %+v", got)
	}
}

func appendNothing(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	if got := mustAppend(t, acquireLease(t, j, "r1", 1)); len(got) != 0 || len(allEvents(t, j, "", 0)) != 0 {
		t.Errorf("got %v", got)
	}
}

func requestsFromAnyProcess(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j, other := open(t, c.now), open(t, c.now)
	_, err := other.Ask(t.Context(), "r1", nexus.Request{Verb: nexus.VerbPause})
	requireErrorCode(t, err, nexus.CodeNotFound)
	l := acquireLease(t, j, "r1", 1)
	mustAppend(t, l, parkedFact(1))
	want := nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "use the other parser", By: "ada"}
	got, err := other.Ask(t.Context(), "r1", want)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(nexus.Fact(nexus.RequestMade{Request: want}), got.Fact); d != "" || got.Seq != 2 || got.Run != "r1" {
		t.Errorf("asked %+v:\n%s", got, d)
	}
	mustAppend(t, l, nexus.RequestSettled{Seq: got.Seq, Granted: true})
}

func concurrentAppends(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	const writers, appends = 4, 25
	open(t, c.now)
	var wait sync.WaitGroup
	for w := range writers {
		j := open(t, c.now)
		l := acquireLease(t, j, nexus.RunID(fmt.Sprintf("r%d", w)), w+1)
		wait.Go(func() {
			for n := range appends {
				if _, err := l.Append(t.Context(), parkedFact(n), parkedFact(n)); err != nil {
					t.Error(err)
				}
			}
		})
		wait.Go(func() { // a lease may be used by many goroutines
			for n := range appends {
				if _, err := l.Append(t.Context(), parkedFact(n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	got := allEvents(t, open(t, c.now), "", 0)
	if len(got) != writers*appends*3 {
		t.Errorf("there are %d events, want %d", len(got), writers*appends*3)
	}
	for i, e := range got {
		if e.Seq != int64(i)+1 {
			t.Fatalf("event %d has number %d", i, e.Seq)
		}
	}
}

func appendCancelled(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	l := acquireLease(t, j, "r1", 1)
	why := errors.New("the user left")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	if _, err := l.Append(ctx, parkedFact(0)); !errors.Is(err, why) {
		t.Errorf("append: %v", err)
	}
	if got := mustAppend(t, l, parkedFact(1)); got[0].Seq != 1 {
		t.Errorf("the refused append left something: %+v", got)
	}
}

// appendCancelledMidway cancels the context at any moment of an append. The result must be known, and
// the next append must work.
func appendCancelledMidway(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	l := acquireLease(t, j, "r1", 1)
	made := 0
	for n := range 100 {
		ctx, stop := context.WithCancelCause(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() {
			for i := 0; i < n*50; i++ {
				_ = c.now()
			}
			stop(errors.New("the user left"))
		})
		if _, err := l.Append(ctx, parkedFact(n), parkedFact(n)); err == nil {
			made += 2
		}
		wait.Wait()
	}
	mustAppend(t, l, parkedFact(0))
	if got := len(allEvents(t, j, "", 0)); got != made+1 {
		t.Errorf("%d events were acknowledged, %d are there", made+1, got)
	}
}

func spentPerDay(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	a, b := acquireLease(t, j, "a", 1), acquireLease(t, j, "b", 2)
	today := c.now()
	mustAppend(t, a, nexus.BudgetReserved{ID: "1", Money: 100}, nexus.BudgetSettled{ID: "1", Money: 10})
	mustAppend(t, a, nexus.BudgetReserved{ID: "2", Money: 200})
	mustAppend(t, b, nexus.BudgetReserved{ID: "2", Money: 1000}) // the same name in another run
	c.advance(24 * time.Hour)
	mustAppend(t, a, nexus.BudgetReserved{ID: "3", Money: 7}, nexus.BudgetSettled{ID: "3", Money: 5})
	if got, err := j.SpentOnDay(t.Context(), today, "a"); err != nil || got != 1000 {
		t.Errorf("before it was settled, the other run's call counts %d (%v), want its worst case", got, err)
	}
	mustAppend(t, b, nexus.BudgetSettled{ID: "2", Money: 900}, nexus.BudgetSettled{ID: "2", Money: 900}) // the second one does not count
	for _, w := range []struct {
		day    time.Time
		except nexus.RunID
		want   nexus.Money
	}{
		{today, "", 1110}, // b's reservation was closed on the next day, and counts today
		{today, "a", 900},
		{today, "b", 210},
		{today.Add(24 * time.Hour), "", 5},
		{today.Add(24 * time.Hour), "b", 5},
		{today.In(time.FixedZone("east", 13*3600)), "b", 210}, // the day is UTC's
		{today.Add(-24 * time.Hour), "", 0},
	} {
		got, err := j.SpentOnDay(t.Context(), w.day, w.except)
		if err != nil || got != w.want {
			t.Errorf("on %s all but %q spent %d (%v), want %d", w.day, w.except, got, err, w.want)
		}
	}
}

// spentAtMidnight reserves money in the first moment of a day, and in the last one of the day before.
func spentAtMidnight(t *testing.T, open OpenJournalFunc, c *testClock) {
	t.Helper()
	j := open(t, c.now)
	l := acquireLease(t, j, "a", 1)
	next := c.now().Truncate(24 * time.Hour).Add(24 * time.Hour)
	c.advance(next.Sub(c.now()) - 1)
	mustAppend(t, l, nexus.BudgetReserved{ID: "last", Money: 1})
	c.advance(1)
	mustAppend(t, l, nexus.BudgetReserved{ID: "first", Money: 10}, nexus.BudgetSettled{ID: "last", Money: 2})
	for day, want := range map[time.Time]nexus.Money{next.Add(-1): 2, next: 10} {
		if got, err := j.SpentOnDay(t.Context(), day, ""); err != nil || got != want {
			t.Errorf("on %s %d was spent (%v), want %d", day, got, err, want)
		}
	}
}
