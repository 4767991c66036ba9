package clone

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/notes"
)

// Note edits the notes of commits of the user's repository, in one commit on
// [notes.Ref]. It is idempotent where the edits are.
func (c *Clone) Note(ctx context.Context, edits map[string]notes.Edit) error {
	return notes.Write(ctx, c.user, c.git.Dir, edits)
}
