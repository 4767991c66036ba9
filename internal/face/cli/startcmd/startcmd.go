// Package startcmd implements the commands that start work on a goal, or prepare it.
package startcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{
		newCommand(a), planCommand(a), interviewCommand(a), runCommand(a), quickCommand(a),
	}
}

// StartProject turns an idea in an empty directory into a run, as nexus new does.
func StartProject(ctx context.Context, a *console.Console, dir string, o *progress.RunCommandOptions) error {
	return newProject{}.startProject(ctx, a, dir, o)
}
