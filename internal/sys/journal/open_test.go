package journal

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestOpenSaysWhatTheSystemSays: where the system does not say what is at a path, no journal
// is looked for, and none created.
func TestOpenSaysWhatTheSystemSays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{true, false} {
		_, err := Open(t.Context(), filepath.Join(file, "journal.db"), Options{Now: time.Now, ReadOnly: readOnly})
		if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Hint == "" || !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("read only %v: %v", readOnly, err)
		}
	}
}

// TestOpenBesideAnEmptyLog: a log without a word in it is no sign of a journal that was lost.
func TestOpenBesideAnEmptyLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := os.WriteFile(path+"-wal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	openTest(t, path)
}

// TestReadersAreFewAndStay: however many read at once, the file is opened a few times and
// no more, and not again for who reads later.
func TestReadersAreFewAndStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	writes := openTest(t, path)
	reads, err := Open(t.Context(), path, Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Close()
	for name, db := range map[string]*sql.DB{"writes, too": writes.read, "reads only": reads.read} {
		var busy []*sql.Conn
		for range maxReaders {
			c, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			busy = append(busy, c)
		}
		for _, c := range busy {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if got := db.Stats(); got.MaxOpenConnections != maxReaders || got.Idle != maxReaders {
			t.Errorf("who %s has %+v", name, got)
		}
	}
	if got := writes.write.Stats().MaxOpenConnections; got != 1 {
		t.Errorf("%d may write at once", got)
	}
}

// TestReadingNamesWhatIsMissing tells an event that is not there from one that was changed.
func TestReadingNamesWhatIsMissing(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"))
	l, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), nexus.RunResumed{}, nexus.RunResumed{}, nexus.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if _, err := j.write.ExecContext(t.Context(), "drop trigger event_never_goes; delete from event where seq = 2"); err != nil {
		t.Fatal(err)
	}
	var failed error
	n := 0
	for _, err := range j.Events(t.Context(), "r", 0) {
		if failed = err; err == nil {
			n++
		}
	}
	if n != 1 || !errors.Is(failed, &nexus.Error{Code: nexus.CodeJournalCorrupt}) || !strings.Contains(failed.Error(), "event 2 is missing") {
		t.Errorf("after %d events: %v", n, failed)
	}
}

// TestPoll: how often who follows looks for events of other processes, where nobody said so.
func TestPoll(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		0: defaultPoll, -time.Second: defaultPoll, time.Millisecond: time.Millisecond, time.Hour: time.Hour,
	} {
		j, err := Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), Options{Now: time.Now, Poll: given})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		if j.poll != want {
			t.Errorf("%s: it looks every %s", given, j.poll)
		}
	}
}

// TestLostAfter says by run what comes after the last good event, the first run first.
func TestLostAfter(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"))
	for _, run := range []nexus.RunID{"b", "a", "b"} {
		l, err := j.Acquire(t.Context(), run, CallingProcess(), time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(t.Context(), nexus.RunResumed{}, nexus.RunPaused{}, nexus.RunResumed{}); err != nil {
			t.Fatal(err)
		}
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	both := []string{"run.paused", "run.resumed"}
	for good, want := range map[int64][]LostRunEvents{
		9: nil,
		8: {{"b", 1, 9, 9, both[1:]}},
		4: {{"a", 2, 5, 6, both}, {"b", 3, 7, 9, both}},
		2: {{"b", 4, 3, 9, both}, {"a", 3, 4, 6, both}},
	} {
		got, err := j.EventsLostAfter(t.Context(), good)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("after %d: %v (-want +got):\n%s", good, err, d)
		}
	}
}

// TestALogThatIsInUse is not taken for one that is in the file, nor a database without one
// for one that has it.
func TestALogThatIsInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	openTest(t, path)
	db, err := sql.Open("sqlite", "file:"+path) // waits for nobody
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	reader, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := reader.QueryRowContext(t.Context(), "select count(*) from event").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "insert into lease values ('r', 1, 0, '', 0, '', 0)"); err != nil {
		t.Fatal(err)
	}
	if err := checkpointWAL(t.Context(), db); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("while somebody reads: %v", err)
	}
	if err := reader.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := checkpointWAL(t.Context(), db); err != nil {
		t.Error(err)
	}
	memory, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	if err := enableWAL(t.Context(), memory); err == nil || !strings.Contains(err.Error(), "no write-ahead log") {
		t.Errorf("in memory: %v", err)
	}
}

// TestTheLockIsLetGo once a journal is made, or brought up to date, for others who want to.
func TestTheLockIsLetGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	for _, do := range []func() error{
		func() error { return nil }, // it was made
		func() error { return migrateLocked(t.Context(), j.write, path) },
	} {
		if err := do(); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		unlock, err := lockCreation(ctx, path)
		stop()
		if err != nil {
			t.Fatal(err)
		}
		if err := unlock(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestALockThatCannotBeTaken keeps a journal from being made, and from being brought up to
// date: another process may be at it.
func TestALockThatCannotBeTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := os.Mkdir(path+".lock", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, Options{Now: time.Now}); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("it is made: %v", err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("there is something: %v", err)
	}
	if err := os.Remove(path + ".lock"); err != nil {
		t.Fatal(err)
	}
	j := openTest(t, path)
	if err := errors.Join(os.Remove(path+".lock"), os.Mkdir(path+".lock", 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := migrateLocked(t.Context(), j.write, path); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("it is raised: %v", err)
	}
}

// TestALogIsKeptAgain by a journal that came without one, as a backup does: who reads it and
// who writes it do not wait for each other.
func TestALogIsKeptAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "copy.db")
	if err := openTest(t, filepath.Join(dir, "journal.db")).Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	var mode string
	err := openTest(t, path).write.QueryRowContext(t.Context(), "pragma journal_mode").Scan(&mode)
	if err != nil || mode != "wal" {
		t.Errorf("it has %q, %v", mode, err)
	}
}
