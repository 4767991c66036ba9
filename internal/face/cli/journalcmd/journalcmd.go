// Package journalcmd implements the commands that verify, print, copy and repair the journal:
// "nexus journal" and those below it. The commands "nexus export" and "nexus import" use it too.
package journalcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// New returns the command "nexus journal" with those below it.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("journal", "verify, print and back up the journal", NewVerify(c, nil), NewExport(c, nil), NewImport(c, nil),
		NewShow(c, nil), NewBackup(c, nil), NewRestore(c, nil), NewRepair(c, nil))
}

// openJournal opens the repository and its journal, which must exist.
func openJournal(ctx context.Context, a *console.Console) (*app.Repository, error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err == nil && p.Journal == nil {
		_, err = p.FindRun(ctx, "")
	}
	return p, err
}
