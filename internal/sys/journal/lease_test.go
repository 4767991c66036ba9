package journal_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// TestRenew: a lease that is renewed runs from then on for its full time; who lost it to
// another cannot renew it, append or take it back by letting go.
func TestRenew(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	o := options()
	o.Now = func() time.Time { return now }
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	elsewhere := nexus.RunProcess{PID: 1, Host: "another", Start: 1} // of which nobody here knows whether it lives
	mine, err := j.Acquire(t.Context(), "r", elsewhere, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	taken := func() (*journal.Lease, error) {
		return j.Acquire(t.Context(), "r", journal.CallingProcess(), time.Minute)
	}
	for _, step := range []time.Duration{59 * time.Second, 59 * time.Second, 30 * time.Second} {
		now = now.Add(step)
		if _, err := taken(); err == nil {
			t.Fatalf("it was taken %s after it was renewed", step)
		} else {
			wantCode(t, err, nexus.CodeRunHeld)
		}
		if err := mine.Renew(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	now = now.Add(time.Minute)
	theirs, err := taken()
	if err != nil {
		t.Fatalf("it ran out, and cannot be taken: %v", err)
	}
	if theirs.Fence() <= mine.Fence() {
		t.Errorf("the later one has fence %d, the one before %d", theirs.Fence(), mine.Fence())
	}
	wantCode(t, mine.Renew(t.Context()), nexus.CodeLeaseLost)
	_, err = mine.Append(t.Context(), facts(1)...)
	wantCode(t, err, nexus.CodeLeaseLost)
	if err := mine.Release(t.Context()); err != nil {
		t.Errorf("letting go of what is lost: %v", err)
	}
	if _, err := theirs.Append(t.Context(), facts(1)...); err != nil {
		t.Errorf("the one who lost it let go of another's lease: %v", err)
	}
}

// TestBackupOverwritesNothing: neither a file, nor a link that leads nowhere, nor where
// nobody can look.
func TestBackupOverwritesNothing(t *testing.T) {
	j := open(t)
	if _, err := acquire(t, j, "r").Append(t.Context(), facts(3)...); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file, link, inFile := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "file", "x")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(dir, "nowhere"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, inFile} {
		if err := j.Backup(t.Context(), path); err == nil {
			t.Errorf("%s was overwritten", path)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v is left behind, %v", left, err)
	}
	if err := j.Backup(t.Context(), filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
}
