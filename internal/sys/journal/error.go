package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

const keep = "nexus journal verify says where the damage starts. nexus journal repair keeps every event before it " +
	"and a copy of the damaged file; nexus journal restore replaces the journal with a backup."

// lost is the hint for a file of which no part can be read as a journal.
const lost = "No event of it can be read, so nexus journal repair cannot help. nexus journal restore replaces the journal with a backup. " +
	"If there is none, move the file away: branches and commits stay in git, and only the record of earlier runs is gone."

// corrupt returns the error for a file that is not an undamaged journal.
func corrupt(path, why string) error {
	return &nexus.Error{Code: nexus.CodeJournalCorrupt, Message: fmt.Sprintf("journal %s %s", path, why), Hint: keep}
}

// noJournal returns the error for a path without any event.
func noJournal(path, why string) error {
	return &nexus.Error{Code: nexus.CodeJournalCorrupt, Message: fmt.Sprintf("journal %s %s", path, why), Hint: lost}
}

// ErrGone is returned if the file of a journal no longer exists: retries will not find it.
var ErrGone = errors.New("it is gone")

// CheckFile returns an error if the opened file is no longer at its path. The open file could
// still be read, so readers would show it forever, and writes to it would be lost.
func (j *Journal) CheckFile() error {
	info, err := os.Stat(j.path)
	e := &nexus.Error{Code: nexus.CodeStorage, Message: "journal " + j.path}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Cause = ErrGone
		e.Hint = "Somebody removed or moved it while it was open. Put it back, or start a run; then start this command again."
	case err == nil && j.file != nil && !os.SameFile(info, j.file):
		e.Cause = fmt.Errorf("%w, and another file is in its place", ErrGone)
		e.Hint = "Somebody replaced it while it was open. Put it back if you still have it; then start this command again."
	default:
		return nil
	}
	return e
}

// explain is the function explain for the journal's file, which may have been removed since it was
// opened.
func (j *Journal) explain(doing string, err error) error {
	if primary(err) == sqlite3.SQLITE_CANTOPEN {
		if gone := j.CheckFile(); gone != nil {
			return gone
		}
	}
	return explain(j.path, doing, err)
}

// explain converts an error of SQLite or the system to one with the next step for a person. An
// error that already has one is returned unchanged.
func explain(path, doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*nexus.Error](err); ok {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s: %w", doing, err)
	}
	e := &nexus.Error{Message: fmt.Sprintf("%s %s", doing, path), Cause: err}
	dir := filepath.Dir(path)
	switch e.Code = classify(dir, err); e.Code {
	case nexus.CodeDiskFull:
		e.Hint = fmt.Sprintf("Free space on the disk that holds %s, then run nexus resume; what was recorded is kept.", dir)
	case nexus.CodeReadOnly:
		e.Hint = fmt.Sprintf("Make %s and what is in it writable, or set XDG_STATE_HOME to another place.", dir)
	case nexus.CodeJournalCorrupt:
		if e.Hint = keep; primary(err) == sqlite3.SQLITE_NOTADB {
			e.Hint = lost
		}
	default:
		e.Hint = fmt.Sprintf("Check the disk that holds %s, then run nexus resume; what was recorded is kept.", dir)
	}
	if busy(err) {
		e.Hint = "Another process keeps the journal locked; end it, then run nexus resume."
	}
	return e
}

// busy reports whether another process holds the needed lock.
func busy(err error) bool {
	return primary(err) == sqlite3.SQLITE_BUSY || primary(err) == sqlite3.SQLITE_LOCKED
}

// classify returns the code for a failure of the journal in dir.
func classify(dir string, err error) nexus.Code {
	switch primary(err) {
	case sqlite3.SQLITE_FULL:
		return nexus.CodeDiskFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return nexus.CodeReadOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
		return nexus.CodeJournalCorrupt
	}
	if extended(err) == sqlite3.SQLITE_IOERR_SHORT_READ {
		return nexus.CodeJournalCorrupt
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return nexus.CodeDiskFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return nexus.CodeReadOnly
	}
	if primary(err) != 0 { // SQLite does not report the system's reason
		switch full, readOnly := disk.Room(dir); {
		case readOnly:
			return nexus.CodeReadOnly
		case full:
			return nexus.CodeDiskFull
		}
	}
	return nexus.CodeStorage
}

// extended returns SQLite's extended code of an error, or 0.
func extended(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

func primary(err error) int { return extended(err) & 0xff }

// cannotWrite reports whether SQLite failed because it could not write.
func cannotWrite(err error) bool {
	switch primary(err) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return true
	default:
		return false
	}
}
