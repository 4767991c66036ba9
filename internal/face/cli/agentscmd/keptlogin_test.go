package agentscmd

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestKeptLogin shows a person where the only copy of a renewed login is.
func TestKeptLogin(t *testing.T) {
	one := app.AgentInstallation{CLIAgentProgram: agentcli.CLIAgentProgram{Name: "codex", Command: "codex"}, File: "/bin/codex", LoggedIn: true, Trusted: true}
	said := app.AgentProgramInfo{Kept: []string{".codex/auth.json: yours is newer"}, Home: "/tmp/nexus-agent-1/home"}
	got := drawAgents(view.OutputStyle{}, []agentProgram{listedAgent(one, said)})
	for _, want := range []string{"a login that it renewed was not written back: .codex/auth.json: yours is newer\n", "it is still in /tmp/nexus-agent-1/home;"} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q:\n%s", want, got)
		}
	}
}
