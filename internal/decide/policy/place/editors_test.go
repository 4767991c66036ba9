package place_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/place"
)

// TestEditors checks that what editors run by themselves is written by people
// only, and may be read.
func TestEditors(t *testing.T) {
	for name, want := range map[string]place.Protection{
		".vscode/tasks.json": place.AgentConfig, "web/.VSCode/settings.json": place.AgentConfig, ".idea/runConfigurations/x.xml": place.AgentConfig,
		".zed/tasks.json": place.AgentConfig, ".devcontainer/devcontainer.json": place.AgentConfig, ".devcontainer.json": place.AgentConfig,
		"a/.exrc": place.AgentConfig, ".nvim.lua": place.AgentConfig, ".dir-locals.el": place.AgentConfig, "all.code-workspace": place.AgentConfig,
		"vscode/tasks.json": place.Free, "docs/vimrc.md": place.Free, "code-workspace.go": place.Free,
	} {
		if got := place.Protected(name, true); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		if got := place.Protected(name, false); got != place.Free {
			t.Errorf("%s cannot be read: %v", name, got)
		}
	}
}
