package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestHolders names who conducts a run now: not who let it go, is dead, or had it for too long.
func TestHolders(t *testing.T) {
	now := time.Now()
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := Open(t.Context(), path, Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if got, err := j.RunHolders(t.Context()); err != nil || len(got) != 0 {
		t.Errorf("of no run: %v, %v", got, err)
	}
	dead, far := CallingProcess(), nexus.RunProcess{PID: 7, Host: "elsewhere.invalid", Start: 9}
	dead.PID = 1 << 30
	for run, p := range map[nexus.RunID]nexus.RunProcess{"here": CallingProcess(), "far": far, "dead": dead, "let go": CallingProcess(), "long ago": far} {
		ttl := time.Hour
		if run == "long ago" {
			ttl = time.Minute
		}
		l, err := j.Acquire(t.Context(), run, p, ttl)
		if err != nil {
			t.Fatal(err)
		}
		if run == "let go" {
			if err := l.Release(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	now = now.Add(time.Minute)
	got, err := j.RunHolders(t.Context())
	if d := cmp.Diff(map[nexus.RunID]nexus.RunProcess{"here": CallingProcess(), "far": far}, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

// TestHeadIsTheLastEvent, in the report of a journal that is sound, too.
func TestHeadIsTheLastEvent(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"))
	if n, err := j.Head(t.Context()); n != 0 || err != nil {
		t.Errorf("of no events: %d, %v", n, err)
	}
	if r, err := j.Verify(t.Context()); err != nil || !r.Sound || r.Head != strings.Repeat("0", 64) {
		t.Errorf("of no events: %+v, %v", r, err)
	}
	l, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	events, err := l.Append(t.Context(), nexus.RunResumed{}, nexus.RunPaused{})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := j.Head(t.Context()); n != 2 || err != nil {
		t.Errorf("of two events: %d, %v", n, err)
	}
	if r, err := j.Verify(t.Context()); err != nil || !r.Sound || r.Head != events[1].Hash {
		t.Errorf("of two events: %+v, %v", r, err)
	}
}

// TestAReadingThatIsCutOffDoesNotLookWhole: who gives up between two pages hears that there is more.
func TestAReadingThatIsCutOffDoesNotLookWhole(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"))
	l, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	facts := make([]nexus.Fact, pageSize+1)
	for i := range facts {
		facts[i] = nexus.RunResumed{}
	}
	if _, err := l.Append(t.Context(), facts...); err != nil {
		t.Fatal(err)
	}
	for _, run := range []nexus.RunID{"", "r"} {
		why := errors.New("seen enough")
		ctx, stop := context.WithCancelCause(t.Context())
		n := 0
		var failed error
		for _, err := range j.Events(ctx, run, 0) {
			if failed = err; err == nil {
				n++
			}
			stop(why)
		}
		stop(nil)
		if !errors.Is(failed, why) || n != pageSize {
			t.Errorf("run %q: after %d events: %v", run, n, failed)
		}
	}
}

// TestAnotherProcessWrites for longer than this one waits: what is not recorded is said, with
// what to do, and the journal is no worse for it.
func TestAnotherProcessWrites(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	l, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.write.ExecContext(t.Context(), "pragma busy_timeout = 1"); err != nil { // not ten seconds
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tx, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Append(t.Context(), nexus.RunResumed{})
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok || e.Code != nexus.CodeStorage || !strings.HasPrefix(e.Hint, "Another process keeps the journal locked") {
		t.Errorf("%v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if events, err := l.Append(t.Context(), nexus.RunResumed{}); err != nil || events[0].Seq != 1 {
		t.Errorf("afterwards: %v, %v", events, err)
	}
}

// sqliteErrors are errors of SQLite by what caused them.
func sqliteErrors(t *testing.T) map[string]error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	do := func(params string, all ...string) (failed error) {
		db, err := sql.Open("sqlite", "file:"+path+params)
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		defer db.Close()
		for _, s := range all {
			_, failed = db.ExecContext(t.Context(), s)
		}
		return failed
	}
	errs := map[string]error{"none": do("", "create table x (y)")}
	errs["full"] = do("", "pragma max_page_count = 1", "insert into x values (zeroblob(100000))")
	errs["read only"] = do("?mode=ro", "insert into x values (1)")
	if err := os.WriteFile(path, []byte(strings.Repeat("garbage ", 1024)), 0o600); err != nil {
		t.Fatal(err)
	}
	errs["no database"] = do("", "insert into x values (1)")
	path = filepath.Join(path, "none")
	errs["not there"] = do("", "insert into x values (1)")
	return errs
}

// TestEachErrorSaysWhatToDo: a full disk, one that cannot be written and a file that is damaged
// are told apart, whether SQLite says so or the system.
func TestEachErrorSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	db := sqliteErrors(t)
	system := func(n syscall.Errno) error {
		return fmt.Errorf("sync: %w", &fs.PathError{Op: "write", Path: dir, Err: n})
	}
	for name, c := range map[string]struct {
		err  error
		code nexus.ErrorCode
		hint string
		blob bool // a store of blobs says the same
	}{
		"SQLite: full":        {db["full"], nexus.CodeDiskFull, "Free space on the disk that holds " + dir, false},
		"SQLite: read only":   {db["read only"], nexus.CodeReadOnly, "Make " + dir + " and what is in it writable", false},
		"SQLite: no database": {db["no database"], nexus.CodeJournalCorrupt, "No event of it can be read", false},
		"SQLite: not there":   {db["not there"], nexus.CodeStorage, "Check the disk that holds " + dir, false},
		"no space":            {system(syscall.ENOSPC), nexus.CodeDiskFull, "Free space on the disk that holds " + dir, true},
		"no quota":            {system(syscall.EDQUOT), nexus.CodeDiskFull, "Free space on the disk that holds " + dir, true},
		"a read-only disk":    {system(syscall.EROFS), nexus.CodeReadOnly, "Make " + dir, true},
		"no permission":       {system(syscall.EACCES), nexus.CodeReadOnly, "Make " + dir, true},
		"a bad disk":          {system(syscall.EIO), nexus.CodeStorage, "Check the disk that holds " + dir, true},
	} {
		got := map[string]error{"journal": explainError(filepath.Join(dir, "journal.db"), "append to", c.err)}
		if c.blob {
			got["blobs"] = blobError(dir, "append to", c.err)
		}
		for what, err := range got {
			e, ok := errors.AsType[*nexus.Error](err)
			if !ok || e.Code != c.code || !errors.Is(err, c.err) || !strings.HasPrefix(e.Hint, c.hint) ||
				!strings.HasPrefix(e.Message, "append to "+dir) {
				t.Errorf("%s of %s: %+v", name, what, e)
			}
		}
	}
	if err := explainError("x", "append to", db["none"]); err != nil {
		t.Errorf("nothing failed: %v", err)
	}
	said := &nexus.Error{Code: nexus.CodeRunHeld, Message: "held"}
	err := explainError("x", "append to", fmt.Errorf("%w: %w", said, db["full"]))
	if !errors.Is(err, said) || strings.Contains(err.Error(), "append to") {
		t.Errorf("what was said already: %v", err)
	}
	for _, ended := range []error{context.Canceled, context.DeadlineExceeded} {
		err := explainError("x", "append to", ended)
		if _, ok := errors.AsType[*nexus.Error](err); ok || !errors.Is(err, ended) {
			t.Errorf("who gave up is told %v", err)
		}
	}
}

// TestOnlyWhereNothingCanBeWritten is a file read as it is, without looking for its log.
func TestOnlyWhereNothingCanBeWritten(t *testing.T) {
	db := sqliteErrors(t)
	for name, want := range map[string]bool{"none": false, "full": false, "read only": true, "no database": false, "not there": true} {
		if got := isReadOnlyError(db[name]); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestNothingIsPutWhereNobodyCanLook: what the system says of a path is said.
func TestNothingIsPutWhereNobodyCanLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	within := filepath.Join(path, "copy.db")
	for name, do := range map[string]func() error{
		"back up": func() error { return j.Backup(t.Context(), within) },
		"salvage": func() error { _, err := j.SalvageTo(t.Context(), within); return err },
		"replace": func() error { return ReplaceJournal(t.Context(), path, path, within) },
	} {
		err := do()
		e, ok := errors.AsType[*nexus.Error](err)
		if !ok || e.Hint == "" || !errors.Is(err, syscall.ENOTDIR) || !strings.HasPrefix(e.Message, "look at ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// noShelf is a shelf that cannot be read.
type noShelf struct{}

func (noShelf) StoreSmallBlob(string, []byte)        {}
func (noShelf) ReadSmallBlob(string) ([]byte, error) { return nil, syscall.EIO }

// TestAShelfThatCannotBeRead is not taken for an empty one: who looks for a blob does not hear
// that it was deleted.
func TestAShelfThatCannotBeRead(t *testing.T) {
	s, err := OpenBlobStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	hash, err := s.Put([]byte("said"))
	if err != nil {
		t.Fatal(err)
	}
	for _, hash := range []string{hash, strings.Repeat("0", 64)} {
		data, err := s.WithSmallBlobs(noShelf{}).Get(hash)
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeStorage}) || !errors.Is(err, syscall.EIO) || data != nil {
			t.Errorf("%q, %v", data, err)
		}
	}
}
