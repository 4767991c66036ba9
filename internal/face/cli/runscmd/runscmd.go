// Package runscmd implements the commands that steer runs and show their progress. They read the
// journal and append requests to it, so they work from any process, whether a run is in progress
// or not.
package runscmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
)

// Commands returns the commands.
func Commands(a *console.Console, execute host.ExecuteFunc) []*cobra.Command {
	return []*cobra.Command{
		statusCommand(a), psCommand(a), metricsCommand(a), attachCommand(a), logsCommand(a), showCommand(a), diffCommand(a),
		reportCommand(a), diagnoseCommand(a), evidenceCommand(a), verifyCommand(a),
		pauseCommand(a), unpauseCommand(a), interruptCommand(a), resumeCommand(a), stopCommand(a), skipCommand(a), retryCommand(a), tellCommand(a), addCommand(a),
		answerCommand(a), approveCommand(a), landCommand(a), rejectCommand(a), reviseCommand(a), serveCommand(a, execute),
		cleanCommand(a),
	}
}
