package host

import (
	"context"
	"path/filepath"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// looks is how often it is looked whether a journal is still there.
const looks = time.Second

// Stay waits until the journal is gone, and says so, or until the context ends.
func Stay(ctx context.Context, state string) error {
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := journal.Gone(filepath.Join(state, "journal.db")); err != nil {
				return err
			}
		}
	}
}
