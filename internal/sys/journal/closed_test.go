package journal_test

import (
	"errors"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestNothingIsDoneWithAClosedJournal: whoever does something with a journal that was closed
// gets an error with what to do, and takes it for no empty one.
func TestNothingIsDoneWithAClosedJournal(t *testing.T) {
	path, j, l := leaseHeldError(t)
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for name, do := range deeds {
		err := do(t.Context(), j, l, t.TempDir())
		if name == "Backup" { // it opens the file itself
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e, ok := errors.AsType[*nexus.Error](err); !ok || e.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := events(t, path); n != 10 {
		t.Errorf("there are %d events", n)
	}
}
