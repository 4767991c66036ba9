package worker

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// externalAgentPolicy judges the requests of an external agent, with the same policy as for our
// own.
type externalAgentPolicy struct {
	env tool.AgentToolEnvironment
	dir string
}

// judgeCall decides whether a call is allowed, and if not, why. Unknown calls are left to the
// sandbox.
func (p externalAgentPolicy) judgeCall(ctx context.Context, c stream.AgentToolCall) (nexus.ToolCallDecision, string) {
	var in struct {
		Command  string `json:"command"`
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Path     string `json:"path"`
	}
	_ = json.Unmarshal(c.Input, &in) // a field of another type counts as missing
	switch {
	case c.Tool == "Bash" && strings.TrimSpace(in.Command) == "":
		return denyByPolicy("agent.command", "the command is missing in this request: run it in a way that shows it")
	case c.Tool == "Bash":
		j, err := p.env.JudgeCommand(ctx, in.Command)
		if err != nil {
			return j, err.Error()
		}
		return j, ""
	case c.Tool == agentcli.AskTool: // a person answers it, or the question's fallback applies
		return nexus.ToolCallDecision{Decision: string(policy.Allow), Rule: "agent.question", By: "policy"}, ""
	case c.Tool == "ExitPlanMode" || c.Tool == "EnterPlanMode":
		return denyByPolicy("agent.question", "no person answers here: decide yourself, do the task, and say what you assumed")
	case c.Tool == "WebFetch" || c.Tool == "WebSearch":
		return denyByPolicy("agent.network", "there is no network: use what is in the worktree")
	case strings.HasPrefix(c.Tool, "mcp__"):
		return denyByPolicy("agent.mcp", "MCP servers of the agent are not used here")
	}
	write := slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit"}, c.Tool)
	for _, name := range []string{in.File, in.Notebook, in.Path} {
		if j, why := p.judgeFileAccess(name, write); why != "" {
			return j, why
		}
	}
	return nexus.ToolCallDecision{Decision: string(policy.Allow), Rule: "agent.tool", By: "policy"}, ""
}

// judgeFileAccess judges an agent's request to read or write a file.
func (p externalAgentPolicy) judgeFileAccess(name string, write bool) (nexus.ToolCallDecision, string) {
	if name == "" {
		return nexus.ToolCallDecision{}, ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.dir, name)
	}
	rel, err := filepath.Rel(p.dir, name)
	switch {
	case err != nil || !filepath.IsLocal(rel):
		if !write {
			return nexus.ToolCallDecision{}, "" // the sandbox contains only readable files
		}
		return denyByPolicy("agent.outside", "this is outside of the worktree: change files in "+p.dir+" only")
	case write && p.env.Rule != nil:
		if err := p.env.Rule(filepath.ToSlash(rel)); err != nil {
			return denyByPolicy("role.writes", err.Error())
		}
	}
	if d := policy.JudgePath(filepath.ToSlash(rel), write); d.Decision == policy.Deny {
		return nexus.ToolCallDecision{Decision: string(d.Decision), Rule: d.Rule, Why: d.Reason, By: "policy", Refused: true}, d.Reason + " (" + d.Rule + ")"
	}
	return nexus.ToolCallDecision{}, ""
}

func denyByPolicy(rule, why string) (nexus.ToolCallDecision, string) {
	return nexus.ToolCallDecision{Decision: string(policy.Deny), Rule: rule, Why: why, By: "policy", Refused: true}, why
}
