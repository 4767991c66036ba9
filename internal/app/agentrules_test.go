package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// TestCustomsStayInTheRepository has a repository whose files are links to
// what is the user's own.
func TestCustomsStayInTheRepository(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	role := "---\ntier: fast\ntools: [read_file, finish]\n---\nsecret\n"
	for _, c := range []struct {
		name, to string
		good     bool
	}{
		{"AGENTS.md", secret, false},
		{"AGENTS.md", "/dev/zero", false},
		{".nexus/roles/coder.md", secret, false},
		{"AGENTS.md", "CLAUDE.md", true},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{secret: role, filepath.Join(dir, "CLAUDE.md"): "rules"} {
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(filepath.Join(dir, ".nexus", "roles"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(c.to, filepath.Join(dir, c.name)); err != nil {
			t.Fatal(err)
		}
		roles, rules, err := customs(dir)
		if (err == nil) != c.good {
			t.Errorf("%s to %s: %v", c.name, c.to, err)
		}
		if c.good && (rules != "rules" || roles[nexus.Coder].Prompt == "") {
			t.Errorf("%s to %s: rules %q, %d roles", c.name, c.to, rules, len(roles))
		}
	}
	if roles, rules, err := customs(t.TempDir()); err != nil || rules != "" || len(roles) == 0 {
		t.Errorf("an empty repository: %d roles, %q, %v", len(roles), rules, err)
	}
}

// customs returns the roles of a repository, and the text of its rules.
func customs(dir string) (map[nexus.Role]agent.RoleDefinition, string, error) {
	roles, err := LoadRoleDefinitions(dir, config.DefaultConfig())
	if err != nil {
		return nil, "", err
	}
	set, err := loadAgentRules(dir, config.DefaultConfig(), func(string) string { return "" }, nil)
	if err != nil {
		return nil, "", err
	}
	var text strings.Builder
	for _, r := range set.AlwaysApplicable().Rules {
		text.WriteString(r.Text)
	}
	return roles, text.String(), CheckAgentRules(set, nil)
}
