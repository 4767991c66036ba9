package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// looks is how often it is looked whether a journal is still there.
const looks = time.Second

// There says that the journal of a repository's state is gone: what is open of it
// can still be read, and would be shown for ever.
func There(state string) error {
	_, err := os.Stat(filepath.Join(state, "journal.db"))
	if !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeStorage, Message: "the journal in " + state + " is gone",
		Hint: "Somebody removed or moved the repository's state while it was shown. Put it back, or start a run; then start this command again.",
	}
}

// Stay waits until the journal is gone, and says so, or until the context ends.
func Stay(ctx context.Context, state string) error {
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			if err := There(state); err != nil {
				return err
			}
		}
	}
}
