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
	j.Shelve(hash, []byte("data"))
	j.Shelve("0000", []byte("is not what its hash says"))
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole.db")
	if _, err := j.Salvage(t.Context(), whole); err != nil {
		t.Fatal(err)
	}
	if _, err := j.Salvage(t.Context(), whole); err == nil {
		t.Error("a journal was written over")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	to := openAt(t, whole)
	if data, err := to.Shelved(hash); err != nil || !bytes.Equal(data, []byte("data")) {
		t.Errorf("the blob is %q, %v", data, err)
	}
	if data, err := to.Shelved("0000"); err != nil || data != nil {
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

func TestReplaceKeepsTheOld(t *testing.T) {
	path, other := written(t), written(t)
	j := opened(t, path)
	l := acquire(t, j, "a")
	if _, err := l.Append(t.Context(), facts(1)...); err != nil {
		t.Fatal(err)
	}
	aside := path + ".old"
	wantCode(t, journal.Replace(t.Context(), path, other, aside), nexus.CodeRunHeld)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := journal.Replace(t.Context(), path, other, aside); err != nil {
		t.Fatal(err)
	}
	if err := journal.Replace(t.Context(), path, aside, aside); err == nil {
		t.Error("what was kept was written over")
	}
	wantSound(t, path, 10)
	old := openAt(t, aside)
	if r, err := old.Verify(t.Context()); err != nil || !r.Sound || r.Events != 11 {
		t.Errorf("the old one: %+v, %v", r, err)
	}
}
