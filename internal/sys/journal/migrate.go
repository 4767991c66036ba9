package journal

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// oldestSQLite is the first version without a bug that lost commits: a checkpoint could reset the
// log while another connection wrote.
const oldestSQLite = "3.51.3"

//go:embed migrations/*.sql
var migrations embed.FS

// createJournal creates a journal under another name and renames it when it is complete, so that a crash
// leaves either none or a good one.
func createJournal(ctx context.Context, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	unlock, err := lockCreation(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := checkCanCreate(path); !errors.Is(err, fs.ErrNotExist) {
		return err // another process was faster
	}
	fresh := path + ".new"
	for _, left := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(fresh + left); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := buildEmpty(ctx, fresh); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncFile(filepath.Dir(path))
}

// buildEmpty creates an empty journal at path and syncs it.
func buildEmpty(ctx context.Context, path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", writerDSN(path))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	err = enableWAL(ctx, db)
	if err == nil {
		err = migrateSchema(ctx, db)
	}
	if err == nil {
		err = checkpointWAL(ctx, db)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	return syncFile(path)
}

// checkpointWAL merges the whole log into the file, so that the file alone is the journal. Closing does
// that, too, but does not report failures.
func checkpointWAL(ctx context.Context, db *sql.DB) error {
	var busy bool
	var left, moved int
	if err := db.QueryRowContext(ctx, "pragma wal_checkpoint(truncate)").Scan(&busy, &left, &moved); err != nil {
		return err
	}
	if busy || left > 0 {
		return errors.New("its log is in use")
	}
	return nil
}

// lockCreation prevents other processes from creating or migrating the journal.
func lockCreation(ctx context.Context, path string) (unlock func() error, err error) {
	l := flock.New(path+".lock", flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, err
	}
	return l.Unlock, nil
}

func syncFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// prepareSchema prepares an existing journal for writing: it migrates an older schema. For a current
// schema, this costs three small queries.
func prepareSchema(ctx context.Context, db *sql.DB, path string) error {
	if err := checkSQLite(ctx, db); err != nil {
		return err
	}
	has, err := schemaVersion(ctx, db, path)
	switch {
	case err != nil:
		return err
	case has > latestVersion():
		return newerSchemaError(path, has)
	case has < latestVersion():
		if err := migrateLocked(ctx, db, path); err != nil {
			return err
		}
	}
	return enableWAL(ctx, db)
}

// migrateLocked migrates under the lock.
func migrateLocked(ctx context.Context, db *sql.DB, path string) (err error) {
	unlock, err := lockCreation(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return migrateSchema(ctx, db)
}

// enableWAL turns on SQLite's write-ahead log, so that readers and the writer do not wait for each
// other.
func enableWAL(ctx context.Context, db *sql.DB) error {
	var mode string
	if err := db.QueryRowContext(ctx, "pragma journal_mode(wal)").Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return fmt.Errorf("no write-ahead log on this disk (%s)", mode)
	}
	return nil
}

// checkSchemaReadable checks the schema of an existing journal that must not be changed.
func checkSchemaReadable(ctx context.Context, db *sql.DB, path string) error {
	if err := checkSQLite(ctx, db); err != nil {
		return err
	}
	has, err := schemaVersion(ctx, db, path)
	switch {
	case err != nil:
		return err
	case has > latestVersion():
		return newerSchemaError(path, has)
	case has < latestVersion():
		return &nexus.Error{
			Code:    nexus.CodeReadOnly,
			Message: fmt.Sprintf("journal %s has schema %d, older than %d, and may not be changed", path, has, latestVersion()),
			Hint:    "Run any nexus command that writes, such as nexus resume, once: it brings the journal up to date.",
		}
	}
	return nil
}

func newerSchemaError(path string, has int64) error {
	return &nexus.Error{
		Code:    nexus.CodeJournalNewer,
		Message: fmt.Sprintf("journal %s has schema %d, newer than %d", path, has, latestVersion()),
		Hint:    "A newer nexus wrote it; use that version. Nothing was changed.",
	}
}

// schemaVersion returns the schema version of a journal.
func schemaVersion(ctx context.Context, db *sql.DB, path string) (int64, error) {
	var ours bool
	const tables = "select count(*) = 3 from sqlite_schema where name in ('goose_db_version', 'event', 'head')"
	if err := db.QueryRowContext(ctx, tables).Scan(&ours); err != nil {
		return 0, err
	}
	if !ours {
		return 0, notJournalError(path, "is a database, but not a journal")
	}
	var v int64
	err := db.QueryRowContext(ctx, "select coalesce(max(version_id), 0) from goose_db_version where is_applied").Scan(&v)
	return v, err
}

// latestVersion returns the schema version of this program, which is the number of the last migration.
func latestVersion() int64 {
	files, err := migrations.ReadDir("migrations")
	if err != nil || len(files) == 0 {
		return 0 // cannot happen with an embedded directory
	}
	number, _, _ := strings.Cut(files[len(files)-1].Name(), "_")
	v, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return v
}

// migrateSchema applies the missing migrations of a database.
func migrateSchema(ctx context.Context, db *sql.DB) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	return migrateFrom(ctx, db, dir)
}

func migrateFrom(ctx context.Context, db *sql.DB, dir fs.FS) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, dir, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		return err
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// checkSQLite refuses SQLite versions that are known to lose data.
func checkSQLite(ctx context.Context, db *sql.DB) error {
	var v string
	if err := db.QueryRowContext(ctx, "select sqlite_version()").Scan(&v); err != nil {
		return err
	}
	if isOlderVersion(v, oldestSQLite) {
		return &nexus.Error{
			Code:    nexus.CodeInternal,
			Message: fmt.Sprintf("SQLite %s is older than %s and may lose commits", v, oldestSQLite),
			Hint:    "This nexus was built wrongly; install a release.",
		}
	}
	return nil
}

// isOlderVersion reports whether dotted version a is before b.
func isOlderVersion(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX != nil || errY != nil {
			return true // an unreadable version is not trusted
		}
		if x != y {
			return x < y
		}
	}
	return len(as) < len(bs)
}
