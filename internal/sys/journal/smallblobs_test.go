package journal

import (
	"errors"
	"path/filepath"
	"slices"
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
	data, err := j.ReadSmallBlob(hash)
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
	l, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	data := []byte("said")
	j.StoreSmallBlob("h1", data)
	data[0] = 'X' // the caller may use it again
	if got, err := j.ReadSmallBlob("h1"); string(got) != "said" || err != nil {
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
		j.StoreSmallBlob("h1", []byte("said"))
	}
	if got, err := j.ReadSmallBlob("none"); got != nil || err != nil {
		t.Errorf("of no blob there is %q, %v", got, err)
	}
}

// TestRefusedEventKeepsTheBlob: a transaction that is refused must not lose
// what waits for the next one.
func TestRefusedEventKeepsTheBlob(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openTest(t, path)
	old, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	fresh, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	j.StoreSmallBlob("h", []byte("said"))
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

// TestVerifyNamesBlobs has events name blobs, wherever those are, each twice.
func TestVerifyNamesBlobs(t *testing.T) {
	j := openTest(t, filepath.Join(t.TempDir(), "journal.db"))
	l, err := j.Acquire(t.Context(), "r", CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		facts := []nexus.Fact{
			nexus.PromptSent{Session: "s", Message: "b"},
			nexus.ModelTurnRecorded{Session: "s", Message: "a"},
			nexus.SessionEnded{Session: "s"},
			nexus.SessionEnded{Session: "s", Result: "c"},
			nexus.GateJudged{Evidence: nexus.GateEvidence{Output: "d", Raw: "e"}},
			nexus.CriterionTestsFound{Attempt: "T1.1", Handin: "f"},
			nexus.TestsRunWithoutWork{Attempt: "T1.1", Evidence: []nexus.GateEvidence{{Output: "g"}, {All: "h", Named: "i"}}},
		}
		if _, err := l.Append(t.Context(), facts...); err != nil {
			t.Fatal(err)
		}
	}
	if r, err := j.Verify(t.Context()); err != nil || !r.Sound || !slices.Equal(r.Named, strings.Split("abcdefghi", "")) {
		t.Errorf("%+v, %v", r, err)
	}
}
