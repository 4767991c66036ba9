package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// onDisk returns what another process finds under a hash.
func onDisk(t *testing.T, path, hash string) string {
	t.Helper()
	j, err := Open(t.Context(), path, Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	data, err := j.Shelved(hash)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBlobComesWithTheEvent: what another process sees of a blob is nothing
// before the next event, and all of it from then on.
func TestBlobComesWithTheEvent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	l, err := j.Acquire(t.Context(), "r", Self(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("said")
	j.Shelve("h1", data)
	data[0] = 'X' // the caller may use it again
	if got, err := j.Shelved("h1"); string(got) != "said" || err != nil {
		t.Errorf("own process finds %q, %v", got, err)
	}
	if got := onDisk(t, path, "h1"); got != "" {
		t.Errorf("before the event there is %q", got)
	}
	for range 2 { // the same blob again changes nothing
		if _, err := l.Append(t.Context(), nexus.RunResumed{}); err != nil {
			t.Fatal(err)
		}
		if got := onDisk(t, path, "h1"); got != "said" {
			t.Errorf("after the event there is %q", got)
		}
		if len(j.shelf) != 0 {
			t.Errorf("%d blobs still wait", len(j.shelf))
		}
		j.Shelve("h1", []byte("said"))
	}
	if got, err := j.Shelved("none"); got != nil || err != nil {
		t.Errorf("of no blob there is %q, %v", got, err)
	}
}

// TestRefusedEventKeepsTheBlob: a transaction that is refused must not lose
// what waits for the next one.
func TestRefusedEventKeepsTheBlob(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	old, err := j.Acquire(t.Context(), "r", Self(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh, err := j.Acquire(t.Context(), "r", Self(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	j.Shelve("h", []byte("said"))
	if _, err := old.Append(t.Context(), nexus.RunResumed{}); !errors.Is(err, &nexus.Error{Code: nexus.CodeLeaseLost}) {
		t.Fatalf("got %v", err)
	}
	if got := onDisk(t, path, "h"); got != "" {
		t.Errorf("a refused append left %q", got)
	}
	if _, err := fresh.Append(t.Context(), nexus.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if got := onDisk(t, path, "h"); got != "said" {
		t.Errorf("after the next event there is %q", got)
	}
}

// TestVerifyLooksAtBlobs spoils a blob in the file, and names one that is not
// in it.
func TestVerifyLooksAtBlobs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	l, err := j.Acquire(t.Context(), "r", Self(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("said"))
	here, beside := hex.EncodeToString(sum[:]), strings.Repeat("ab", 32)
	j.Shelve(here, []byte("said"))
	for range 2 {
		facts := []nexus.Fact{nexus.PromptSent{Session: "s", Message: here}, nexus.TurnTaken{Session: "s", Message: beside}}
		if _, err := l.Append(t.Context(), facts...); err != nil {
			t.Fatal(err)
		}
	}
	r, err := j.Verify(t.Context())
	if err != nil || !r.Sound || len(r.Named) != 1 || r.Named[0] != beside {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := j.write.ExecContext(t.Context(), "update blob set data = x'736164'"); err != nil {
		t.Fatal(err)
	}
	if r, err = j.Verify(t.Context()); err != nil || r.Sound || r.Damage != Spoiled || !strings.Contains(r.Why, here) {
		t.Errorf("%+v, %v", r, err)
	}
}
