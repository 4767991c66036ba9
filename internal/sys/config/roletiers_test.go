package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestNoTierOfWhoWrites refuses a setting that would do nothing.
func TestNoTierOfWhoWrites(t *testing.T) {
	for role, refused := range map[string]bool{"coder": true, "tester": true, "reviewer": false, "planner": false} {
		file := filepath.Join(t.TempDir(), "nexus.toml")
		if err := os.WriteFile(file, []byte("\nroles."+role+".model = \"strong\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := config.LoadSources(config.SettingSources{Project: file})
		if refused != (err != nil) {
			t.Errorf("%s: %v", role, err)
		}
		if refused && err != nil && !strings.Contains(err.Error(), "nexus.toml:2: roles."+role+`.model = "strong" has no effect`) {
			t.Errorf("%s: %v", role, err)
		}
	}
}
