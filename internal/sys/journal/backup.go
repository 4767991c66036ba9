package journal

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Backup writes a snapshot of the journal to a new file at path, complete and without a log file.
// The file gets its name when it is complete and synced. It fails if path exists.
func (j *Journal) Backup(ctx context.Context, path string) error {
	if err := checkPathIsFree(path); err != nil {
		return err
	}
	part := path + ".part"
	if err := removeFile(part); err != nil {
		return j.explainError("back up journal", err)
	}
	db, err := sql.Open("sqlite", dataSourceName(j.path, "mode=ro")) // the reader connections may not even write elsewhere
	if err != nil {
		return j.explainError("back up journal", err)
	}
	_, err = db.ExecContext(ctx, "vacuum into ?", part)
	if err = errors.Join(err, db.Close()); err != nil {
		return errors.Join(j.explainError("back up journal", err), removeFile(part))
	}
	if err := os.Chmod(part, 0o600); err != nil {
		return explainError(path, "back up journal to", err)
	}
	return explainError(path, "back up journal to", syncAndRename(part, path))
}

// SalvageTo writes the undamaged part of a journal to a new journal at path: all events before the
// first damaged one, the blobs that match their hashes, and the fences of leases, which must only
// grow. The new journal has no held leases. The report is about this journal, which is unchanged.
//
// An undamaged event of an unknown kind is no damage: Salvage then refuses with
// [nexus.CodeJournalNewer].
func (j *Journal) SalvageTo(ctx context.Context, path string) (VerifyReport, error) {
	r, err := j.Verify(ctx)
	if err != nil {
		return r, err
	}
	if r.Damage == EventUnreadable {
		return r, &nexus.Error{
			Code: nexus.CodeJournalNewer, Message: "journal " + j.path + ": " + r.Why,
			Hint: "The event is not damaged: a newer nexus wrote it. Use that version; nothing was changed.",
		}
	}
	if err := checkPathIsFree(path); err != nil {
		return r, err
	}
	if err := j.writeSalvaged(ctx, path, r.Events); err != nil {
		return r, errors.Join(err, removeFile(path), removeFile(path+"-wal"), removeFile(path+"-shm"))
	}
	return r, nil
}

// writeSalvaged creates the new journal with the first events.
func (j *Journal) writeSalvaged(ctx context.Context, path string, events int64) error {
	to, err := Open(ctx, path, Options{Now: j.now})
	if err != nil {
		return err
	}
	err = to.runDurableTransaction(ctx, "repair journal", func(ctx context.Context, tx *sql.Tx) error { return j.salvageRows(ctx, tx, events) })
	if err == nil {
		err = to.explainError("repair journal", checkpointWAL(ctx, to.write))
	}
	return errors.Join(err, to.Close())
}

// salvageRows copies the first events, the leases and the undamaged blobs. Unreadable leases and blobs
// are left out.
func (j *Journal) salvageRows(ctx context.Context, tx *sql.Tx, events int64) error {
	prev := make([]byte, 32)
	var last int64
	err := j.copyRows(ctx, "select seq, run, at, kind, data, hash from event where seq between 1 and ? order by seq", []any{events}, func(found *sql.Rows) error {
		var e storedEventRow
		if err := found.Scan(&e.seq, &e.run, &e.at, &e.kind, &e.data, &e.hash); err != nil {
			return err
		}
		last, prev = e.seq, e.hash
		_, err := tx.ExecContext(ctx, "insert into event (seq, run, at, kind, data, hash) values (?, ?, ?, ?, ?, ?)", e.seq, e.run, e.at, e.kind, e.data, e.hash)
		return err
	})
	if err == nil && last != events {
		err = fmt.Errorf("only %d of %d good events could be read again", last, events)
	}
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "update head set seq = ?, hash = ?", last, prev); err != nil {
		return err
	}
	unread := j.copyRows(ctx, "select run, fence, host, start, place, expires from lease", nil, func(found *sql.Rows) error {
		var run, host, place string
		var fence, start, expires int64
		if err := found.Scan(&run, &fence, &host, &start, &place, &expires); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "insert into lease (run, fence, pid, host, start, place, expires) values (?, ?, 0, ?, ?, ?, ?)", run, fence, host, start, place, expires)
		return err
	})
	unread = errors.Join(unread, j.copyRows(ctx, "select hash, data from blob", nil, func(found *sql.Rows) error {
		var hash string
		var data []byte
		if err := found.Scan(&hash, &data); err != nil {
			return err
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != hash {
			return nil
		}
		_, err := tx.ExecContext(ctx, "insert into blob (hash, data) values (?, ?) on conflict do nothing", hash, data)
		return err
	}))
	if unread != nil && errorCode(j.path, unread) != nexus.CodeJournalCorrupt {
		return unread
	}
	return nil
}

// copyRows calls row for each row of a query.
func (j *Journal) copyRows(ctx context.Context, query string, args []any, row func(*sql.Rows) error) error {
	found, err := j.read.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer found.Close() //nolint:errcheck // Err tells what Close would
	for found.Next() {
		if err := row(found); err != nil {
			return err
		}
	}
	return found.Err()
}

// ReplaceJournal replaces the journal at path by the closed journal at with, and keeps the old one at
// aside. A kill at any point leaves one of the two complete at path. It refuses with
// [nexus.CodeRunHeld] while any process has the journal at path open, and if aside exists. There
// may be no file at path.
func ReplaceJournal(ctx context.Context, path, with, aside string) error {
	if err := checkPathIsFree(aside); err != nil {
		return err
	}
	switch _, err := os.Stat(path); {
	case err == nil:
		switch err := mergeAndRemoveWAL(ctx, path); {
		case err == nil:
		case errors.Is(err, &nexus.Error{Code: nexus.CodeJournalCorrupt}): // no process can work with it: its log is kept unchanged
			if err := os.Rename(path+"-wal", aside+"-wal"); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return explainError(path, "keep the log of journal", err)
			}
		default:
			return err
		}
		if err := os.Link(path, aside); err != nil {
			return explainError(path, "keep journal", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return explainError(path, "replace journal", err)
	}
	return explainError(path, "replace journal", syncAndRename(with, path))
}

// mergeAndRemoveWAL merges the log beside a journal into it and removes the log. SQLite does that only for
// a process that is alone with the file. A remaining log would be applied to any new file with the
// journal's name.
func mergeAndRemoveWAL(ctx context.Context, path string) error {
	db, err := sql.Open("sqlite", "file:"+escapePath(path)+"?_pragma=busy_timeout(500)")
	if err != nil {
		return explainError(path, "open journal", err)
	}
	var mode string
	err = db.QueryRowContext(ctx, "pragma journal_mode = delete").Scan(&mode)
	err = errors.Join(err, db.Close())
	switch {
	case err == nil && mode == "delete":
		return nil
	case err == nil || isBusy(err):
		return &nexus.Error{
			Code: nexus.CodeRunHeld, Message: "another process has the journal " + path + " open",
			Hint: "Stop other processes of Nexus here, such as nexus serve or nexus logs -f, and try again.",
		}
	default:
		return explainError(path, "close the log of journal", err)
	}
}

// checkPathIsFree returns an error if a path exists.
func checkPathIsFree(path string) error {
	switch _, err := os.Lstat(path); {
	case err == nil:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: path + " already exists",
			Hint: "Name a path that does not exist: nothing is overwritten.",
		}
	case errors.Is(err, fs.ErrNotExist):
		return nil
	default:
		return explainError(path, "look at", err)
	}
}

// syncAndRename syncs a file and renames it.
func syncAndRename(from, to string) error {
	f, err := os.Open(from) //nolint:gosec // a path of our own
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
