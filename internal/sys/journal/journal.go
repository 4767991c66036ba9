// Package journal keeps what happened: every fact of every run in one
// append-only SQLite file that many processes read and write.
//
// An append is durable when it returns. Events are numbered from 1 without
// gaps, and a number is a cursor everywhere. Each event carries a hash over
// the one before it, so that a changed, missing or cut-off event is found
// when it is read, before anything is appended after it, and by
// [Journal.Verify].
//
// SQLite lets one process write at a time, and the number is given inside the
// write, so events become visible in the order of their numbers: who has read
// up to a number has missed nothing before it. That is all that
// [Journal.Follow] needs.
//
// A run has one writer, the holder of its lease. The lease's fence grows with
// each holder, and an append with an old one is refused in the transaction
// that would have made it. Only a request needs no lease. Small blobs lie in
// the same file, see [Journal.Shelve].
//
// When the disk fails a write, the open journal refuses all further ones:
// after a failed sync nobody knows what the disk holds, and trying again
// would report success for what is gone.
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
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	poll    = 40 * time.Millisecond
	readers = 4
)

// Options say how a journal is opened.
type Options struct {
	Now      func() time.Time    // stamps events and ends leases; required
	ReadOnly bool                // never write, nor create or migrate
	Mask     func([]byte) []byte // takes keys out of the JSON of facts before they are recorded; may be nil
	Poll     time.Duration       // how often Follow looks for events of other processes; 0 means 40 ms
}

// Journal is an open journal. Many goroutines may use it.
type Journal struct {
	path string
	file fs.FileInfo // that was opened
	now  func() time.Time
	mask func([]byte) []byte // may be nil
	poll time.Duration
	here place

	read  *sql.DB
	write *sql.DB // one connection; nil when opened for reading only
	every statements

	turn   chan struct{} // filled by the goroutine that writes
	broken error         // why nothing is appended any more; owned by who has the turn

	mu    sync.Mutex        // guards what follows
	grown chan struct{}     // closed when this process appended
	shelf map[string][]byte // blobs by hash that wait for the next event
}

// Open opens the journal at path. Without ReadOnly it creates what is missing,
// directories included, and brings an older schema up to date. It does not
// read the events: damage shows when they are read, see [Journal.Verify].
func Open(ctx context.Context, path string, o Options) (*Journal, error) {
	if o.Now == nil {
		return nil, &nexus.Error{Code: nexus.CodeInternal, Message: "open journal: no clock"}
	}
	if o.Poll <= 0 {
		o.Poll = poll
	}
	j := &Journal{
		path: path, now: o.Now, mask: o.Mask, poll: o.Poll, here: herePlace(),
		turn: make(chan struct{}, 1), grown: make(chan struct{}), shelf: map[string][]byte{},
	}
	if err := j.find(ctx, o.ReadOnly); err != nil {
		return nil, explain(path, "open journal", err)
	}
	if err := j.connect(ctx, o.ReadOnly); err != nil {
		return nil, errors.Join(explain(path, "open journal", err), j.Close())
	}
	var err error
	if j.file, err = os.Stat(path); err != nil {
		return nil, errors.Join(explain(path, "open journal", err), j.Close())
	}
	return j, nil
}

// find makes sure that there is a file at the path that can be a journal.
func (j *Journal) find(ctx context.Context, readOnly bool) error {
	err := exists(j.path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if readOnly {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("no journal at %s", j.path),
			Hint: "Nothing was run here yet; start with nexus run GOAL.",
		}
	}
	return create(ctx, j.path)
}

// exists returns fs.ErrNotExist where a journal may be created. What is there
// and cannot be a journal is said, and never written over.
func exists(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
			return corrupt(path, "is missing, but its log is there")
		}
		return err
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return noJournal(path, "is not a file")
	case info.Size() == 0:
		return noJournal(path, "is empty")
	}
	return nil
}

// connect opens the pools and checks that this program can work with what is
// in the file.
func (j *Journal) connect(ctx context.Context, readOnly bool) error {
	var err error
	if readOnly {
		j.read, err = openReadOnly(ctx, j.path)
		if err != nil {
			return err
		}
		return checkSchemaReadable(ctx, j.read, j.path)
	}
	if j.write, err = sql.Open("sqlite", writerDSN(j.path, there)); err != nil {
		return err
	}
	j.write.SetMaxOpenConns(1)
	if err := prepare(ctx, j.write, j.path); err != nil {
		return err
	}
	if err := j.every.prepare(ctx, j.write); err != nil {
		return err
	}
	if j.read, err = sql.Open("sqlite", dsn(j.path, there, "_pragma=query_only(1)")); err != nil {
		return err
	}
	j.read.SetMaxOpenConns(readers)
	j.read.SetMaxIdleConns(readers)
	return nil
}

// openReadOnly opens the file without writing. On a disk that cannot be
// written, or is full, SQLite has no place for the index of its log; if there is no log,
// the file is whole and is read as it is.
func openReadOnly(ctx context.Context, path string) (*sql.DB, error) {
	open := func(params ...string) (*sql.DB, error) {
		db, err := sql.Open("sqlite", dsn(path, append(params, "mode=ro")...))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(readers)
		db.SetMaxIdleConns(readers)
		var n int
		if err := db.QueryRowContext(ctx, "select count(*) from sqlite_schema").Scan(&n); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		return db, nil
	}
	db, err := open()
	if err == nil || !cannotWrite(err) && classify(filepath.Dir(path), err) != nexus.CodeDiskFull {
		return db, err
	}
	if log, statErr := os.Stat(path + "-wal"); statErr == nil && log.Size() > 0 {
		return nil, err
	}
	return open("immutable=1")
}

// Close closes the journal. Leases stay as they are; see [Lease.Release].
func (j *Journal) Close() error {
	var errs []error
	for _, db := range []*sql.DB{j.read, j.write} { // the writer last: it folds the log into the file
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return j.explain("close journal", errors.Join(errs...))
}

// there makes a connection fail where the file is not there any more, and not make an
// empty one in its place.
const there = "mode=rw"

// dsn returns how SQLite is told to open a file.
func dsn(path string, params ...string) string {
	return "file:" + escape(path) + "?" + strings.Join(append(params, "_pragma=busy_timeout(10000)"), "&")
}

// escape writes a path as SQLite's URIs have it.
func escape(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// writerDSN makes a commit last through a power cut: FULL syncs the log before
// a commit returns.
func writerDSN(path string, params ...string) string {
	return dsn(path, append(params, "_txlock=immediate", "_pragma=synchronous(FULL)", "_pragma=journal_size_limit(16777216)")...)
}
