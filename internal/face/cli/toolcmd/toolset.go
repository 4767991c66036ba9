package toolcmd

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/interview"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/codenavigation"
)

// handinSchema returns the schema of a role's submission, nil for roles that submit a summary.
func handinSchema(role nexus.Role) json.RawMessage {
	switch role {
	case nexus.Planner:
		return plan.SubmissionSchema()
	case nexus.Interviewer:
		return interview.SubmissionSchema()
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
		return agent.RoleDefinition{Tools: tool.BuiltinToolNames(), Writes: agent.WriteAll}, nil
	}
	return a.LoadRole(name)
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
	set, err := tool.NewToolSet(env, r.Tools...)
	return set, func() {}, err
}

// roleToolEnv returns the environment that determines the descriptions of a role's tools.
func roleToolEnv(c config.Config, r agent.RoleDefinition) tool.AgentToolEnvironment {
	return tool.AgentToolEnvironment{Writes: r.Writes != agent.WriteNothing, Handin: handinSchema(r.Name), Claims: r.Name == nexus.Tester && c.Checks != "off"}
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
	grant, err := app.EnforceableEgressGrant(settings.Network, app.WorkTreeRoot(here), a.TrustStore(), a.Env, box)
	if err != nil {
		return nil, nil, err
	}
	env := roleToolEnv(settings, r)
	env.Dir, env.Box, env.Net, env.Rule = dir, box, grant.GatewayForRole(string(r.Name)), r.Writes.MakeWriteCheck()
	env.Now, env.Mask, env.Rules = a.Now, a.Mask.Mask, app.CommandPolicyContext(settings, r.Name)
	set, err := tool.NewToolSet(env, r.Tools...)
	if err != nil {
		return nil, nil, err
	}
	servers, err := a.OpenMCPServers(app.WorkTreeRoot(dir))
	if err != nil {
		set.Close()
		return nil, nil, err
	}
	leave, hush := servers.AddTools(ctx, set, r.Name, env), (&codenavigation.AgentLanguageServers{Servers: codenavigation.ConfiguredServers(settings.Languages)}).AddTool(ctx, set, env)
	return set, func() {
		hush()
		leave()
		set.Close()
	}, nil
}
