package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// oldName is a name that a command had in the last release.
type oldName struct{ name, now string }

// oldNames are the commands that became a part of another one. The next release removes them.
func oldNames() []oldName {
	return []oldName{
		{"show", "status --result"},
		{"report", "status --report"},
		{"evidence", "status --evidence"},
		{"trace", "status --trace"},
		{"history", "runs --stats"},
		{"metrics", "runs --metrics"},
		{"ps", "runs --active"},
		{"rewind", "checkpoint restore"},
		{"fork", "checkpoint fork"},
		{"pause", "stop --pause"},
		{"interrupt", "stop --turn"},
		{"skip", "stop --skip"},
		{"unpause", "resume"},
	}
}

// hiddenCommands returns the commands that run what replaces an old name, with the same arguments.
func hiddenCommands(a *console.Console) (all []*cobra.Command) {
	for _, old := range oldNames() {
		c := a.Command(old.name, "an old name of nexus "+old.now, func(ctx context.Context, args []string) error {
			return executeCommand(ctx, a, slices.Concat(strings.Fields(old.now), args))
		}, console.CodeOK, console.CodeUsage)
		c.Args, c.DisableFlagParsing = console.ArgCount(0, -1), true
		all = append(all, a.HiddenAlias(c, "nexus "+old.now))
	}
	return all
}
