// Package checkpointcmd implements the commands that name points of runs and go back to them:
// checkpoints, rewind, fork and undo.
package checkpointcmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{checkpointCommand(a), rewindCommand(a), forkCommand(a), undoCommand(a)}
}

const (
	farewell = 60 * time.Second // time to wait for a run to stop
	again    = 50 * time.Millisecond
)

// stopAndWait stops a run that has a conductor at once, and waits until it has none.
func stopAndWait(ctx context.Context, a *console.Console, p *app.Repository, run nexus.RunID) error {
	ctx, cancel := context.WithTimeoutCause(ctx, farewell, &nexus.Error{
		Code: nexus.CodeRunHeld, Message: "run " + string(run) + " does not stop", Hint: "See nexus status; nothing was changed.",
	})
	defer cancel()
	if _, err := p.Journal.Ask(ctx, run, nexus.Request{Verb: nexus.VerbStop, Now: true, By: a.UserName()}); err != nil {
		return err
	}
	for {
		r, err := p.Run(ctx, string(run))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil || r.Holder == nil:
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
