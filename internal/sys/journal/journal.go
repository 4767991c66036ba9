// Package journal stores every fact of every run in one append-only SQLite file that many
// processes read and write.
//
// An append is durable when it returns. Events are numbered from 1 without gaps, and a number is a
// cursor everywhere. Each event has a hash over the one before it, so that a changed, missing or
// cut-off event is detected when it is read, before any append after it, and by [Journal.Verify].
//
// SQLite lets one process write at a time, and the number is assigned inside the write, so events
// become visible in the order of their numbers: a reader up to a number has missed nothing before
// it. [Journal.Follow] relies only on that.
//
// A run has one writer, the holder of its lease. The lease's fence grows with each holder, and an
// append with an old fence is refused in its own transaction. Only a request needs no lease. Small
// blobs are in the same file, see [Journal.StoreSmallBlob].
//
// When the disk fails a write, the open journal refuses all further ones: after a failed sync the
// state of the disk is unknown, and a retry would report success for lost data.
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
	defaultPoll = 40 * time.Millisecond
	maxReaders  = 4
)

// Options are the options of [Open].
type Options struct {
	Now      func() time.Time    // time of events and of lease checks; required
	ReadOnly bool                // never write, create or migrate
	Mask     func([]byte) []byte // removes keys from the JSON of facts before they are recorded; may be nil
	Poll     time.Duration       // interval at which Follow checks for events of other processes; 0 means 40 ms
}

// Journal is an open journal. Many goroutines may use it.
type Journal struct {
	path string
	file fs.FileInfo // the opened file
	now  func() time.Time
	mask func([]byte) []byte // may be nil
	poll time.Duration
	here processIDNamespace

	read  *sql.DB
	write *sql.DB // one connection; nil if read-only
	every appendStatements

	turn   chan struct{} // a lock: filled by the writing goroutine
	broken error         // why appends are refused; owned by the holder of turn

	mu    sync.Mutex        // guards the fields below
	grown chan struct{}     // closed at the next append of this process
	shelf map[string][]byte // blobs by hash that are written with the next event
}

// Open opens the journal at path. Without ReadOnly it creates missing files and directories, and
// migrates an older schema. It does not read the events: damage is found when they are read, see
// [Journal.Verify].
func Open(ctx context.Context, path string, o Options) (*Journal, error) {
	if o.Now == nil {
		return nil, &nexus.Error{Code: nexus.CodeInternal, Message: "open journal: no clock"}
	}
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	j := &Journal{
		path: path, now: o.Now, mask: o.Mask, poll: o.Poll, here: callingProcessPlace(),
		turn: make(chan struct{}, 1), grown: make(chan struct{}), shelf: map[string][]byte{},
	}
	if err := j.ensureJournalFile(ctx, o.ReadOnly); err != nil {
		return nil, explainError(path, "open journal", err)
	}
	if err := j.openPools(ctx, o.ReadOnly); err != nil {
		return nil, errors.Join(explainError(path, "open journal", err), j.Close())
	}
	var err error
	if j.file, err = os.Stat(path); err != nil {
		return nil, errors.Join(explainError(path, "open journal", err), j.Close())
	}
	return j, nil
}

// ensureJournalFile makes sure that the file at the path exists and can be a journal.
func (j *Journal) ensureJournalFile(ctx context.Context, readOnly bool) error {
	err := checkCanCreate(j.path)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if readOnly {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("no journal at %s", j.path),
			Hint: "Nothing was run here yet; start with nexus run GOAL.",
		}
	}
	return createJournal(ctx, j.path)
}

// checkCanCreate returns fs.ErrNotExist if a journal may be created. A file that cannot be a journal is
// another error, and is never overwritten.
func checkCanCreate(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
			return corruptError(path, "is missing, but its log is there")
		}
		return err
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return notJournalError(path, "is not a file")
	case info.Size() == 0:
		return notJournalError(path, "is empty")
	}
	return nil
}

// openPools opens the connection pools and checks that this program supports the file.
func (j *Journal) openPools(ctx context.Context, readOnly bool) error {
	var err error
	if readOnly {
		j.read, err = openReadOnly(ctx, j.path)
		if err != nil {
			return err
		}
		return checkSchemaReadable(ctx, j.read, j.path)
	}
	if j.write, err = sql.Open("sqlite", writerDSN(j.path, existingFileParam)); err != nil {
		return err
	}
	j.write.SetMaxOpenConns(1)
	if err := prepareSchema(ctx, j.write, j.path); err != nil {
		return err
	}
	if err := j.every.prepareAll(ctx, j.write); err != nil {
		return err
	}
	if j.read, err = sql.Open("sqlite", dataSourceName(j.path, existingFileParam, "_pragma=query_only(1)")); err != nil {
		return err
	}
	j.read.SetMaxOpenConns(maxReaders)
	j.read.SetMaxIdleConns(maxReaders)
	return nil
}

// openReadOnly opens the file without writing. On a full or read-only disk, SQLite cannot create
// the index of its log; if there is no log, the file is complete and is read without one.
func openReadOnly(ctx context.Context, path string) (*sql.DB, error) {
	open := func(params ...string) (*sql.DB, error) {
		db, err := sql.Open("sqlite", dataSourceName(path, append(params, "mode=ro")...))
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(maxReaders)
		db.SetMaxIdleConns(maxReaders)
		var n int
		if err := db.QueryRowContext(ctx, "select count(*) from sqlite_schema").Scan(&n); err != nil {
			return nil, errors.Join(err, db.Close())
		}
		return db, nil
	}
	db, err := open()
	if err == nil || !isReadOnlyError(err) && errorCode(filepath.Dir(path), err) != nexus.CodeDiskFull {
		return db, err
	}
	if log, statErr := os.Stat(path + "-wal"); statErr == nil && log.Size() > 0 {
		return nil, err
	}
	return open("immutable=1")
}

// Close closes the journal. Leases are unchanged; see [Lease.Release].
func (j *Journal) Close() error {
	var errs []error
	for _, db := range []*sql.DB{j.read, j.write} { // the writer last: it merges the log into the file
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return j.explainError("close journal", errors.Join(errs...))
}

// existingFileParam makes a connection fail if the file no longer exists, instead of creating an empty one.
const existingFileParam = "mode=rw"

// dataSourceName returns the SQLite URI of a file.
func dataSourceName(path string, params ...string) string {
	return "file:" + escapePath(path) + "?" + strings.Join(append(params, "_pragma=busy_timeout(10000)"), "&")
}

// escapePath escapes a path for SQLite's URIs.
func escapePath(path string) string {
	return strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(path)
}

// writerDSN returns a URI with which commits survive a power cut: FULL syncs the log before a
// commit returns.
func writerDSN(path string, params ...string) string {
	return dataSourceName(path, append(params, "_txlock=immediate", "_pragma=synchronous(FULL)", "_pragma=journal_size_limit(16777216)")...)
}
