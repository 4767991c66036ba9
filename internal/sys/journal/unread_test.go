package journal_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// deeds are what is done with an open journal, by the name of the method; each returns
// its error alone.
var deeds = map[string]func(ctx context.Context, j *journal.Journal, l *journal.Lease, dir string) error{
	"Append": func(ctx context.Context, _ *journal.Journal, l *journal.Lease, _ string) error {
		_, err := l.Append(ctx, facts(3)...)
		return err
	},
	"Ask": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.Ask(ctx, "a", nexus.Request{Verb: nexus.VerbPause})
		return err
	},
	"Adopt": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		return j.ImportRun(ctx, "other", []journal.ImportableEvent{{Seq: 1, At: time.Unix(1, 0), Kind: "run.resumed", Data: []byte("{}")}})
	},
	"Acquire": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.Acquire(ctx, "b", journal.CallingProcess(), time.Minute)
		return err
	},
	"Renew":   func(ctx context.Context, _ *journal.Journal, l *journal.Lease, _ string) error { return l.Renew(ctx) },
	"Release": func(ctx context.Context, _ *journal.Journal, l *journal.Lease, _ string) error { return l.Release(ctx) },
	"Events": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) (failed error) {
		for _, err := range j.Events(ctx, "", 0) {
			failed = err
		}
		return failed
	},
	"Events of a run": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) (failed error) {
		for _, err := range j.Events(ctx, "b", 0) {
			failed = err
		}
		return failed
	},
	"Follow": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) (failed error) {
		for e, err := range j.Follow(ctx, "", 0) {
			if failed = err; err == nil && e.Seq == 10 {
				break
			}
		}
		return failed
	},
	"Runs": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.Runs(ctx)
		return err
	},
	"Head": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.Head(ctx)
		return err
	},
	"Holders": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.RunHolders(ctx)
		return err
	},
	"Endings": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.RunEndings(ctx)
		return err
	},
	"Spent": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.SpentOnDay(ctx, time.Now(), "")
		return err
	},
	"LostAfter": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.EventsLostAfter(ctx, 0)
		return err
	},
	"Verify": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.Verify(ctx)
		return err
	},
	"Shelved": func(_ context.Context, j *journal.Journal, _ *journal.Lease, _ string) error {
		_, err := j.ReadSmallBlob("not on the shelf")
		return err
	},
	"Backup": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, dir string) error {
		return j.Backup(ctx, filepath.Join(dir, "copy.db"))
	},
	"Salvage": func(ctx context.Context, j *journal.Journal, _ *journal.Lease, dir string) error {
		_, err := j.SalvageTo(ctx, filepath.Join(dir, "whole.db"))
		return err
	},
}

// leaseHeldError opens a journal of two runs with ten events, whose run a is held, and with a blob
// on the shelf.
func leaseHeldError(t *testing.T) (path string, j *journal.Journal, l *journal.Lease) {
	t.Helper()
	path = written(t)
	j = openAt(t, path)
	l = acquire(t, j, "a")
	j.StoreSmallBlob("h1", []byte("said"))
	return path, j, l
}

// TestWhatCannotBeReadIsSaid takes a table away, or puts one in its place whose numbers
// are none: whoever needs it gets an error with what to do, and records nothing. Nobody
// takes what cannot be read for nothing.
func TestWhatCannotBeReadIsSaid(t *testing.T) {
	for name, c := range map[string]struct {
		do   []string
		need []string
	}{
		"no events": {[]string{"alter table event rename to was"}, []string{
			"Append", "Ask", "Adopt", "Events", "Events of a run", "Follow", "Runs", "Endings", "Spent", "LostAfter", "Verify", "Salvage",
		}},
		"events of no time": {
			[]string{"alter table event rename to was", "create view event as select seq, run, 'x' as at, kind, data, hash from was"},
			[]string{"Append", "Ask", "Adopt", "Events", "Events of a run", "Follow", "Runs", "Spent"},
		},
		"events of no number": {
			[]string{"alter table event rename to was", "create view event as select 'x' || seq as seq, run, at, kind, data, hash from was"},
			[]string{"Append", "Ask", "Adopt", "Spent", "LostAfter"},
		},
		"facts that are none": {
			[]string{"alter table event rename to was", "create view event as select seq, run, at, 'run.ended' as kind, '{' as data, hash from was"},
			[]string{"Events", "Events of a run", "Follow", "Endings"},
		},
		"no head": {[]string{"alter table head rename to was"}, []string{"Append", "Ask", "Adopt", "Events", "Events of a run", "Follow", "Head", "Verify", "Salvage"}},
		"a head of no number": {
			[]string{"alter table head rename to was", "create view head as select 1 as one, 'x' as seq, hash from was"},
			[]string{"Append", "Ask", "Adopt", "Events", "Follow", "Head", "Verify", "Salvage"},
		},
		"an empty head": {[]string{"delete from head"}, []string{"Append", "Ask", "Adopt", "Events", "Follow", "Head", "Verify", "Salvage"}},
		"no leases":     {[]string{"alter table lease rename to was"}, []string{"Append", "Acquire", "Renew", "Release", "Runs", "Holders", "Salvage"}},
		"leases of no number": {
			[]string{"alter table lease rename to was", "create view lease as select run, 'x' as fence, 'x' as pid, host, start, place, expires from was"},
			[]string{"Append", "Acquire", "Renew", "Release", "Runs", "Holders", "Salvage"},
		},
		"no blobs": {[]string{"alter table blob rename to was"}, []string{"Append", "Ask", "Adopt", "Shelved", "Salvage"}},
		"blobs of no hash": {
			[]string{"alter table blob rename to was", "create view blob as select 1 as id, null as hash, 'x' as data"},
			[]string{"Append", "Ask", "Adopt", "Salvage"},
		},
		"events that nobody may add":  {[]string{"create trigger no before insert on event begin select raise(abort, 'no'); end"}, []string{"Append", "Ask", "Adopt"}},
		"a head that nobody may move": {[]string{"create trigger no before update on head begin select raise(abort, 'no'); end"}, []string{"Append", "Ask", "Adopt"}},
		"leases that nobody may have": {[]string{
			"create trigger no before insert on lease begin select raise(abort, 'no'); end",
			"create trigger none before update on lease begin select raise(abort, 'no'); end",
		}, []string{"Acquire", "Renew", "Release"}},
		"blobs that nobody may add": {[]string{"create trigger no before insert on blob begin select raise(abort, 'no'); end"}, []string{"Append", "Ask", "Adopt"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, what := range c.need {
				path, j, l := leaseHeldError(t)
				tamper(t, path, c.do...)
				dir := t.TempDir()
				err := deeds[what](t.Context(), j, l, dir)
				if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Code == nexus.CodeInternal || e.Hint == "" {
					t.Errorf("%s: %v", what, err)
				}
				if left, err := os.ReadDir(dir); err != nil || slices.ContainsFunc(left, func(f os.DirEntry) bool { return filepath.Ext(f.Name()) == ".db" }) {
					t.Errorf("%s left %v, %v", what, left, err)
				}
				if n := events(t, path); n != 10 {
					t.Errorf("%s: there are %d events", what, n)
				}
			}
		})
	}
}

// TestAHashThatCannotBeRead of an event of another run is no sign that the event is missing:
// nothing is damaged then.
func TestAHashThatCannotBeRead(t *testing.T) {
	for _, which := range []string{"seq > 0", "seq > 4"} { // all of them, and a later one
		path, j, _ := leaseHeldError(t)
		tamper(t, path, "alter table event rename to was",
			"create view event as select seq, run, at, kind, data, iif(run = 'a' and "+which+", json('{'), hash) as hash from was")
		var failed error
		for _, err := range j.Events(t.Context(), "b", 0) {
			failed = err
		}
		if wantCode(t, failed, nexus.CodeStorage); !strings.Contains(failed.Error(), "malformed JSON") {
			t.Errorf("%s: %v", which, failed)
		}
	}
}

// events counts the events of a journal, whatever their table is called now.
func events(t *testing.T, path string) (n int) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if db.QueryRowContext(t.Context(), "select count(hash) from was where seq > 0 and data != ''").Scan(&n) == nil {
		return n
	}
	if err := db.QueryRowContext(t.Context(), "select count(*) from event").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
