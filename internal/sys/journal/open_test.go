package journal

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
		for range readers {
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
		if got := db.Stats(); got.MaxOpenConnections != readers || got.Idle != readers {
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
	l, err := j.Acquire(t.Context(), "r", Self(), time.Minute)
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
