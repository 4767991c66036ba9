package pathkind_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
)

// TestEditors checks that what editors run by themselves is written by people
// only, and may be read.
func TestEditors(t *testing.T) {
	for name, want := range map[string]pathkind.ProtectionReason{
		".vscode/tasks.json": pathkind.AgentConfig, "web/.VSCode/settings.json": pathkind.AgentConfig, ".idea/runConfigurations/x.xml": pathkind.AgentConfig,
		".zed/tasks.json": pathkind.AgentConfig, ".devcontainer/devcontainer.json": pathkind.AgentConfig, ".devcontainer.json": pathkind.AgentConfig,
		"a/.exrc": pathkind.AgentConfig, ".nvim.lua": pathkind.AgentConfig, ".dir-locals.el": pathkind.AgentConfig, "all.code-workspace": pathkind.AgentConfig,
		"vscode/tasks.json": pathkind.Free, "docs/vimrc.md": pathkind.Free, "code-workspace.go": pathkind.Free,
	} {
		if got := pathkind.ProtectionOf(name, true); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if got := pathkind.ProtectionOf(name, false); got != pathkind.Free {
			t.Errorf("%s cannot be read: %v", name, got)
		}
	}
}
