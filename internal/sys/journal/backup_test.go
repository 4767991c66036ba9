package journal_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// wantSound checks that a journal is sound, has so many events, and that runs
// continue in it under a fence that grew.
func wantSound(t *testing.T, path string, events int64) {
	t.Helper()
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		t.Errorf("a log of %d bytes is left beside it", log.Size())
	}
	j := openAt(t, path)
	l := acquire(t, j, "a")
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	r, err := j.Verify(t.Context())
	if err != nil || !r.Sound || r.Events != events+1 {
		t.Errorf("want %d sound events, got %+v, %v", events+1, r, err)
	}
}

// opened opens a journal that the test closes itself.
func opened(t *testing.T, path string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), path, journal.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func TestSalvageKeepsFencesAndBlobs(t *testing.T) {
	path := written(t)
	j := opened(t, path)
	l := acquire(t, j, "a")                                                    // the second holder
	hash := "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7" // of data
	j.StoreSmallBlob(hash, []byte("data"))
	j.StoreSmallBlob("0000", []byte("is not what its hash says"))
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole.db")
	if _, err := j.SalvageTo(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	if _, err := j.SalvageTo(t.Context(), whole); err == nil {
		t.Error("a journal was written over")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	to := openAt(t, whole)
	if data, err := to.ReadSmallBlob(hash); err != nil || !bytes.Equal(data, []byte("data")) {
		t.Errorf("the blob is %q, %v", data, err)
	}
	if data, err := to.ReadSmallBlob("0000"); err != nil || data != nil {
		t.Errorf("a damaged blob was kept: %q, %v", data, err)
	}
	if got := acquire(t, to, "a"); got.Fence() != 3 {
		t.Errorf("the third holder has fence %d", got.Fence())
	}
}

func TestBackupIsOfOneMoment(t *testing.T) {
	path := written(t)
	j := openAt(t, path)
	l := acquire(t, j, "a") // what is still in the log belongs to it
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "back up?#%.db")
	if err := os.WriteFile(to+".part", []byte("of a backup that was killed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := j.Backup(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	if err := j.Backup(t.Context(), to); err == nil {
		t.Error("a backup was written over")
	}
	if err := l.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(to)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	b, err := journal.Open(t.Context(), to, journal.Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if r, err := b.Verify(t.Context()); err != nil || !r.Sound || r.Events != 11 {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestBackupThatFails says so, and leaves nothing under the name.
func TestBackupThatFails(t *testing.T) {
	j := openAt(t, written(t))
	for name, do := range map[string]func(path string) error{
		"back up": func(path string) error { return j.Backup(t.Context(), path) },
		"salvage": func(path string) error {
			_, err := j.SalvageTo(t.Context(), path)
			return err
		},
	} {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := do(filepath.Join(file, "journal.db")); err == nil {
			t.Errorf("%s: into a file", name)
		}
		if err := do(file); err == nil {
			t.Errorf("%s: over a file", name)
		}
	}
	none := filepath.Join(t.TempDir(), "none", "journal.db")
	if err := j.Backup(t.Context(), none); err == nil {
		t.Error("into a directory that is not there")
	}
	closed := opened(t, written(t))
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if r, err := closed.SalvageTo(t.Context(), none); err == nil {
		t.Errorf("a closed journal was salvaged: %+v", r)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("something was left")
	}
}

func TestReplaceKeepsTheOld(t *testing.T) {
	path, other := written(t), written(t)
	j := opened(t, path)
	l := acquire(t, j, "a")
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	aside := path + ".old"
	wantCode(t, journal.ReplaceJournal(t.Context(), path, other, aside), nexus.CodeRunHeld)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := journal.ReplaceJournal(t.Context(), path, other, aside); err != nil {
		t.Fatal(err)
	}
	if err := journal.ReplaceJournal(t.Context(), path, aside, aside); err == nil {
		t.Error("what was kept was written over")
	}
	wantSound(t, path, 10)
	old := openAt(t, aside)
	if r, err := old.Verify(t.Context()); err != nil || !r.Sound || r.Events != 11 {
		t.Errorf("the old one: %+v, %v", r, err)
	}
}

// TestReplaceKeepsWhatNobodyCanRead: a damaged journal goes aside as it is, and nothing of a log
// of it stays that would be applied to the one that takes its place.
func TestReplaceKeepsWhatNobodyCanRead(t *testing.T) {
	for _, log := range []string{"", "what is in the log"} {
		path, other := filepath.Join(t.TempDir(), "journal.db"), written(t)
		garbage := bytes.Repeat([]byte("garbage "), 4096)
		if err := os.WriteFile(path, garbage, 0o600); err != nil {
			t.Fatal(err)
		}
		if log != "" {
			content(log)(t, path+"-wal")
		}
		if err := journal.ReplaceJournal(t.Context(), path, other, path+".old"); err != nil {
			t.Fatal(err)
		}
		wantSound(t, path, 10)
		if data, err := os.ReadFile(path + ".old"); err != nil || !bytes.Equal(data, garbage) {
			t.Errorf("of %d bytes %d are kept, %v", len(garbage), len(data), err)
		}
	}
}

// TestReplaceNothing puts a journal where there is none.
func TestReplaceNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	if err := journal.ReplaceJournal(t.Context(), path, written(t), path+".old"); err != nil {
		t.Fatal(err)
	}
	wantSound(t, path, 10)
	if _, err := os.Lstat(path + ".old"); !os.IsNotExist(err) {
		t.Errorf("something is kept: %v", err)
	}
}
