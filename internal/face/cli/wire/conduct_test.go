package wire

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/wire/hold"
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
		"late":             {2 * hold.TTL, false, true},
		"taken by another": {2 * hold.TTL, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
			j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"), journal.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			lease, err := j.Acquire(t.Context(), "run", journal.Self(), hold.TTL)
			if err != nil {
				t.Fatal(err)
			}
			now = now.Add(c.late)
			if c.taken {
				if _, err := j.Acquire(t.Context(), "run", journal.Self(), hold.TTL); err != nil {
					t.Fatal(err)
				}
			}
			var said bytes.Buffer
			released := false
			letGo(t.Context(), &frame.Console{Out: &said, Err: &said}, lease, func() error { released = true; return nil })
			if released != c.want || said.Len() > 0 {
				t.Errorf("released: %v, said %q", released, said.String())
			}
		})
	}
}
