package config_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestNamedFlag holds that a mistake in a flag is told by the flag's name, and where the value comes from stays its key.
func TestNamedFlag(t *testing.T) {
	s := config.SettingSources{Flags: map[string]string{"budget.run": "abc"}, Named: map[string]string{"budget.run": "--budget"}}
	if _, _, err := config.LoadSources(s); err == nil || !strings.Contains(err.Error(), `configuration: --budget wants a number of dollars`) {
		t.Error(err)
	}
	s.Flags["budget.run"] = "3"
	if _, o, err := config.LoadSources(s); err != nil || o.OriginOf("budget.run") != (config.SettingOrigin{Layer: config.LayerFlag, Where: "budget.run"}) {
		t.Error(err, o.OriginOf("budget.run"))
	}
}
