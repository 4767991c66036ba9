package pluginscmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/hooksandplugins"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ListOptions are the options of "nexus plugins list".
type ListOptions struct {
	Console *console.Console
}

// NewList returns the command "nexus plugins list". It calls run with the parsed options; nil runs
// the command.
func NewList(c *console.Console, run func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{Console: c}
	if run == nil {
		run = listPlugins
	}
	command := c.Command("list [--json]", "list plugins, their kinds, and whether they are trusted",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// listedPlugin is one plugin in the JSON output of `plugins list`.
type listedPlugin struct {
	Name     string           `json:"name"`
	Kinds    []string         `json:"kinds"`
	Command  []string         `json:"command"`
	Timeout  string           `json:"timeout"`
	Sandbox  bool             `json:"sandbox"`
	Required bool             `json:"required"`
	Own      bool             `json:"own"` // it is the user's, not the project's
	Trust    trust.TrustState `json:"trust"`
}

// listPlugins prints the declared plugins.
func listPlugins(ctx context.Context, o *ListOptions) error {
	a := o.Console
	return hooksandplugins.WithDeclarations(ctx, a, a.PluginsOfRepository, func(all []plugin.DeclaredPlugin, r *usercmd.UserCommandRunner) error {
		list := make([]listedPlugin, len(all))
		for i, p := range all {
			state, err := p.ReadTrustState(r)
			if err != nil {
				return err
			}
			list[i] = listedPlugin{p.Name, p.Kinds, p.CommandLine(), p.AnswerTimeout().String(), !p.IsUnsandboxed(), p.Required, p.Own, state}
		}
		return a.Answer(list, func(s view.OutputStyle) string { return drawPlugins(s, list) })
	})
}

func drawPlugins(s view.OutputStyle, all []listedPlugin) string {
	if len(all) == 0 {
		return "there are no plugins; docs/extend.md says how to add one\n"
	}
	var b strings.Builder
	for _, p := range all {
		figures := []string{hooksandplugins.DrawPlace(s, p.Sandbox), p.Timeout}
		if p.Required {
			figures = append(figures, "required")
		}
		command, how := view.EscapeForTerminal(strings.Join(p.Command, " ")), strings.Join(append(figures, hooksandplugins.DrawTrust(s, p.Trust)), ", ")
		fmt.Fprintf(&b, "%s, %s: %s (%s)\n", view.EscapeForTerminal(p.Name), strings.Join(p.Kinds, ", "), command, how)
	}
	return b.String()
}
