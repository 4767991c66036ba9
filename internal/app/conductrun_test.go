package app

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// TestLetGo releases worktrees for who holds the run, and for who could not
// renew the lease in time; not for who lost the run to another process, which
// works in them.
func TestLetGo(t *testing.T) {
	for name, c := range map[string]struct {
		late  time.Duration
		taken bool
		want  bool // worktrees are released
	}{
		"held":             {0, false, true},
		"late":             {2 * leaseTTL, false, true},
		"taken by another": {2 * leaseTTL, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
			j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			lease, err := j.Acquire(t.Context(), "run", journal.CallingProcess(), leaseTTL)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(c.late)
			if c.taken {
				if _, err := j.Acquire(t.Context(), "run", journal.CallingProcess(), leaseTTL); err != nil {
					t.Fatal(err)
				}
			}
			said := 0
			released := false
			releaseWorktrees(t.Context(), &App{Report: func(AppNotice) { said++ }}, lease, func() error { released = true; return nil })
			if released != c.want || said > 0 {
				t.Errorf("released: %v, said %d times", released, said)
			}
		})
	}
}
