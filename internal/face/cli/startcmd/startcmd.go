// Package startcmd holds the commands that start work on a goal, or prepare it.
package startcmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{
		demoCommand(a), initCommand(a), newCommand(a), doctorCommand(a), planCommand(a), promptCommand(a), interviewCommand(a), runCommand(a), quickCommand(a), agentCommand(a),
	}
}

// RunCommand returns the command that works on a goal, for one that finds the goal itself.
func RunCommand(a *console.Console) *cobra.Command { return runCommand(a) }

// PlanCommand returns the command that plans a goal, for one that finds the goal itself.
func PlanCommand(a *console.Console) *cobra.Command { return planCommand(a) }
