package journal_test

import (
	"bytes"
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

// written makes a journal of two runs with ten events and closes it.
func written(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "journal.db")
	j := openAt(t, path)
	a, b := acquire(t, j, "a"), acquire(t, j, "b")
	for range 5 {
		for _, l := range []*journal.Lease{a, b} {
			if _, err := l.Append(t.Context(), facts(1)...); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, l := range []*journal.Lease{a, b} {
		if err := l.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// tamper changes a journal behind its back.
func tamper(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range append([]string{"drop trigger event_never_changes", "drop trigger event_never_goes"}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestVerifyFindsDamage(t *testing.T) {
	for name, c := range map[string]struct {
		do     []string
		want   journal.DamageKind
		seq    int64
		events int64 // good ones before it
		buried bool  // appending continues: only the end is looked at
	}{
		"nothing":      {nil, "", 0, 10, true},
		"flipped byte": {[]string{"update event set data = replace(data, 'anthropic', 'anthropik') where seq = 4"}, journal.EventChanged, 4, 3, true},
		"other run":    {[]string{"update event set run = 'b' where seq = 5"}, journal.EventChanged, 5, 4, true},
		"other time":   {[]string{"update event set at = at + 1 where seq = 1"}, journal.EventChanged, 1, 0, true},
		"other kind":   {[]string{"update event set kind = 'run.paused' where seq = 3"}, journal.EventChanged, 3, 2, true},
		"other hash":   {[]string{"update event set hash = zeroblob(32) where seq = 6"}, journal.EventChanged, 6, 5, true},
		"swapped": {[]string{
			"update event set seq = 99 where seq = 7", "update event set seq = 7 where seq = 8", "update event set seq = 8 where seq = 99",
		}, journal.EventChanged, 7, 6, true},
		"missing":       {[]string{"delete from event where seq = 7"}, journal.EventMissing, 7, 6, true},
		"first missing": {[]string{"delete from event where seq = 1"}, journal.EventMissing, 1, 0, true},
		"cut off":       {[]string{"delete from event where seq > 8"}, journal.EndCutOff, 9, 8, false},
		"all gone":      {[]string{"delete from event"}, journal.EndCutOff, 1, 0, false},
		"last changed":  {[]string{"update event set hash = zeroblob(32) where seq = 10"}, journal.EventChanged, 10, 9, false},
		"slipped in":    {[]string{"insert into event select 11, run, at, kind, data, hash from event where seq = 10"}, journal.EventChanged, 11, 10, false},
		"head set back": {[]string{"update head set seq = 9, hash = (select hash from event where seq = 9)"}, journal.EventChanged, 10, 10, false},
		"head forged":   {[]string{"update head set hash = zeroblob(32)"}, journal.EventChanged, 10, 10, false},
		"index unsound": {[]string{"pragma writable_schema = on", "update sqlite_schema set sql = 'create index event_run on event (kind)' where name = 'event_run'"}, journal.FileBroken, 0, 10, true},
		"changed, unsound": {[]string{
			"update event set at = at + 1 where seq = 2",
			"pragma writable_schema = on", "update sqlite_schema set sql = 'create index event_run on event (kind)' where name = 'event_run'",
		}, journal.EventChanged, 2, 1, true},
		"number of none": {[]string{"insert into event select 0, run, at, kind, data, hash from event where seq = 1"}, journal.EventMissing, 1, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t)
			tamper(t, path, c.do...)
			j := openAt(t, path)
			r, err := j.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if r.Damage != c.want || r.Seq != c.seq || r.Events != c.events || r.Sound != (c.want == "") || r.Sound != (r.Why == "") {
				t.Errorf("got %+v", r)
			}
			whole := filepath.Join(t.TempDir(), "whole.db")
			if s, err := j.SalvageTo(t.Context(), whole); err != nil || s.Damage != c.want {
				t.Errorf("salvaged: %+v, %v", s, err)
			}
			wantSound(t, whole, c.events)
			l := acquire(t, j, "c")
			_, err = l.Append(t.Context(), facts(1)...)
			if c.buried != (err == nil) {
				t.Errorf("append after the damage: %v", err)
			}
			if err != nil {
				wantCode(t, err, nexus.CodeJournalCorrupt)
			}
		})
	}
}

// TestReadingFindsDamage: nothing is decided on an event that is not what was
// written, whichever run is read.
func TestReadingFindsDamage(t *testing.T) {
	path := written(t)
	tamper(t, path, "update event set data = replace(data, 'claude', 'claudf') where seq = 7")
	j := openAt(t, path)
	for run, want := range map[nexus.RunID]int{"": 6, "a": 3} {
		got := 0
		for _, err := range j.Events(t.Context(), run, 0) {
			if err != nil {
				wantCode(t, err, nexus.CodeJournalCorrupt)
				if !strings.Contains(err.Error(), "event 7") {
					t.Errorf("the error does not name the event: %v", err)
				}
				break
			}
			got++
		}
		if got != want {
			t.Errorf("run %q: read %d events before the damage, want %d", run, got, want)
		}
	}
	for e, err := range j.Events(t.Context(), "b", 0) {
		if err != nil {
			t.Errorf("run b is sound, but after %d: %v", e.Seq, err)
		}
	}
}

// TestFollowingFindsDamage: whoever follows hears of it, and waits for nothing
// more.
func TestFollowingFindsDamage(t *testing.T) {
	path := written(t)
	tamper(t, path, "update event set data = replace(data, 'claude', 'claudf') where seq = 7")
	var last int64
	var broken error
	for e, err := range openAt(t, path).Follow(t.Context(), "", 0) {
		if broken = err; err == nil {
			last = e.Seq
		}
	}
	wantCode(t, broken, nexus.CodeJournalCorrupt)
	if last != 6 {
		t.Errorf("the last event is %d", last)
	}
}

// TestSpentIsNotGuessed: what cannot be read is not money that was not spent.
func TestSpentIsNotGuessed(t *testing.T) {
	for name, c := range map[string]struct {
		do   string
		code nexus.ErrorCode
	}{
		"no JSON":  {"update event set data = '{' where kind = 'budget.spent'", nexus.CodeJournalCorrupt},
		"no table": {"drop table event", nexus.CodeStorage},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			j := openAt(t, path)
			if _, err := acquire(t, j, "a").Append(t.Context(), nexus.BudgetReserved{ID: "1", Money: 5}, nexus.BudgetSettled{ID: "1", Money: 3}); err != nil {
				t.Fatal(err)
			}
			if got, err := j.SpentOnDay(t.Context(), time.Now(), ""); err != nil || got != 3 {
				t.Fatalf("spent %d, %v", got, err)
			}
			tamper(t, path, c.do)
			got, err := j.SpentOnDay(t.Context(), time.Now(), "")
			wantCode(t, err, c.code)
			if got != 0 {
				t.Errorf("spent %d, and an error", got)
			}
		})
	}
}

func TestFlippedByteInTheFile(t *testing.T) {
	path := written(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte("anthropic/claude"))
	data[at] ^= 0x20
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := openAt(t, path).Verify(t.Context())
	if err != nil || r.Sound || r.Damage != journal.EventChanged || r.Seq == 0 {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestAnyByteFlipped flips bytes all over the file: opening, verifying and
// reading may refuse, but never panic nor hand out an event that was changed.
func TestAnyByteFlipped(t *testing.T) {
	path := written(t)
	sound := map[string]bool{}
	for _, e := range read(t, openAt(t, path)) {
		sound[e.Hash] = true
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(data); at += 397 {
		other := filepath.Join(t.TempDir(), "journal.db")
		flipped := bytes.Clone(data)
		flipped[at] ^= 0xff
		if err := os.WriteFile(other, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := journal.Open(t.Context(), other, options())
		if err != nil {
			if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Hint == "" {
				t.Errorf("byte %d: %v", at, err)
			}
			continue
		}
		r, err := j.Verify(t.Context())
		if err != nil {
			t.Errorf("byte %d: verify: %v", at, err)
		}
		for e, err := range j.Events(t.Context(), "", 0) {
			if err == nil && !sound[e.Hash] {
				t.Errorf("byte %d: read %+v", at, e)
			}
			if err != nil && r.Sound {
				t.Errorf("byte %d: verify says sound, reading says %v", at, err)
			}
		}
		j.Close()
	}
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		code nexus.ErrorCode
	}{
		"empty":            {content(""), nexus.CodeJournalCorrupt},
		"garbage":          {content(strings.Repeat("garbage ", 4096)), nexus.CodeJournalCorrupt},
		"short":            {content("SQLite format 3\x00"), nexus.CodeJournalCorrupt},
		"a directory":      {directory, nexus.CodeJournalCorrupt},
		"only the log":     {onlyLog, nexus.CodeJournalCorrupt},
		"half of it":       {truncated(2), nexus.CodeJournalCorrupt},
		"nearly nothing":   {truncated(20), nexus.CodeJournalCorrupt},
		"another database": {recipes, nexus.CodeJournalCorrupt},
		"newer":            {fromTheFuture, nexus.CodeJournalNewer},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			c.make(t, path)
			before, _ := os.ReadFile(path)
			for _, readOnly := range []bool{true, false} {
				o := options()
				o.ReadOnly = readOnly
				_, err := journal.Open(t.Context(), path, o)
				wantCode(t, err, c.code)
				// Who is told to repair can: of garbage nothing is left to keep.
				e, _ := errors.AsType[*nexus.Error](err)
				if is := strings.Contains(e.Hint, "repair cannot help"); is != slices.Contains([]string{"garbage", "short", "empty", "a directory", "another database"}, name) {
					t.Errorf("the hint is %s", e.Hint)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func content(data string) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func directory(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func onlyLog(t *testing.T, path string) {
	t.Helper()
	content("log")(t, path+"-wal")
}

// truncated leaves a part of a journal.
func truncated(part int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		if err := os.Rename(written(t), path); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, info.Size()/part); err != nil {
			t.Fatal(err)
		}
	}
}

func recipes(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "create table recipe (name text)"); err != nil {
		t.Fatal(err)
	}
}

func fromTheFuture(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(written(t), path); err != nil {
		t.Fatal(err)
	}
	tamper(t, path, "insert into goose_db_version (version_id, is_applied) values (99, 1)")
}

// TestFollowingEndsWithItsFile: what is open of a journal that somebody removed can still
// be read, and would be shown for ever.
func TestFollowingEndsWithItsFile(t *testing.T) {
	path := written(t)
	o := options()
	o.Poll, o.ReadOnly = time.Millisecond, true
	j, err := journal.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	n := 0
	for e, err := range j.Follow(t.Context(), "", 0) {
		if err != nil {
			wantCode(t, err, nexus.CodeStorage)
			break
		}
		if n++; e.Seq == 1 {
			if err := os.Rename(path, path+".away"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n == 0 {
		t.Error("nothing was shown before")
	}
}

// TestNothingIsRecordedInAJournalThatIsGone: whoever records hears that it is lost, and does not go on for nothing.
func TestNothingIsRecordedInAJournalThatIsGone(t *testing.T) {
	path := written(t)
	j := openAt(t, path)
	l := acquire(t, j, "c")
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	_, err := l.Append(t.Context(), facts(1)...)
	wantCode(t, err, nexus.CodeStorage)
	wantCode(t, l.Renew(t.Context()), nexus.CodeStorage)
}

// TestNothingIsRecordedInAJournalThatWasReplaced: another journal in the place of an open one
// is not written to, nor is the one that nobody finds any more, and whoever follows hears of it.
func TestNothingIsRecordedInAJournalThatWasReplaced(t *testing.T) {
	for name, do := range deeds {
		if !slices.Contains([]string{"Append", "Ask", "Adopt", "Acquire", "Renew", "Release"}, name) {
			continue
		}
		path, j, l := leaseHeldError(t)
		other := written(t)
		before, err := os.ReadFile(other)
		if err != nil {
			t.Fatal(err)
		}
		log, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Rename(path, path+".away"), os.Rename(other, path)); err != nil {
			t.Fatal(err)
		}
		err = do(t.Context(), j, l, "")
		wantCode(t, err, nexus.CodeStorage)
		if !errors.Is(err, journal.ErrGone) || !strings.Contains(err.Error(), "another file is in its place") {
			t.Errorf("%s: %v", name, err)
		}
		after, err := os.ReadFile(path)
		if now, failed := os.Stat(path + "-wal"); err != nil || failed != nil || !bytes.Equal(before, after) || now.Size() != log.Size() || !now.ModTime().Equal(log.ModTime()) {
			t.Errorf("%s: something was written, %v, %v", name, err, failed)
		}
		for _, err = range j.Follow(t.Context(), "", 10) {
			break
		}
		if !errors.Is(err, journal.ErrGone) {
			t.Errorf("%s: who follows hears %v", name, err)
		}
	}
}

// TestGoneStaysGone: an open journal whose file is removed makes no empty one in its place.
func TestGoneStaysGone(t *testing.T) {
	path := written(t)
	j, err := journal.Open(t.Context(), path, options())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for range 8 {
		for _, err := range j.Events(t.Context(), "", 0) {
			if err != nil {
				wantCode(t, err, nexus.CodeStorage)
				break
			}
			for range j.Events(t.Context(), "", 0) { // needs one more connection
				break
			}
		}
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the journal is there again: %v", err)
	}
}
