package journal_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func open(tb testing.TB) *journal.Journal {
	tb.Helper()
	return openAt(tb, filepath.Join(tb.TempDir(), "state", "journal.db"))
}

func openAt(tb testing.TB, path string) *journal.Journal {
	tb.Helper()
	j, err := journal.Open(tb.Context(), path, journal.Options{Now: time.Now, Poll: 5 * time.Millisecond})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { j.Close() })
	return j
}

func acquire(tb testing.TB, j *journal.Journal, run nexus.RunID) *journal.Lease {
	tb.Helper()
	l, err := j.Acquire(tb.Context(), run, journal.Self(), time.Minute)
	if err != nil {
		tb.Fatal(err)
	}
	return l
}
