package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/interview"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/code"
)

func toolCommand(a *console.Console) *cobra.Command {
	return a.ParentCommand("tool", "list the agents' tools, or call one", toolListCommand(a), toolCallCommand(a))
}

// toolRow is one tool in the JSON output of `tool list`.
type toolRow struct {
	llm.Tool
	ReadOnly bool `json:"read_only"`
}

// toolList is the JSON output of `tool list`.
type toolList struct {
	Tools  []toolRow        `json:"tools"`
	Writes agent.WriteScope `json:"writes"` // the part of the tree that the role may change
}

func toolListCommand(a *console.Console) *cobra.Command {
	var role string
	var offered bool
	c := a.Command("list [--role ROLE] [--mcp] [--json]", "list the tools that agents have", func(ctx context.Context, _ []string) error {
		r, err := roleOf(a, role)
		if err != nil {
			return err
		}
		set, done, err := roleTools(ctx, a, r, offered)
		if err != nil {
			return err
		}
		defer done()
		var all []toolRow
		for _, t := range set.Specs() {
			all = append(all, toolRow{t, set.ReadOnly(t.Name)})
		}
		return a.Answer(toolList{all, r.Writes}, func(s view.Style) string {
			if role != "" {
				return drawToolsInFull(s, all)
			}
			var rows [][]string
			for _, t := range all {
				rows = append(rows, []string{t.Name, view.FirstLine(t.Description)})
			}
			return view.DrawTable(s, []string{"tool", "what it does"}, rows)
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Flags().StringVar(&role, "role", "", "list only the tools of this `ROLE`")
	c.Flags().BoolVar(&offered, "mcp", false, "also list the tools of trusted MCP servers; a server that was never asked is started")
	a.JSONFlag(c)
	return c
}

func toolCallCommand(a *console.Console) *cobra.Command {
	var dir, role string
	c := a.Command("call NAME JSON [--dir DIR] [--role ROLE]", "call a tool as an agent would, and print its result", func(ctx context.Context, args []string) error {
		if !json.Valid([]byte(args[1])) {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "the input is not JSON",
				Hint: `Give an object, such as '{"path": "README.md"}'.`,
			}
		}
		set, done, err := toolSet(ctx, a, dir, role)
		if err != nil {
			return err
		}
		defer done()
		answer := set.Answer(ctx, llm.ToolCall{ID: "call", Tool: args[0], Input: json.RawMessage(args[1])})
		a.JSON = true
		return a.Answer(toolCallResult{answer.Result, answer.Changed, answer.Finished, answer.Duration.Seconds(), answer.Reached}, nil)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(2, 2)
	c.Flags().StringVar(&dir, "dir", "", "the agent's worktree `DIR`; the working directory if not given")
	c.Flags().StringVar(&role, "role", string(nexus.Coder), "use the tools and permissions of this `ROLE`")
	a.SettingFlags(c, "sandbox")
	return c
}

// toolCallResult is the output of `tool call`. A failed call is also a result.
type toolCallResult struct {
	llm.Result
	Changed  bool                `json:"changed"` // the tree may have changed
	Finished json.RawMessage     `json:"finished,omitempty"`
	Seconds  float64             `json:"seconds"`
	Reached  []nexus.HostReached `json:"reached,omitempty"` // hosts that it requested
}

// drawToolsInFull draws everything that a model receives about its tools.
func drawToolsInFull(s view.Style, all []toolRow) string {
	var b strings.Builder
	for i, t := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(s.Bold(view.Clean(t.Name)) + "\n")
		for line := range strings.SplitSeq(strings.TrimSpace(view.CleanText(t.Description)), "\n") {
			b.WriteString(strings.TrimRight(s.Wrap(line, "  "), " ") + "\n")
		}
		b.WriteString(s.Dim(s.Wrap("input: "+view.Clean(string(t.Schema)), "  ")) + "\n")
	}
	return b.String()
}

// handinSchema returns the schema of a role's submission, nil for roles that submit a summary.
func handinSchema(role nexus.Role) json.RawMessage {
	switch role {
	case nexus.Planner:
		return plan.HandinSchema()
	case nexus.Interviewer:
		return interview.HandinSchema()
	case nexus.Verifier:
		return review.VerdictSchema()
	case nexus.Reviewer:
		return review.HandinSchema()
	case nexus.Scout:
		return agent.SubagentSchema()
	default:
		return nil
	}
}

// roleOf returns a role as configured here; no role has all tools.
func roleOf(a *console.Console, name string) (agent.RoleDefinition, error) {
	if name == "" {
		return agent.RoleDefinition{Tools: tool.BuiltinNames(), Writes: agent.WriteAll}, nil
	}
	dir, err := a.WorkDir()
	if err != nil {
		return agent.RoleDefinition{}, err
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return agent.RoleDefinition{}, err
	}
	roles, err := app.LoadRoles(app.WorkTreeRoot(dir), settings)
	if err != nil {
		return agent.RoleDefinition{}, err
	}
	r, ok := roles[nexus.Role(name)]
	if !ok {
		return r, app.NotFoundError("role", name, "Use planner, coder, tester, reviewer or merger.")
	}
	return r, nil
}

// roleTools returns the tools of a role, with the tools of servers if offered is set.
func roleTools(ctx context.Context, a *console.Console, r agent.RoleDefinition, offered bool) (*tool.ToolSet, func(), error) {
	if offered {
		return openToolSet(ctx, a, "", r)
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, nil, err
	}
	env := roleToolEnv(settings, r)
	env.Dir = os.TempDir()
	set, err := tool.New(env, r.Tools...)
	return set, func() {}, err
}

// roleToolEnv returns the environment that determines the descriptions of a role's tools.
func roleToolEnv(c config.Config, r agent.RoleDefinition) tool.AgentEnvironment {
	return tool.AgentEnvironment{Writes: r.Writes != agent.WriteNothing, Handin: handinSchema(r.Name), Claims: r.Name == nexus.Tester && c.Checks != "off"}
}

func toolSet(ctx context.Context, a *console.Console, dir, role string) (*tool.ToolSet, func(), error) {
	r, err := roleOf(a, role)
	if err != nil {
		return nil, nil, err
	}
	return openToolSet(ctx, a, dir, r)
}

// openToolSet returns the tools of a role in a directory, including those of servers, and the function
// that stops the servers.
func openToolSet(ctx context.Context, a *console.Console, dir string, r agent.RoleDefinition) (*tool.ToolSet, func(), error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, nil, err
	}
	if dir == "" {
		dir, err = a.WorkDir()
	} else {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil, app.NotFoundError("directory", dir, "Name one that exists with --dir.")
	}
	box, err := app.FindSandbox(ctx, settings)
	if err != nil {
		return nil, nil, err
	}
	here, err := a.WorkDir()
	if err != nil {
		return nil, nil, err
	}
	grant, err := app.GrantInSandbox(settings.Network, app.WorkTreeRoot(here), a.TrustStore(), a.Env, box)
	if err != nil {
		return nil, nil, err
	}
	env := roleToolEnv(settings, r)
	env.Dir, env.Box, env.Net, env.Rule = dir, box, grant.GatewayForRole(string(r.Name)), r.Writes.WriteRule()
	env.Now, env.Mask, env.Rules = a.Now, a.Mask.Mask, app.PolicyRules(settings, r.Name)
	set, err := tool.New(env, r.Tools...)
	if err != nil {
		return nil, nil, err
	}
	servers, err := a.OpenServers(app.WorkTreeRoot(dir))
	if err != nil {
		set.Close()
		return nil, nil, err
	}
	leave, hush := servers.AddTools(ctx, set, r.Name, env), (&code.LanguageServers{Servers: code.ConfiguredServers(settings.Languages)}).AddTool(ctx, set, env)
	return set, func() {
		hush()
		leave()
		set.Close()
	}, nil
}
