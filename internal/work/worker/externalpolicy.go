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

// externalPolicy judges the requests of an external agent, with the same policy as for our
// own.
type externalPolicy struct {
	env tool.Env
	dir string
}

// judge decides whether a call is allowed, and if not, why. Unknown calls are left to the
// sandbox.
func (p externalPolicy) judge(ctx context.Context, c stream.Call) (nexus.Judgement, string) {
	var in struct {
		Command  string `json:"command"`
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
		Path     string `json:"path"`
	}
	_ = json.Unmarshal(c.Input, &in) // a field of another type counts as missing
	switch {
	case c.Tool == "Bash" && strings.TrimSpace(in.Command) == "":
		return denied("agent.command", "the command is missing in this request: run it in a way that shows it")
	case c.Tool == "Bash":
		j, err := p.env.Judge(ctx, in.Command)
		if err != nil {
			return j, err.Error()
		}
		return j, ""
	case c.Tool == agentcli.AskTool: // a person answers it, or the question's fallback applies
		return nexus.Judgement{Decision: string(policy.Allow), Rule: "agent.question", By: "policy"}, ""
	case c.Tool == "ExitPlanMode" || c.Tool == "EnterPlanMode":
		return denied("agent.question", "no person answers here: decide yourself, do the task, and say what you assumed")
	case c.Tool == "WebFetch" || c.Tool == "WebSearch":
		return denied("agent.network", "there is no network: use what is in the worktree")
	case strings.HasPrefix(c.Tool, "mcp__"):
		return denied("agent.mcp", "MCP servers of the agent are not used here")
	}
	write := slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit"}, c.Tool)
	for _, name := range []string{in.File, in.Notebook, in.Path} {
		if j, why := p.file(name, write); why != "" {
			return j, why
		}
	}
	return nexus.Judgement{Decision: string(policy.Allow), Rule: "agent.tool", By: "policy"}, ""
}

// file judges an agent's request to read or write a file.
func (p externalPolicy) file(name string, write bool) (nexus.Judgement, string) {
	if name == "" {
		return nexus.Judgement{}, ""
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.dir, name)
	}
	rel, err := filepath.Rel(p.dir, name)
	switch {
	case err != nil || !filepath.IsLocal(rel):
		if !write {
			return nexus.Judgement{}, "" // the sandbox contains only readable files
		}
		return denied("agent.outside", "this is outside of the worktree: change files in "+p.dir+" only")
	case write && p.env.Rule != nil:
		if err := p.env.Rule(filepath.ToSlash(rel)); err != nil {
			return denied("role.writes", err.Error())
		}
	}
	if d := policy.JudgePath(filepath.ToSlash(rel), write); d.Decision == policy.Deny {
		return nexus.Judgement{Decision: string(d.Decision), Rule: d.Rule, Why: d.Reason, By: "policy", Refused: true}, d.Reason + " (" + d.Rule + ")"
	}
	return nexus.Judgement{}, ""
}

func denied(rule, why string) (nexus.Judgement, string) {
	return nexus.Judgement{Decision: string(policy.Deny), Rule: rule, Why: why, By: "policy", Refused: true}, why
}
