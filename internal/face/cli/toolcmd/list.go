package toolcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// ListOptions are the options of "nexus tool list".
type ListOptions struct {
	Console *console.Console
	Role    string // whose tools are listed in full; empty: all tools, in short
	MCP     bool   // also the tools of trusted MCP servers
}

// NewList returns the command "nexus tool list". It calls run with the parsed options; nil runs the
// command.
func NewList(c *console.Console, run func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{Console: c}
	if run == nil {
		run = listTools
	}
	command := c.Command("list [--role ROLE] [--mcp] [--json]", "list the tools that agents have",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Flags().StringVar(&o.Role, "role", "", "list only the tools of this `ROLE`")
	command.Flags().BoolVar(&o.MCP, "mcp", false, "also list the tools of trusted MCP servers; a server that was never asked is started")
	c.JSONFlag(command)
	return command
}

// toolRow is one tool in the JSON output of `tool list`.
type toolRow struct {
	llm.ToolDescription
	ReadOnly bool `json:"read_only"`
}

// toolList is the JSON output of `tool list`.
type toolList struct {
	Tools  []toolRow            `json:"tools"`
	Writes agent.RoleWriteScope `json:"writes"` // the part of the tree that the role may change
}

// listTools prints the tools of a role, or of all.
func listTools(ctx context.Context, o *ListOptions) error {
	r, err := roleOf(o.Console, o.Role)
	if err != nil {
		return err
	}
	set, done, err := roleTools(ctx, o.Console, r, o.MCP)
	if err != nil {
		return err
	}
	defer done()
	var all []toolRow
	for _, t := range set.Specs() {
		all = append(all, toolRow{t, set.ReadOnly(t.Name)})
	}
	return o.Console.Answer(toolList{all, r.Writes}, func(s view.OutputStyle) string {
		if o.Role != "" {
			return drawToolsInFull(s, all)
		}
		var rows [][]string
		for _, t := range all {
			rows = append(rows, []string{t.Name, view.FirstLine(t.Description)})
		}
		return view.DrawTable(s, []string{"tool", "what it does"}, rows)
	})
}

// drawToolsInFull draws everything that a model receives about its tools.
func drawToolsInFull(s view.OutputStyle, all []toolRow) string {
	var b strings.Builder
	for i, t := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.Bold(view.EscapeForTerminal(t.Name)) + "\n")
		for line := range strings.SplitSeq(strings.TrimSpace(view.EscapeLinesForTerminal(t.Description)), "\n") {
			b.WriteString(strings.TrimRight(s.Wrap(line, "  "), " ") + "\n")
		}
		b.WriteString(s.Dim(s.Wrap("input: "+view.EscapeForTerminal(string(t.Schema)), "  ")) + "\n")
	}
	return b.String()
}
