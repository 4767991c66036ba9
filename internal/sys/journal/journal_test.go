package journal_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal/journaltest"
)

func open(tb testing.TB) *journal.Journal {
	tb.Helper()
	return openAt(tb, filepath.Join(tb.TempDir(), "state", "journal.db"))
}

func openAt(tb testing.TB, path string) *journal.Journal {
	tb.Helper()
	j, err := journal.Open(tb.Context(), path, options())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { j.Close() })
	return j
}

func options() journal.Options {
	return journal.Options{Now: time.Now, Poll: 5 * time.Millisecond}
}

func acquire(tb testing.TB, j *journal.Journal, run nexus.RunID) *journal.Lease {
	tb.Helper()
	l, err := j.Acquire(tb.Context(), run, journal.CallingProcess(), time.Minute)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}

func wantCode(t *testing.T, err error, code nexus.ErrorCode) {
	t.Helper()
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok || e.Code != code {
		t.Fatalf("got %v, want code %s", err, code)
	}
	if e.Hint == "" || e.Message == "" {
		t.Errorf("%s does not say what to do: %+v", code, e)
	}
}

// conforming gives the real journal the interface of the suite.
type conforming struct{ *journal.Journal }

func (c conforming) Acquire(ctx context.Context, run nexus.RunID, p nexus.RunProcess, ttl time.Duration) (journaltest.TestedLease, error) {
	return c.Journal.Acquire(ctx, run, p, ttl)
}

func TestConformance(t *testing.T) {
	journaltest.RunSuite(t, func(t *testing.T) journaltest.OpenJournalFunc {
		t.Helper()
		path := filepath.Join(t.TempDir(), "journal.db")
		return func(t *testing.T, now func() time.Time) journaltest.TestedJournal {
			t.Helper()
			j, err := journal.Open(t.Context(), path, journal.Options{Now: now, Poll: time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { j.Close() })
			return conforming{j}
		}
	})
}

func TestFilesArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "nexus", "id")
	j := openAt(t, filepath.Join(dir, "journal.db"))
	if _, err := acquire(t, j, "r").Append(t.Context(), facts(3)...); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %v, %v", d, info.Mode(), err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if len(entries) != 4 { // journal.db, its -wal, -shm and .lock
		t.Errorf("found %v", entries)
	}
}

func TestOddPaths(t *testing.T) {
	path := filepath.Join(t.TempDir(), "50% of? #1 ä&b=c", "journal.db")
	l := acquire(t, openAt(t, path), "r")
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

func TestManyCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var wait sync.WaitGroup
	for n := range 6 {
		wait.Go(func() {
			j, err := journal.Open(t.Context(), path, options())
			if err != nil {
				t.Error(err)
				return
			}
			defer j.Close()
			l, err := j.Acquire(t.Context(), nexus.RunID(fmt.Sprint(n)), journal.CallingProcess(), time.Minute)
			if err != nil {
				t.Error(err)
				return
			}
			if _, err := l.Append(t.Context(), facts(2)...); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	r, err := openAt(t, path).Verify(t.Context())
	if err != nil || !r.Sound || r.Events != 12 {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestCreationThatDied(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	for _, left := range []string{".new", ".new-wal", ".new-shm", ".lock"} {
		if err := os.WriteFile(path+left, []byte("half a journal"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := acquire(t, openAt(t, path), "r").Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	o := options()
	o.ReadOnly = true
	_, err := journal.Open(t.Context(), path, o)
	wantCode(t, err, nexus.CodeNotFound)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader created the journal: %v", err)
	}
	j := openAt(t, path)
	l := acquire(t, j, "r")
	if _, err := l.Append(t.Context(), facts(3)...); err != nil {
		t.Fatal(err)
	}
	reader, err := journal.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if got := read(t, reader); len(got) != 3 {
		t.Errorf("read %d events, want 3", len(got))
	}
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	if got := read(t, reader); len(got) != 4 {
		t.Errorf("read %d events, want 4", len(got))
	}
	_, err = reader.Acquire(t.Context(), "r2", journal.CallingProcess(), time.Minute)
	wantCode(t, err, nexus.CodeReadOnly)
	_, err = reader.Ask(t.Context(), "r", nexus.Request{})
	wantCode(t, err, nexus.CodeReadOnly)
}

func read(t *testing.T, j *journal.Journal) []nexus.Event {
	t.Helper()
	var events []nexus.Event
	for e, err := range j.Events(t.Context(), "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

func TestEndings(t *testing.T) {
	j := open(t)
	for run, told := range map[nexus.RunID][]nexus.Fact{
		"goes on":  facts(2),
		"is over":  {nexus.RunEnded{Status: nexus.StatusFailed}, nexus.RunReopened{}, nexus.RunEnded{Status: nexus.StatusDone}},
		"rewound":  {nexus.RunEnded{Status: nexus.StatusDone}, nexus.RunRewound{To: 1}},
		"reopened": {nexus.RunEnded{Status: nexus.StatusWaiting}, nexus.RunReopened{}},
	} {
		if _, err := acquire(t, j, run).Append(t.Context(), told...); err != nil {
			t.Fatal(err)
		}
	}
	got, err := j.RunEndings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got["is over"].Status != nexus.StatusDone {
		t.Errorf("got %+v", got)
	}
}

func TestRuns(t *testing.T) {
	j := open(t)
	if runs, err := j.Runs(t.Context()); err != nil || runs != nil {
		t.Errorf("a new journal has %v, %v", runs, err)
	}
	a, b := acquire(t, j, "b first"), acquire(t, j, "a second")
	acquire(t, j, "nothing yet")
	var want []journal.RecordedRun
	self := journal.CallingProcess()
	for i, l := range []*journal.Lease{a, b} {
		first, err := l.Append(t.Context(), facts(2)...)
		if err != nil {
			t.Fatal(err)
		}
		last, err := l.Append(t.Context(), facts(1)...)
		if err != nil {
			t.Fatal(err)
		}
		r := journal.RecordedRun{ID: first[0].Run, First: first[0].At, Last: last[0].At, Events: 3}
		r.Later = i == 0
		if r.Gone = i > 0; i == 0 {
			r.Holder = &self
		}
		want = append(want, r)
	}
	if err := b.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := j.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) == 2 && (len(got[0].Hash) != 64 || got[0].Hash == got[1].Hash) {
		t.Errorf("the last events have the hashes %q and %q", got[0].Hash, got[1].Hash)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(journal.RecordedRun{}, "Hash")); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestALeaseThatRanOut is nobody's, but whoever had it may only have slept: only
// one who is dead, or let go, is certain to be gone.
func TestALeaseThatRanOut(t *testing.T) {
	now := time.Now()
	o := options()
	o.Now = func() time.Time { return now }
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, err := acquire(t, j, "r").Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Hour)
	runs, err := j.Runs(t.Context())
	if err != nil || len(runs) != 1 || runs[0].Holder != nil || runs[0].Gone {
		t.Errorf("%+v, %v", runs, err)
	}
}

// TestFollowIsWoken: whoever follows in the process that appends does not wait
// until it looks again.
func TestFollowIsWoken(t *testing.T) {
	o := options()
	o.Poll = time.Hour
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	l := acquire(t, j, "r")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	appendOne := func() {
		if _, err := l.Append(t.Context(), facts(1)...); err != nil {
			t.Error(err)
		}
	}
	appendOne()
	var last int64
	for e, err := range j.Follow(ctx, "", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if last = e.Seq; last == 3 {
			break
		}
		go appendOne()
	}
	if last != 3 {
		t.Errorf("after %d nothing came", last)
	}
}

func TestOpenNeedsAClock(t *testing.T) {
	if _, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{}); err == nil {
		t.Error("opened without a clock")
	}
}

func TestClosedJournal(t *testing.T) {
	j := open(t)
	l := acquire(t, j, "r")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := l.Append(t.Context(), facts(1)...)
	wantCode(t, err, nexus.CodeStorage)
	for _, err := range j.Follow(t.Context(), "", 0) {
		wantCode(t, err, nexus.CodeStorage)
	}
	if err := j.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}
