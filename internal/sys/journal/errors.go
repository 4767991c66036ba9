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
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

const repairHint = "nexus journal verify says where the damage starts. nexus journal repair keeps every event before it " +
	"and a copy of the damaged file; nexus journal restore replaces the journal with a backup."

// restoreHint is the hint for a file of which no part can be read as a journal.
const restoreHint = "No event of it can be read, so nexus journal repair cannot help. nexus journal restore replaces the journal with a backup. " +
	"If there is none, move the file away: branches and commits stay in git, and only the record of earlier runs is gone."

// corruptError returns the error for a file that is not an undamaged journal.
func corruptError(path, why string) error {
	return &nexus.Error{Code: nexus.CodeJournalCorrupt, Message: fmt.Sprintf("journal %s %s", path, why), Hint: repairHint}
}

// notJournalError returns the error for a path without any event.
func notJournalError(path, why string) error {
	return &nexus.Error{Code: nexus.CodeJournalCorrupt, Message: fmt.Sprintf("journal %s %s", path, why), Hint: restoreHint}
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

// explainError is the function explain for the journal's file, which may have been removed since it was
// opened.
func (j *Journal) explainError(doing string, err error) error {
	if primaryCode(err) == sqlite3.SQLITE_CANTOPEN {
		if gone := j.CheckFile(); gone != nil {
			return gone
		}
	}
	return explainError(j.path, doing, err)
}

// explainError converts an error of SQLite or the system to one with the next step for a person. An
// error that already has one is returned unchanged.
func explainError(path, doing string, err error) error {
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
	switch e.Code = errorCode(dir, err); e.Code {
	case nexus.CodeDiskFull:
		e.Hint = fmt.Sprintf("Free space on the disk that holds %s, then run nexus resume; what was recorded is kept.", dir)
	case nexus.CodeReadOnly:
		e.Hint = fmt.Sprintf("Make %s and what is in it writable, or set XDG_STATE_HOME to another place.", dir)
	case nexus.CodeJournalCorrupt:
		if e.Hint = repairHint; primaryCode(err) == sqlite3.SQLITE_NOTADB {
			e.Hint = restoreHint
		}
	default:
		e.Hint = fmt.Sprintf("Check the disk that holds %s, then run nexus resume; what was recorded is kept.", dir)
	}
	if isBusy(err) {
		e.Hint = "Another process keeps the journal locked; end it, then run nexus resume."
	}
	return e
}

// isBusy reports whether another process holds the needed lock.
func isBusy(err error) bool {
	return primaryCode(err) == sqlite3.SQLITE_BUSY || primaryCode(err) == sqlite3.SQLITE_LOCKED
}

// errorCode returns the code for a failure of the journal in dir.
func errorCode(dir string, err error) nexus.ErrorCode {
	switch primaryCode(err) {
	case sqlite3.SQLITE_FULL:
		return nexus.CodeDiskFull
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM:
		return nexus.CodeReadOnly
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT:
		return nexus.CodeJournalCorrupt
	}
	if extendedCode(err) == sqlite3.SQLITE_IOERR_SHORT_READ {
		return nexus.CodeJournalCorrupt
	}
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return nexus.CodeDiskFull
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return nexus.CodeReadOnly
	}
	if primaryCode(err) != 0 { // SQLite does not report the system's reason
		switch full, readOnly := filewrite.CheckSpace(dir); {
		case readOnly:
			return nexus.CodeReadOnly
		case full:
			return nexus.CodeDiskFull
		}
	}
	return nexus.CodeStorage
}

// extendedCode returns SQLite's extended code of an error, or 0.
func extendedCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

func primaryCode(err error) int { return extendedCode(err) & 0xff }

// isReadOnlyError reports whether SQLite failed because it could not write.
func isReadOnlyError(err error) bool {
	switch primaryCode(err) {
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return true
	default:
		return false
	}
}
