package pluginscmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/hooksandplugins"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestOptions are the options of "nexus plugins test".
type TestOptions struct {
	Console *console.Console
	Name    string // of the plugin
}

// NewTest returns the command "nexus plugins test". It calls run with the parsed options; nil runs
// the command.
func NewTest(c *console.Console, run func(context.Context, *TestOptions) error) *cobra.Command {
	o := &TestOptions{Console: c}
	if run == nil {
		run = testPlugin
	}
	command := c.Command("test NAME [--json]", "ask a plugin sample questions, and check its answers",
		func(ctx context.Context, args []string) error {
			o.Name = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	c.JSONFlag(command)
	return command
}

// testedPlugin is the JSON output of `plugins test`.
type testedPlugin struct {
	Plugin string                     `json:"plugin"`
	OK     bool                       `json:"ok"`
	Tests  []plugin.ConformanceResult `json:"tests"`
}

// testPlugin checks that a plugin follows the protocol.
func testPlugin(ctx context.Context, o *TestOptions) error {
	a, name := o.Console, o.Name
	return hooksandplugins.WithDeclarations(ctx, a, a.PluginsOfRepository, func(all []plugin.DeclaredPlugin, r *usercmd.UserCommandRunner) error {
		i := slices.IndexFunc(all, func(p plugin.DeclaredPlugin) bool { return p.Name == name })
		if i < 0 {
			return app.NotFoundError("plugin", name, "nexus plugins list shows them.")
		}
		tests, err := all[i].CheckConformance(ctx, r, a.Now())
		if err != nil {
			return err
		}
		t := testedPlugin{name, !slices.ContainsFunc(tests, func(c plugin.ConformanceResult) bool { return !c.OK }), tests}
		if err := a.Answer(t, func(s view.OutputStyle) string { return drawTestedPlugin(s, t) }); err != nil {
			return err
		}
		if !t.OK {
			return console.ExitError(console.CodeFailed)
		}
		return nil
	})
}

func drawTestedPlugin(s view.OutputStyle, t testedPlugin) string {
	var b strings.Builder
	for _, c := range t.Tests {
		state := s.Bad("failed")
		if c.OK {
			state = s.Good("ok    ")
		}
		fmt.Fprintf(&b, "%s %s", state, c.Name)
		if c.Detail != "" {
			fmt.Fprintf(&b, ": %s", view.EscapeForTerminal(c.Detail))
		}
		b.WriteString("\n")
		if len(c.Answer) > 0 {
			fmt.Fprintf(&b, "       %s\n", view.EscapeForTerminal(string(c.Answer)))
		}
	}
	return b.String()
}
