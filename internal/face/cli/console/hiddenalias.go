package console

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// replacementKey is the annotation of an old command that names the command line to use instead.
const replacementKey = "nexus-replacement"

// HiddenAlias makes a command an old name that still works for one release: help, completion,
// suggestions and docs/cli leave it out, and each use tells a person at the terminal the
// command line that replaces it, such as "nexus status --report". The commands below it get the same message.
func (a *Console) HiddenAlias(command *cobra.Command, replacement string) *cobra.Command {
	command.Hidden = true
	a.announceReplacement(command, replacement)
	return command
}

func (a *Console) announceReplacement(command *cobra.Command, replacement string) {
	command.Annotations[replacementKey] = replacement
	run := command.RunE
	command.RunE = func(c *cobra.Command, args []string) error {
		quiet := slices.Contains(args, "-q") || slices.Contains(args, "--quiet") // not parsed yet if the replacement parses it
		if a.HasPerson() && !quiet {
			a.Say("%s", view.EscapeForTerminal(replacementText(c)))
		}
		return run(c, args)
	}
	for _, child := range command.Commands() {
		a.announceReplacement(child, replacement)
	}
}

// IsHiddenAlias reports whether a command is an old name.
func IsHiddenAlias(c *cobra.Command) bool { return c.Annotations[replacementKey] != "" }

// replacementText describes what replaces an old command; empty for every other command.
func replacementText(c *cobra.Command) string {
	if !IsHiddenAlias(c) {
		return ""
	}
	return c.CommandPath() + " is an old name, which the next release removes; use " + c.Annotations[replacementKey]
}
