package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
)

// file writes a file of settings and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nexus.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNetwork(t *testing.T) {
	modules, err := egress.PresetHosts("go")
	if err != nil || len(modules) < 2 {
		t.Fatal(modules, err)
	}
	packages, err := egress.PresetHosts("npm")
	if err != nil {
		t.Fatal(err)
	}
	open, shut := modules[0], modules[1] // of one preset, of which the project refuses a part
	user := file(t, "[network]\nmode = \"list\"\nallow = [\"a.example\", \"go\"]\ndeny = [\"evil.example\"]\n")
	project := file(t, "[network]\nallow = [\"b.example:8443\", \"evil.example\", \"npm\"]\ngates = [\"install\"]\nroles = [\"tester\"]\ndeny = [\""+shut+"\"]\n")
	c, _, err := config.LoadSources(config.SettingSources{User: user, Project: project})
	if err != nil {
		t.Fatal(err)
	}
	want := config.NetworkAccessSettings{
		Mode: "list", Allow: []string{"a.example", "go", "b.example:8443", "evil.example", "npm"}, Deny: []string{"evil.example", shut},
		Gates: []string{"install"}, Roles: []string{"tester"},
	}
	if d := cmp.Diff(want, c.Network); d != "" {
		t.Error(d)
	}
	g, err := c.Network.EgressGrant(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	w := g.GatewayForGate("install")
	for host, want := range map[string]bool{"a.example": true, open: true, packages[0]: true, shut: false, "evil.example": false, "c.example": false} {
		if w.CanReach(host, 443) != want {
			t.Errorf("%s: %v", host, !want)
		}
	}
	if g.GatewayForRole("coder") != nil || g.GatewayForRole("tester") == nil {
		t.Error("roles")
	}
	c, _, err = config.LoadSources(config.SettingSources{Project: project})
	if g, gErr := c.Network.EgressGrant(os.Getenv); err != nil || gErr != nil || g != nil {
		t.Errorf("the project's file alone opens the network: %v, %v", err, gErr)
	}
	for _, bad := range []string{`mode = "list"`, `upstream = true`} {
		if _, _, err := config.LoadSources(config.SettingSources{Project: file(t, "[network]\n"+bad)}); err == nil || !strings.Contains(err.Error(), "the project's file may not set") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{`mode = "on"`, `allow = ["*"]`, `allow = ["a b"]`, `allow = "a.example"`, `deny = ["http://x"]`, `gates = ["a b"]`, `hosts = []`} {
		if _, _, err := config.LoadSources(config.SettingSources{User: file(t, "[network]\n"+bad)}); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func TestAsks(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "[gates]\ntest = \"x\"\n": "", "[network]\ndeny = [\"*\"]\n": "", "[network]\nallow = []\n": "", "network = 3": "",
		"[network]\nroles = [\"coder\"]\nallow = [\"b.example\", \"a.example\"]\n": "allow = [\"a.example\", \"b.example\"]\nroles = [\"coder\"]\n",
		"network.gates = [\"install\"]":                                            "gates = [\"install\"]\n",
	} {
		if got, err := config.RequestedNetwork(filepath.Dir(file(t, text))); got != want || err != nil {
			t.Errorf("%q asks %q: %v", text, got, err)
		}
	}
	if got, err := config.RequestedNetwork(t.TempDir()); got != "" || err != nil {
		t.Errorf("no file asks %q: %v", got, err)
	}
	if _, err := config.RequestedNetwork(filepath.Dir(file(t, "[network"))); err == nil {
		t.Error("no TOML asks nothing")
	}
}
