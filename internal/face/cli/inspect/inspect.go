// Package inspect implements the commands that show internals: settings, tools, the policy, the
// sandbox, the journal, and this binary itself.
package inspect

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{
		configCommand(a), modelsCommand(a), agentsCommand(a), toolCommand(a), policyCommand(a), sandboxCommand(a), trustCommand(a), hooksCommand(a), pluginsCommand(a), rulesCommand(a), mapCommand(a), generateCommand(a), journalCommand(a), exportCommand(a), importCommand(a), completionCommand(a), versionCommand(a), gocacheCommand(a),
	}
}
