package app_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// TestWithAgents holds who does the sessions of a user who set nothing up.
func TestWithAgents(t *testing.T) {
	for name, c := range map[string]struct {
		installed, loggedIn, trusted []string
		key                          bool
		set                          string // roles.tester.agent
		coder, reviewer              string
		code                         nexus.ErrorCode
	}{
		"nothing":                {},
		"one":                    {installed: []string{"claude"}, loggedIn: []string{"claude"}, trusted: []string{"claude"}, coder: "claude", reviewer: "claude"},
		"two":                    {installed: []string{"claude", "codex"}, loggedIn: []string{"claude", "codex"}, trusted: []string{"claude", "codex"}, coder: "claude,codex", reviewer: "codex,claude"},
		"two, one trusted":       {installed: []string{"claude", "codex"}, loggedIn: []string{"claude", "codex"}, trusted: []string{"codex"}, coder: "codex", reviewer: "codex"},
		"trusted, not logged in": {installed: []string{"claude"}, trusted: []string{"claude"}},
		"logged in, not there":   {loggedIn: []string{"claude"}, trusted: []string{"claude"}},
		"not trusted":            {installed: []string{"claude"}, loggedIn: []string{"claude"}, code: nexus.CodeUntrusted},
		"a key is set":           {installed: []string{"claude"}, loggedIn: []string{"claude"}, trusted: []string{"claude"}, key: true},
		"a role names one":       {installed: []string{"claude"}, loggedIn: []string{"claude"}, trusted: []string{"claude"}, set: "claude"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			vars := map[string]string{"HOME": home, "PATH": filepath.Join(home, "bin"), "XDG_STATE_HOME": filepath.Join(home, "state")}
			if c.key {
				vars["ANTHROPIC_API_KEY"] = "sk-ant-key"
			}
			write := func(name string, mode os.FileMode) {
				at := filepath.Join(home, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte("{}"), mode)); err != nil {
					t.Fatal(err)
				}
			}
			a := &app.App{Env: func(name string) string { return vars[name] }, Now: time.Now}
			for _, one := range c.installed {
				write("bin/"+one, 0o755)
			}
			var conf config.Config
			if c.set != "" {
				conf.Roles = map[nexus.Role]config.RoleSettings{nexus.Tester: {Agent: c.set}}
			}
			for _, one := range c.loggedIn {
				write(map[string]string{"claude": ".claude/.credentials.json", "codex": ".codex/auth.json"}[one], 0o600)
			}
			for _, one := range c.trusted {
				p, err := app.FindAgentProgram(conf, a.Env, one)
				if err != nil {
					t.Fatal(err)
				}
				if err := a.TrustStore().RecordTrust(t.Context(), app.AgentTrustKey, []trust.TrustItem{app.AgentTrustItem(p)}); err != nil {
					t.Fatal(err)
				}
			}
			got, err := a.ConfigWithAgentsIfNoModel(conf, provider.RecordingTransport{})
			e, _ := errors.AsType[*nexus.Error](err)
			if (c.code == "") != (err == nil) || e != nil && e.Code != c.code {
				t.Fatalf("error %v, want code %q", err, c.code)
			}
			if by := got.Roles[nexus.Coder].Agent; by != c.coder {
				t.Errorf("the coder is %q, want %q", by, c.coder)
			}
			if by := got.Roles[nexus.Reviewer].Agent; by != c.reviewer {
				t.Errorf("the reviewer is %q, want %q", by, c.reviewer)
			}
		})
	}
}

// TestProgramSpeaking holds how programs are started that speak the Agent Client
// Protocol, by themselves or because they are told to, and those that are not to.
func TestProgramSpeaking(t *testing.T) {
	for name, c := range map[string]struct {
		set     config.AgentProgramSettings
		command string
		args    []string
		speaks  string
	}{
		"claude":   {config.AgentProgramSettings{Speaks: "acp"}, "claude-agent-acp", nil, "acp"},
		"codex":    {config.AgentProgramSettings{Speaks: "acp"}, "codex-acp", nil, "acp"},
		"opencode": {config.AgentProgramSettings{Speaks: "acp", Command: "/opt/opencode"}, "/opt/opencode", []string{"acp"}, "acp"},
		"gemini":   {config.AgentProgramSettings{Speaks: "acp"}, "gemini", []string{"--acp", "--skip-trust"}, "acp"},
		"goose":    {config.AgentProgramSettings{}, "goose", []string{"acp"}, "acp"},
		"copilot":  {config.AgentProgramSettings{Args: []string{"--acp", "--quiet"}}, "copilot", []string{"--acp", "--quiet"}, "acp"},
		"amp":      {config.AgentProgramSettings{}, "amp", nil, "amp"},
		"mine":     {config.AgentProgramSettings{Speaks: "acp", Command: "mine"}, "mine", nil, "acp"},
	} {
		p, err := app.FindAgentProgram(config.Config{Agents: map[string]config.AgentProgramSettings{name: c.set}}, os.Getenv, name)
		if err != nil || p.Command != c.command || !slices.Equal(p.Args, c.args) || p.Speaks != c.speaks {
			t.Errorf("%s: %s %q speaks %s, %v", name, p.Command, p.Args, p.Speaks, err)
		}
	}
	for _, name := range []string{"copilot", "goose"} {
		p, err := app.FindAgentProgram(config.Config{Agents: map[string]config.AgentProgramSettings{name: {Speaks: name}}}, os.Getenv, name)
		if err != nil || p.Speaks != name || len(p.Args) > 0 {
			t.Errorf("%s with its own stream: %+v, %v", name, p, err)
		}
	}
	if p, err := app.FindAgentProgram(config.Config{}, os.Getenv, "gemini"); err != nil || p.Speaks != "gemini" || len(p.Args) > 0 {
		t.Errorf("gemini by itself: %+v, %v", p, err)
	}
}

// TestStrongest finds a price for tokens of a model that an agent does not name.
func TestStrongest(t *testing.T) {
	models, err := provider.NewModelPicker(config.Config{}, func(string) string { return "" }, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, maker := range []string{"anthropic", "gemini", "openai"} {
		if price, ok := models.CallPrice(provider.StrongestModel(maker), nexus.Usage{Input: 1_000_000}); !ok || price < nexus.Dollar {
			t.Errorf("%s: %d %v", maker, price, ok)
		}
	}
	if name := provider.StrongestModel(""); name != "" {
		t.Errorf("nobody's is %s", name)
	}
}

// TestProbes asks programs about themselves, once as long as they are the same, and
// gives them nothing but a home before somebody trusts them.
func TestProbes(t *testing.T) {
	if _, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto); err != nil {
		testenv.NeedMachine(t, "a sandbox", err)
	}
	t.Setenv("TMPDIR", t.TempDir()) // where what is not written back stays
	home := t.TempDir()
	vars := map[string]string{"HOME": home, "PATH": filepath.Join(home, "bin") + ":/usr/bin:/bin", "XDG_STATE_HOME": filepath.Join(home, "state")}
	login := filepath.Join(home, ".local/share/opencode/auth.json")
	err := errors.Join(
		os.MkdirAll(filepath.Join(home, "bin"), 0o700), os.MkdirAll(filepath.Dir(login), 0o700),
		os.WriteFile(login, []byte(`{"a": {"token": "a-token-that-is-long-enough"}}`), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	const program = `#!/bin/sh
test -z "$MINE" || key=/with-key
test ! -e "$HOME/.local/share/opencode/auth.json" || login=/with-login
case $* in
--version) echo "v1.2.3$login$key" ;;
"run --help") echo "--format --session$login$key" ;;
models)
	echo "a/model$login$key"
	field=token
	grep -q odd "$HOME/.local/share/opencode/auth.json" && field=other
	test -z "$login" || echo '{"a": {"'$field'": "a-token-that-it-renewed-here"}}' >"$HOME/.local/share/opencode/auth.json"
	;;
esac
`
	testenv.WriteProgram(t, filepath.Join(home, "bin", "opencode"), program)
	testenv.WriteProgram(t, filepath.Join(home, "bin", "gemini"), "#!/bin/sh\necho '--output-format --resumed'\n")
	conf := config.Config{Agents: map[string]config.AgentProgramSettings{"opencode": {Env: []string{"MINE=1"}}}}
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	a := &app.App{Env: func(name string) string { return vars[name] }, Now: func() time.Time { return now }, Mask: secret.NewMasker(nil)}
	probe := func() map[string]app.AgentProgramInfo {
		t.Helper()
		all, err := a.InstalledAgents(conf)
		if err != nil {
			t.Fatal(err)
		}
		return a.ProbeAgents(t.Context(), conf, all)
	}
	said := probe()
	if got := said["opencode"]; got.Version != "1.2.3" || !got.Helps || !got.Resumes || len(got.Lacks) > 0 || !slices.Equal(got.Models, []string{"a/model"}) {
		t.Errorf("before somebody trusts it: %+v", got)
	}
	if got := said["gemini"]; !got.Helps || got.Resumes || !slices.Equal(got.Lacks, []string{"--approval-mode", "--skip-trust"}) || len(said) != 2 {
		t.Errorf("with another help: %+v of %d", got, len(said))
	}
	p, err := app.FindAgentProgram(conf, a.Env, "opencode")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.TrustStore().RecordTrust(t.Context(), app.AgentTrustKey, []trust.TrustItem{app.AgentTrustItem(p)}); err != nil {
		t.Fatal(err)
	}
	if got := probe()["opencode"]; got.Version != "1.2.3" || !slices.Equal(got.Models, []string{"a/model/with-login/with-key"}) {
		t.Errorf("as it is at work: %+v", got)
	}
	if data, err := os.ReadFile(login); err != nil || !strings.Contains(string(data), "a-token-that-it-renewed-here") {
		t.Errorf("the login that it renewed is lost: %s, %v", data, err)
	}
	probe() // withRun the new login, which has another size
	book := filepath.Join(home, "state", "nexus", "agents.json")
	before, err := os.Stat(book)
	if err != nil {
		t.Fatal(err)
	}
	probe()
	if after, err := os.Stat(book); err != nil || !os.SameFile(before, after) {
		t.Errorf("it was asked again: %v", err)
	}
	now = now.Add(25 * time.Hour)
	probe()
	if after, err := os.Stat(book); err != nil || os.SameFile(before, after) {
		t.Errorf("it was not asked again after a day: %v", err)
	}
	if err := os.WriteFile(login, []byte(`{"a": {"token": "an-odd-token-that-is-long-enough"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	got := probe()["opencode"]
	kept := filepath.Join(got.Home, ".local/share/opencode/auth.json")
	if data, err := os.ReadFile(kept); err != nil || !strings.Contains(string(data), "a-token-that-it-renewed-here") ||
		len(got.Kept) != 1 || !strings.HasPrefix(got.Kept[0], ".local/share/opencode/auth.json: it has other fields") {
		t.Errorf("what was not written back: %+v, %s, %v", got, data, err)
	}
}
