package journal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestGone says that a journal was moved away to who still reads it, as soon as
// more of it is to be opened.
func TestGone(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "state")
	j := openAt(t, filepath.Join(dir, "journal.db"))
	l := acquire(t, j, "r1")
	if _, err := l.Append(t.Context(), nexus.RunResumed{}, nexus.RunResumed{}); err != nil {
		t.Fatal(err)
	}
	if err := j.CheckFile(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, filepath.Join(home, "away")); err != nil {
		t.Fatal(err)
	}
	wantCode(t, j.CheckFile(), nexus.CodeStorage)
	for _, err := range j.Events(t.Context(), "r1", 0) { // nothing was read before: it opens the file
		if wantCode(t, err, nexus.CodeStorage); !strings.Contains(err.Error(), "is gone") {
			t.Error(err)
		}
		return
	}
	t.Fatal("nothing was opened")
}
