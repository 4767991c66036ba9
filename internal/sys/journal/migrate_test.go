package journal

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func openTest(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(t.Context(), path, Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// note is the migration of a nexus to come.
const note = "99999_note.sql"

// later returns the migrations of a nexus to come.
func later(t *testing.T) fstest.MapFS {
	t.Helper()
	all := fstest.MapFS{note: {Data: []byte("-- +goose Up\nalter table event add column note text;")}}
	known, err := migrations.ReadDir("migrations")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range known {
		data, err := migrations.ReadFile("migrations/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		all[f.Name()] = &fstest.MapFile{Data: data}
	}
	return all
}

func TestMigrationKeepsWhatIsThere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	l, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), nexus.RunResumed{}, nexus.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing to do
		if err := migrateFrom(t.Context(), j.write, later(t)); err != nil {
			t.Fatal(err)
		}
	}
	if v, err := schemaVersion(t.Context(), j.write, path); v != 99999 || err != nil {
		t.Errorf("schema is %d, %v", v, err)
	}
	if r, err := j.Verify(t.Context()); err != nil || !r.Sound || r.Events != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
	_, err = Open(t.Context(), path, Options{Now: time.Now})
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeJournalNewer}) {
		t.Errorf("an older nexus opens it: %v", err)
	}
}

func TestFailedMigrationChangesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	dir := later(t)
	dir[note].Data = []byte("-- +goose Up\nalter table event add column note text;\ndrop table nowhere;")
	if err := migrateFrom(t.Context(), j.write, dir); err == nil {
		t.Fatal("a wrong migration passed")
	}
	if v, err := schemaVersion(t.Context(), j.write, path); v != latestVersion() || err != nil {
		t.Errorf("schema is %d, %v", v, err)
	}
	if err := migrateFrom(t.Context(), j.write, later(t)); err != nil {
		t.Errorf("the right one fails after the wrong one: %v", err)
	}
}

func TestOlderSchemaIsNotReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	if _, err := j.write.Exec("delete from goose_db_version where version_id = ?", latestVersion()); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), path, Options{Now: time.Now, ReadOnly: true})
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeReadOnly}) {
		t.Errorf("got %v", err)
	}
}

// TestUnknownFact: a journal of a newer nexus with the same schema.
func TestUnknownFact(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"))
	l, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(), nexus.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	err = j.runDurableTransaction(t.Context(), "append", func(ctx context.Context, tx *sql.Tx) error {
		return j.insertRows(ctx, tx, []storedEventRow{{run: "r", kind: "task.teleported", data: "{}"}})
	})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range j.Events(t.Context(), "r", 0) {
		if n++; n == 2 && !errors.Is(err, &nexus.Error{Code: nexus.CodeJournalNewer}) {
			t.Errorf("got %v", err)
		}
	}
	r, err := j.Verify(t.Context())
	if err != nil || n != 2 || r.Damage != EventUnreadable || r.Seq != 2 || r.Sound {
		t.Errorf("read %d, got %+v, %v", n, r, err)
	}
	if _, err := j.SalvageTo(t.Context(), filepath.Join(t.TempDir(), "whole.db")); !errors.Is(err, &nexus.Error{Code: nexus.CodeJournalNewer}) {
		t.Errorf("an event of a newer nexus was thrown away: %v", err)
	}
}

// TestLink fixes how events are linked: journals outlive programs.
func TestLink(t *testing.T) {
	c := newEventHashChain()
	first := c.nextHash(make([]byte, 32), storedEventRow{seq: 1, run: "r", at: 1_795_257_000_000_000_000, kind: "run.resumed", data: "{}"})
	second := c.nextHash(first, storedEventRow{seq: 2, run: "r", at: -1, kind: "run.paused", data: `{"why":"lunch"}`})
	want := []string{
		"5de6875fd0402a806fdf303fe386d12c8ba372f530d6f61d282e6f3ebac68896",
		"7cd2e033c4da8a32bea5affe04d3d342a5f600f2369181696c91af0f671d9976",
	}
	for i, h := range [][]byte{first, second} {
		if got := hex.EncodeToString(h); got != want[i] {
			t.Errorf("hash %d is %s, want %s", i, got, want[i])
		}
	}
	// No two rows look alike to the hash.
	if string(c.nextHash(first, storedEventRow{run: "ab", kind: "c"})) == string(c.nextHash(first, storedEventRow{run: "a", kind: "bc"})) {
		t.Error("run and kind run into each other")
	}
}

func TestOlderVersion(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"3.51.2", "3.51.3", true},
		{"3.51.3", "3.51.3", false},
		{"3.54.1", "3.51.3", false},
		{"3.9.9", "3.51.3", true},
		{"4.0", "3.51.3", false},
		{"3.51", "3.51.3", true},
		{"", "3.51.3", true},
	} {
		if isOlderVersion(c.a, c.b) != c.want {
			t.Errorf("olderVersion(%q, %q) is not %v", c.a, c.b, c.want)
		}
	}
}

// TestWhatIsNoDatabaseIsSaid: no step of preparing a journal takes a file that SQLite cannot
// read for one that is ready.
func TestWhatIsNoDatabaseIsSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("garbage ", 4096)), 0o600); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", dataSourceName(path, existingFileParam))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for name, do := range map[string]func() error{
		"version":     func() error { _, err := schemaVersion(t.Context(), db, path); return err },
		"keep a log":  func() error { return enableWAL(t.Context(), db) },
		"empty a log": func() error { return checkpointWAL(t.Context(), db) },
		"raise":       func() error { return migrateSchema(t.Context(), db) },
		"prepare":     func() error { return prepareSchema(t.Context(), db, path) },
		"ready":       func() error { return checkSchemaReadable(t.Context(), db, path) },
		"statements":  func() error { return new(appendStatements).prepareAll(t.Context(), db) },
	} {
		if err := do(); errorCode(path, err) != nexus.CodeJournalCorrupt {
			t.Errorf("%s: %v", name, err)
		}
	}
}
