package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/mcptools"
)

// checkServers asks each trusted MCP server for its tools, and reports why the others are not
// used.
func checkServers(ctx context.Context, a *console.Console, box *sandbox.Box) []Check {
	dir, err := a.WorkDir()
	if err != nil {
		return []Check{checkOf("mcp", "", err)}
	}
	dir = app.WorkTreeRoot(dir)
	all, err := a.MCPServers(dir)
	if err != nil {
		return []Check{checkOf("mcp", "", err)}
	}
	var checks []Check
	for _, s := range all {
		c := Check{Name: "mcp " + s.Name, State: Notice}
		switch {
		case s.Why != nil:
			c.Detail, c.Hint = sanitize.RevealHidden(s.Why.Error()), "Fix it in "+s.From+", or declare it in your own configuration."
		case s.State != trust.StateTrusted:
			c.Detail, c.Hint = "it is not trusted ("+string(s.State)+")", "Read what it would run with nexus trust, then trust it with nexus trust --yes."
		default:
			c = checkServer(ctx, a, box, dir, s)
		}
		checks = append(checks, c)
	}
	return checks
}

// checkServer starts a server or connects to it.
func checkServer(ctx context.Context, a *console.Console, box *sandbox.Box, dir string, s app.MCPServerTrust) Check {
	c := Check{Name: "mcp " + s.Name, State: Notice, Hint: "Agents work without its tools."}
	tmp, err := os.MkdirTemp("", "nexus-doctor-")
	if err != nil {
		return checkOf("temporary files", "", err)
	}
	defer func() { _ = os.RemoveAll(tmp) }() // a temporary directory
	all := &mcptools.RunMCPServers{Text: map[string]string{s.Name: s.Text}, Root: dir, Book: a.TrustStore(), Env: a.Env, Way: a.MCPServerEgress()}
	env := tool.AgentToolEnvironment{Dir: dir, Box: box, Vars: sandbox.AgentCommandEnv()}
	if !box.HidesHost() {
		env.Tmp = tmp
	}
	tools, open, err := all.ProbeServer(ctx, s.DeclaredServer, env)
	switch {
	case err != nil:
		c.Detail = err.Error()
	case len(open) > 0:
		c.Detail = fmt.Sprintf("%s, with descriptions that are not trusted: %s", view.CountWithNoun(tools, "tool"), strings.Join(slices.Sorted(slices.Values(open)), ", "))
		c.Hint = "Read it with nexus trust, then trust it with nexus trust --yes."
	default:
		c.State, c.Detail, c.Hint = Fine, view.CountWithNoun(tools, "tool")+", from "+s.From, ""
	}
	return c
}
