package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

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

// testedPlugin is the JSON output of `plugins test`.
type testedPlugin struct {
	Plugin string                    `json:"plugin"`
	OK     bool                      `json:"ok"`
	Tests  []plugin.ConformanceCheck `json:"tests"`
}

func pluginsCommand(a *console.Console) *cobra.Command {
	const lists = "list plugins, their kinds, and whether they are trusted"
	list := a.Command("list [--json]", lists, func(ctx context.Context, _ []string) error {
		return listPlugins(ctx, a)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	list.Args = console.ArgCount(0, 0)
	a.JSONFlag(list)
	const tests = "ask a plugin sample questions, and check its answers"
	test := a.Command("test NAME [--json]", tests, func(ctx context.Context, args []string) error {
		return testPlugin(ctx, a, args[0])
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	test.Args = console.ArgCount(1, 1)
	a.JSONFlag(test)
	return a.ParentCommand("plugins", "show and try programs that answer questions", list, test)
}

func listPlugins(ctx context.Context, a *console.Console) error {
	return withDeclarations(ctx, a, a.PluginsFor, func(all []plugin.DeclaredPlugin, r *usercmd.UserCommandRunner) error {
		list := make([]listedPlugin, len(all))
		for i, p := range all {
			state, err := p.ReadTrustState(r)
			if err != nil {
				return err
			}
			list[i] = listedPlugin{p.Name, p.Kinds, p.CommandLine(), p.AnswerTimeout().String(), !p.IsUnsandboxed(), p.Required, p.Own, state}
		}
		return a.Answer(list, func(s view.Style) string { return drawPlugins(s, list) })
	})
}

func drawPlugins(s view.Style, all []listedPlugin) string {
	if len(all) == 0 {
		return "there are no plugins; docs/extend.md says how to add one\n"
	}
	var b strings.Builder
	for _, p := range all {
		figures := []string{drawPlace(s, p.Sandbox), p.Timeout}
		if p.Required {
			figures = append(figures, "required")
		}
		command, how := view.Clean(strings.Join(p.Command, " ")), strings.Join(append(figures, drawTrusted(s, p.Trust)), ", ")
		fmt.Fprintf(&b, "%s, %s: %s (%s)\n", view.Clean(p.Name), strings.Join(p.Kinds, ", "), command, how)
	}
	return b.String()
}

// testPlugin checks that a plugin follows the protocol.
func testPlugin(ctx context.Context, a *console.Console, name string) error {
	return withDeclarations(ctx, a, a.PluginsFor, func(all []plugin.DeclaredPlugin, r *usercmd.UserCommandRunner) error {
		i := slices.IndexFunc(all, func(p plugin.DeclaredPlugin) bool { return p.Name == name })
		if i < 0 {
			return app.NotFoundError("plugin", name, "nexus plugins list shows them.")
		}
		tests, err := all[i].CheckConformance(ctx, r, a.Now())
		if err != nil {
			return err
		}
		t := testedPlugin{name, !slices.ContainsFunc(tests, func(c plugin.ConformanceCheck) bool { return !c.OK }), tests}
		if err := a.Answer(t, func(s view.Style) string { return drawTestedPlugin(s, t) }); err != nil {
			return err
		}
		if !t.OK {
			return console.ExitError(console.CodeFailed)
		}
		return nil
	})
}

func drawTestedPlugin(s view.Style, t testedPlugin) string {
	var b strings.Builder
	for _, c := range t.Tests {
		state := s.Bad("failed")
		if c.OK {
			state = s.Good("ok    ")
		}
		fmt.Fprintf(&b, "%s %s", state, c.Name)
		if c.Detail != "" {
			fmt.Fprintf(&b, ": %s", view.Clean(c.Detail))
		}
		b.WriteString("\n")
		if len(c.Answer) > 0 {
			fmt.Fprintf(&b, "       %s\n", view.Clean(string(c.Answer)))
		}
	}
	return b.String()
}
