package memory_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/work/memory"
)

// record returns the memory of a place with a journal, to which runs are added.
func (p place) record(t *testing.T) *memory.MemoryEntryRetriever {
	t.Helper()
	now := func() time.Time { return time.Date(2026, 11, 26, 0, 0, 0, 0, time.UTC) }
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	blobs := func() (*journal.BlobStore, error) { return journal.OpenBlobStore(filepath.Join(p.State, "blobs")) }
	return &memory.MemoryEntryRetriever{MemoryEntryStore: p.MemoryEntryStore, Record: memory.RepositoryRunRecords{Journal: j, Repo: p.repo, Blobs: blobs}, Tokens: 1000, Now: now}
}

// answered adds a run in which a person answered a question, and that landed.
func answered(t *testing.T, b *memory.MemoryEntryRetriever, run nexus.RunID, commit, answer string) {
	t.Helper()
	l, err := b.Record.Journal.Acquire(t.Context(), run, journal.CallingProcess(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(t.Context(),
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Do it", Files: []string{"a.go"}}},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"},
		nexus.QuestionAsked{ID: "q1", Attempt: "T1.1", Text: "Which?", Trigger: humaninput.AmbiguityTrigger},
		nexus.QuestionAnswered{ID: "q1", Text: answer, By: "ada"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"}, nexus.LandingStarted{Task: "T1", Attempt: "T1.1"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: commit},
	); err != nil {
		t.Fatal(err)
	}
}

// catchUp catches up, and returns the first lines of what is kept then.
func catchUp(t *testing.T, b *memory.MemoryEntryRetriever, fault string) (texts string) {
	t.Helper()
	if err := b.LearnFromNewRuns(t.Context()); (err != nil) != (fault != "") || err != nil && !strings.Contains(err.Error(), fault) {
		t.Errorf("%v, want %q", err, fault)
	}
	all, problems, err := b.LoadEntries()
	if err != nil || len(problems) > 0 {
		t.Fatalf("%+v, %v", problems, err)
	}
	for _, k := range all {
		texts += k.Text
	}
	return texts
}

// TestCatchUp learns from other runs where one cannot be read, which it tries
// again next time.
func TestCatchUp(t *testing.T) {
	p := newPlace(t)
	b := p.record(t)
	missing := strings.Repeat("1", 40)
	answered(t, b, "r1", missing, "north")
	answered(t, b, "r2", p.last, "south")
	if texts := catchUp(t, b, "learn from run r1: "); !strings.Contains(texts, "south") || strings.Contains(texts, "north") {
		t.Errorf("%q", texts)
	}
	if err := os.RemoveAll(filepath.Join(p.State, "memory")); err != nil {
		t.Fatal(err)
	}
	if texts := catchUp(t, b, "learn from run r1: "); texts != "" { // r2 was looked at
		t.Errorf("%q", texts)
	}
}

// TestManyWait learns from a run again that proposed what there was no room for.
func TestManyWait(t *testing.T) {
	p := newPlace(t)
	b := p.record(t)
	answered(t, b, "r1", p.last, "south")
	answered(t, b, "r2", p.last, "north, as ships come from there when ice is thin")
	for i := range 500 {
		e := memoryentry.MemoryEntry{Kind: memoryentry.Pattern, State: memoryentry.Proposed, Text: "Another."}
		gittest.WriteFiles(t, p.State, map[string]string{fmt.Sprintf("memory/%d.md", i): e.String()})
	}
	if texts := catchUp(t, b, "500 proposals wait for a person"); strings.Contains(texts, "south") {
		t.Errorf("%q", texts)
	}
	if err := os.RemoveAll(filepath.Join(p.State, "memory")); err != nil {
		t.Fatal(err)
	}
	if texts := catchUp(t, b, ""); !strings.Contains(texts, "south") || !strings.Contains(texts, "north") {
		t.Errorf("%q", texts)
	}
}

// TestReadBack writes no proposal that its own parser refuses.
func TestReadBack(t *testing.T) {
	p := newPlace(t)
	p.Mask = func(data []byte) []byte { return []byte(strings.ReplaceAll(string(data), "kind: fix", "[masked]")) } // as if that were a key
	p.learn(t, p.run("a.go", ""), 0)
}

// TestPathsArePaths looks up paths as they are, not as git's patterns.
func TestPathsArePaths(t *testing.T) {
	p := newPlace(t)
	got, err := memory.BlobIDsOfPaths(t.Context(), p.repo, p.last, []string{":(icase)A.go", ":x", "*.go", "a.go"})
	if err != nil || len(got) != 1 || got["a.go"] == "" {
		t.Errorf("%v, %v", got, err)
	}
}
