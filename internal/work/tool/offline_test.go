package tool

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestNoNetworkFailsAtOnce runs clients of registries without a network: each
// ends soon, and the agent reads why.
func TestNoNetworkFailsAtOnce(t *testing.T) {
	testenv.NeedToolchains(t)
	b := newBench(t, func(e *AgentToolEnvironment) {
		e.Box = box(t)
		e.Agree = func(context.Context, string, string) error { return nil }
	})
	b.write(t, "package.json", `{"name":"x","version":"1.0.0","dependencies":{"left-pad":"1.3.0"}}`)
	b.write(t, "Cargo.toml", "[package]\nname=\"x\"\nversion=\"0.1.0\"\nedition=\"2021\"\n[dependencies]\nnoserde=\"1\"\n")
	b.write(t, "src/main.rs", "fn main() {}\n")
	b.write(t, "go.mod", "module x\n\ngo 1.24\n")
	for _, c := range []struct{ tool, command string }{
		{"npx", "npx prettier --check ."},
		{"npx", "npx --yes prettier --check . 2>&1 | tail -20"},
		{"npm", "npm install"},
		{"npm", "npm install --save-dev left-pad"},
		{"npm", "npm ping"},
		{"pip", "pip install nosuch-package"},
		{"cargo", "cargo build"},
		{"cargo", "cargo add noserde"},
		{"go", "go get example.com/none"},
		{"curl", "curl -sS https://example.com/x"},
		{"wget", "wget https://example.com/x"},
		{"git", "git clone https://example.com/x.git"},
		{"gem", "gem install nosuch"},
	} {
		if !testenv.HasTool(t, c.tool) {
			continue
		}
		began := time.Now()
		b.call(t, "shell", m{"command": c.tool + " --version"})
		limit := max(5*time.Second, 10*time.Since(began)) // npx took 71 s, and pip 8: a busy machine starts each slowly
		began = time.Now()
		a := b.call(t, "shell", m{"command": c.command})
		if took := time.Since(began); took > limit {
			t.Errorf("%s: it took %s, want %s at most", c.command, took, limit)
		}
		if !strings.Contains(a.Result.Text, "\n[no network here: ") || strings.Count(a.Result.Text, "no network here") != 1 {
			t.Errorf("%s: %q", c.command, a.Result.Text)
		}
	}
	for _, command := range []string{"ls", "node -p 'process.version'", "npm --version", "cargo --version", "echo no such host"} {
		if a := b.call(t, "shell", m{"command": command}); strings.Contains(a.Result.Text, "no network") {
			t.Errorf("%s: %q", command, a.Result.Text)
		}
	}
	if testenv.HasTool(t, "npx") { // a job is told as well
		got := b.good(t, "shell", m{"command": "npx prettier --check .", "background": true})
		for range 30 {
			if strings.Contains(got, "ended") {
				break
			}
			got += b.good(t, "job", m{"id": "j1", "wait_seconds": 5})
		}
		if !strings.Contains(got, "[no network here: ") {
			t.Errorf("job: %q", got)
		}
	}
}

// TestSettingsOfflineAreOfCommandsWithoutNetwork checks that a command which has
// a way out finds none of them, and that what is set for it wins.
func TestSettingsOfflineAreOfCommandsWithoutNetwork(t *testing.T) {
	const show = `bash -c 'for v in npm_config_offline UV_OFFLINE CARGO_NET_OFFLINE YARN_ENABLE_NETWORK PIP_RETRIES COMPOSER_DISABLE_NETWORK; do echo "$v=${!v}"; done'`
	one := newBench(t, func(e *AgentToolEnvironment) {
		e.Box = box(t)
		e.Agree = func(context.Context, string, string) error { return nil }
	})
	const all = "npm_config_offline=true\nUV_OFFLINE=1\nCARGO_NET_OFFLINE=true\nYARN_ENABLE_NETWORK=false\nPIP_RETRIES=0\nCOMPOSER_DISABLE_NETWORK=1\n"
	if got := one.good(t, "shell", m{"command": show}); got != all {
		t.Errorf("without a network: %q", got)
	}
	way := (&egress.EgressGrant{}).NewGateway()
	if err := box(t).CheckEgress(); err != nil {
		testenv.NeedMachine(t, "a network with a list", err)
	}
	two := newBench(t, func(e *AgentToolEnvironment) {
		e.Box, e.Net = box(t), way
		e.Agree = func(context.Context, string, string) error { return nil }
	})
	if got := two.good(t, "shell", m{"command": show}); strings.ContainsAny(got, "10") || strings.Contains(got, "true") || strings.Contains(got, "false") {
		t.Errorf("with a network: %q", got)
	}
}
