package hookscmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/hooksandplugins"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ListOptions are the options of "nexus hooks list".
type ListOptions struct {
	Console *console.Console
}

// NewList returns the command "nexus hooks list". It calls run with the parsed options; nil runs the
// command.
func NewList(c *console.Console, run func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{Console: c}
	if run == nil {
		run = listHooks
	}
	command := c.Command("list [--json]", "list hooks, when they run, and whether they are trusted",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// listedHook is one hook in the JSON output of `hooks list`.
type listedHook struct {
	Name    string           `json:"name"`
	On      []string         `json:"on"`
	Command []string         `json:"command"`
	Timeout string           `json:"timeout"`
	Sandbox bool             `json:"sandbox"`
	Own     bool             `json:"own"` // it is the user's, not the project's
	Trust   trust.TrustState `json:"trust"`
}

// listHooks prints the declared hooks.
func listHooks(ctx context.Context, o *ListOptions) error {
	a := o.Console
	return hooksandplugins.WithDeclarations(ctx, a, a.HooksOfRepository, func(all []hookcmd.DeclaredHook, r *usercmd.UserCommandRunner) error {
		list := make([]listedHook, len(all))
		for i, h := range all {
			state, err := h.ReadTrustState(r)
			if err != nil {
				return err
			}
			list[i] = listedHook{h.Name, h.On, h.Command, h.TimeLimit().String(), !h.IsUnsandboxed(), h.Own, state}
		}
		return a.Answer(list, func(s view.OutputStyle) string { return drawHooks(s, list) })
	})
}

func drawHooks(s view.OutputStyle, all []listedHook) string {
	if len(all) == 0 {
		return "there are no hooks; docs/extend.md says how to add one\n"
	}
	var b strings.Builder
	for _, h := range all {
		command := view.EscapeForTerminal(strings.Join(h.Command, " "))
		fmt.Fprintf(&b, "%s at %s: %s (%s, %s, %s)\n", view.EscapeForTerminal(h.Name), strings.Join(h.On, ", "), command,
			hooksandplugins.DrawPlace(s, h.Sandbox), h.Timeout, hooksandplugins.DrawTrust(s, h.Trust))
	}
	return b.String()
}
