package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// sources writes the two files; "" leaves one out.
func sources(t *testing.T, user, project string) config.SettingSources {
	t.Helper()
	dir := t.TempDir()
	s := config.SettingSources{User: filepath.Join(dir, "config.toml"), Project: filepath.Join(dir, "nexus.toml")}
	for path, text := range map[string]string{s.User: user, s.Project: project} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestNothingSetIsTheDefaults(t *testing.T) {
	c, o, err := config.LoadSources(sources(t, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(config.DefaultConfig(), c); d != "" {
		t.Error(d)
	}
	if len(o) != 0 {
		t.Errorf("origins of nothing: %v", o)
	}
}

func TestEveryLayerWinsOverTheOnesBefore(t *testing.T) {
	s := sources(t,
		"[limits]\nparallel = 2\nturns = 20\nrounds = 20\nturn_time = '4s'\n[models]\nstrong = 'a/user'\n",
		"limits.turns = 30\nlimits.rounds = 30\nlimits.turn_time = '5s'\n")
	s.Environ = []string{"NEXUS_LIMITS_ROUNDS=40", "NEXUS_LIMITS_TURN_TIME=6s", "PATH=/bin", "NEXUS_LIMITS_TURNS="}
	s.Flags = map[string]string{"limits.turn_time": "7s"}
	c, o, err := config.LoadSources(s)
	if err != nil {
		t.Fatal(err)
	}
	got := []int{c.Limits.Parallel, c.Limits.Turns, c.Limits.Rounds, int(c.Limits.TurnTime / time.Second)}
	if d := cmp.Diff([]int{2, 30, 40, 7}, got); d != "" {
		t.Error(d)
	}
	want := config.SettingOrigins{
		"limits.parallel":  {Layer: config.LayerUser, Where: s.User + ":2"},
		"models.strong":    {Layer: config.LayerUser, Where: s.User + ":7"},
		"limits.turns":     {Layer: config.LayerProject, Where: s.Project + ":1"},
		"limits.rounds":    {Layer: config.LayerEnv, Where: "NEXUS_LIMITS_ROUNDS"},
		"limits.turn_time": {Layer: config.LayerFlag, Where: "limits.turn_time"},
	}
	if d := cmp.Diff(want, o); d != "" {
		t.Error(d)
	}
	if got := o.OriginOf("land"); got.Layer != config.LayerDefault {
		t.Errorf("land came from %v", got)
	}
}

func TestEverythingCanBeSet(t *testing.T) {
	s := sources(t, `
sandbox = "bwrap"
land = true
target = "main"
status_file = "/tmp/status.json"
[limits]
parallel = 8
turn_time = "90s"
per_tier.strong = 1
[budget]
run = 2.50
day = 10
[models]
strong = "anthropic/claude-opus-5-5"
[roles.reviewer]
model = "openai/gpt-4.1"
[roles.planner]
model = "strong"
[providers.local]
kind = "openai"
base_url = "http://127.0.0.1:11434/v1"
key_env = "LOCAL_KEY"
[pricing."openai/gpt-4.1"]
input = 2
output = 8.0
cache_read = 0.0375
[gates]
build = "make build"
lint = false
docs = "make docs"
order = ["docs", "build"]
fix = "off"
`, "")
	c, o, err := config.LoadSources(s)
	if err != nil {
		t.Fatal(err)
	}
	want := config.DefaultConfig()
	want.Sandbox, want.Land, want.Target, want.StatusFile = "bwrap", true, "main", "/tmp/status.json"
	want.Limits.Parallel = 8
	want.Limits.TurnTime = 90 * time.Second
	want.Limits.PerTier = map[nexus.Tier]int{nexus.Fast: 5, nexus.Balanced: 3, nexus.Strong: 1}
	want.Limits.RunMoney, want.Limits.DayMoney = 5*nexus.Dollar/2, 10*nexus.Dollar
	want.Models = map[nexus.Tier]string{nexus.Strong: "anthropic/claude-opus-5-5"}
	want.Roles = map[nexus.Role]config.RoleSettings{nexus.Reviewer: {Model: "openai/gpt-4.1"}, nexus.Planner: {Tier: nexus.Strong}}
	want.Providers = map[string]config.ProviderSettings{"local": {Kind: "openai", BaseURL: "http://127.0.0.1:11434/v1", KeyEnv: "LOCAL_KEY"}}
	want.Pricing = map[string]config.TokenPrice{"openai/gpt-4.1": {Input: 2 * nexus.Dollar, Output: 8 * nexus.Dollar, CacheRead: 37_500_000}}
	want.Gates = config.GateSettings{
		Linger:   10 * time.Second,
		Commands: map[string]string{"build": "make build", "lint": "", "docs": "make docs"},
		Order:    []string{"docs", "build"}, Related: "task", Fix: "off",
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
	explained := map[string]string{}
	for _, e := range config.ExplainSettings(c, o) {
		explained[e.Key] = e.Value + " " + string(e.Origin.Layer)
	}
	for key, text := range map[string]string{
		"limits.turn_time":               `"1m30s" user`,
		"limits.run_time":                `"8h" default`,
		"budget.run":                     `2.5 user`,
		"gates.lint":                     `false user`,
		"gates.docs":                     `"make docs" user`,
		`pricing."openai/gpt-4.1".input`: `2 user`,
		"roles.planner.model":            `"strong" user`,
		"gates.order":                    `["docs", "build"] user`,
		"limits.per_tier.fast":           `5 default`,
	} {
		if explained[key] != text {
			t.Errorf("%s is explained as %q, want %q", key, explained[key], text)
		}
	}
	if _, ok := explained[`pricing."openai/gpt-4.1".cache_write`]; ok {
		t.Error("a price nobody set is explained")
	}
}

func TestEnvironmentFillsNames(t *testing.T) {
	s := sources(t, "", "")
	s.Environ = []string{
		"NEXUS_ROLES_REVIEWER_MODEL=anthropic/claude-haiku-5-5", "NEXUS_PROVIDERS_LOCAL_BASE_URL=http://x/v1", "NEXUS_PROVIDERS_LOCAL_KIND=openai",
		"NEXUS_LIMITS_PER_TIER_FAST=2", "NEXUS_GATES_LINT=false", "NEXUS_GATES_DOCS=make docs", "NEXUS_GATES_ORDER=test, build",
		"NEXUS_LIMITS_GATE_TIME=3m", "NEXUS_LAND=true", "NEXUS_BUDGET_RUN=$3",
		"NEXUS_URL=https://repository.example.com", "NEXUS_USERNAME=u", "BROKEN",
	}
	c, _, err := config.LoadSources(s)
	if err != nil {
		t.Fatal(err)
	}
	want := config.DefaultConfig()
	want.Roles = map[nexus.Role]config.RoleSettings{nexus.Reviewer: {Model: "anthropic/claude-haiku-5-5"}}
	want.Providers = map[string]config.ProviderSettings{"local": {Kind: "openai", BaseURL: "http://x/v1"}}
	want.Limits.PerTier[nexus.Fast] = 2
	want.Gates = config.GateSettings{Commands: map[string]string{"lint": "", "docs": "make docs"}, Order: []string{"test", "build"}, Linger: 10 * time.Second, Related: "task", Fix: "changed"}
	want.Limits.GateTime, want.Land, want.Limits.RunMoney = 3*time.Minute, true, 3*nexus.Dollar
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for name, tt := range map[string]struct {
		user, project string
		environ       []string
		flags         map[string]string
		want          string
	}{
		"unknown key":             {user: "[limits]\n\nparalle = 3\n", want: "config.toml:3: unknown key limits.paralle; did you mean limits.parallel?"},
		"unknown section":         {user: "[limit]\nturns = 3\n", want: "config.toml:1: unknown key limit; did you mean limits?"},
		"nothing near":            {user: "zebra_crossing = 3\n", want: "config.toml:1: unknown key zebra_crossing"},
		"section as a flag":       {flags: map[string]string{"budget": "3"}, want: "budget is a section, not a key; it has budget.run, budget.task, budget.day, budget.roles.*, budget.providers.*, budget.tokens"},
		"right key, no section":   {user: "parallel = 3\n", want: "unknown key parallel; did you mean limits.parallel?"},
		"unknown below a name":    {user: "[providers.local]\nurl = 'x'\nbase_ur = 'http://x'", want: "config.toml:3: unknown key providers.local.base_ur; did you mean providers.local.base_url?"},
		"type":                    {user: "[limits]\nparallel = \"four\"\n", want: `config.toml:2: limits.parallel wants a whole number, not "four"`},
		"table for a value":       {user: "[limits.parallel]\na = 1\n", want: "config.toml:1: limits.parallel wants a whole number, not a table"},
		"value for a section":     {user: "limits = 3\n", want: "config.toml:1: limits is a section, not a value"},
		"number for a duration":   {user: "limits.run_time = 10\n", want: `limits.run_time wants a duration, such as "10m" or "1h30m", not 10`},
		"true for a command":      {user: "gates.lint = true\n", want: "gates.lint wants a command line, or false, not true"},
		"gate as a table":         {user: "[gates.docs]\ncommand = 'x'\n", want: "gates.docs wants a command line, or false, not a table"},
		"float for an integer":    {user: "limits.turns = 1.5\n", want: "limits.turns wants a whole number, not 1.5"},
		"range":                   {user: "limits.parallel = 0\n", want: "limits.parallel must be between 1 and 256"},
		"not a number":            {user: "budget.run = nan\n", want: "budget.run must be between 0 and 1000000 dollars"},
		"below zero":              {user: "budget.run = -1\n", want: "budget.run must be between 0 and 1000000 dollars"},
		"word":                    {user: "sandbox = 'docker'\n", want: "sandbox must be one of auto, native, bwrap, landlock, off"},
		"unknown tier":            {user: "limits.per_tier.best = 1\n", want: "unknown key limits.per_tier.best"},
		"model without provider":  {user: "models.fast = 'haiku'\n", want: "models.fast must be provider/model"},
		"key instead of its name": {user: "providers.a.key_env = 'sk-123'\n", want: "must be the name of an environment variable, not the key itself"},
		"password in an address":  {user: "providers.a.base_url = 'http://u:p@h/'\n", want: "must not hold a user or password"},
		"gate's name":             {user: "gates.'a b' = 'x'\n", want: `gates."a b": "a b" is not a name`},
		"escape codes":            {user: "\"\\u001b[31mred\" = 1\n", want: `unknown key "\x1b[31mred"`},
		"broken":                  {user: "[limits]\nparallel = = 3\n", want: "config.toml:2:12: "},
		"twice":                   {user: "land = true\nland = false\n", want: "config.toml:"},
		"variable's type":         {environ: []string{"NEXUS_LIMITS_PARALLEL=many"}, want: `NEXUS_LIMITS_PARALLEL: limits.parallel wants a whole number, not "many"`},
		"variable's slip":         {environ: []string{"NEXUS_LIMIT_PARALLEL=3"}, want: `environment: unknown variable "NEXUS_LIMIT_PARALLEL"; did you mean NEXUS_LIMITS_PARALLEL?`},
		"variable of ours":        {environ: []string{"NEXUS_LIMITS_SOMETHING=3"}, want: `environment: no key has the variable "NEXUS_LIMITS_SOMETHING"`},
		"flag":                    {flags: map[string]string{"limits.paralell": "3"}, want: "flag: unknown key limits.paralell; did you mean limits.parallel?"},
		"project's weak sandbox":  {project: "sandbox = 'landlock'\n", want: "nexus.toml:1: the project's file may not choose the weaker sandbox landlock; set it in your own"},
		"project's sandbox":       {project: "sandbox = 'off'\n", want: "nexus.toml:1: the project's file may not switch the sandbox off; set it in your own"},
		"project's provider":      {project: "[providers.openai]\nbase_url = 'http://evil'\n", want: "nexus.toml:2: the project's file may not set providers.openai.base_url: it decides where keys and code are sent"},
		"project's key":           {project: "providers.openai.key_env = 'AWS_SECRET'\n", want: "may not set providers.openai.key_env"},
		"project's price":         {project: "pricing.'a/b'.input = 0\n", want: `may not set pricing."a/b".input`},
		"project's land":          {project: "land = true\n", want: "may not set land"},
		"project's status file":   {project: "status_file = '/home/u/.bashrc'\n", want: "may not set status_file"},
		"project's budget":        {project: "budget.run = 100\n", want: "may not raise budget.run above $5.00"},
		"project's open budget":   {project: "budget.day = 0\n", want: "may not raise budget.day above $20.00"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sources(t, tt.user, tt.project)
			s.Environ, s.Flags = tt.environ, tt.flags
			_, _, err := config.LoadSources(s)
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) {
				t.Fatalf("error is %v", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error\n\t%v\nlacks\n\t%s", err, tt.want)
			}
		})
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	s := sources(t, "a = 1\nlimits.turns = 'x'\n", "b = 1\n")
	_, _, err := config.LoadSources(s)
	for _, want := range []string{"unknown key a", "limits.turns wants", "unknown key b"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestProjectMayTighten(t *testing.T) {
	c, _, err := config.LoadSources(sources(t, "budget.run = 9\nsandbox = 'off'\n", "budget.run = 1\nbudget.task = 0.5\nsandbox = 'bwrap'\n"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Limits.RunMoney != nexus.Dollar || c.Limits.TaskMoney != nexus.Dollar/2 || c.Sandbox != "bwrap" {
		t.Errorf("run %s, task %s, sandbox %s", c.Limits.RunMoney, c.Limits.TaskMoney, c.Sandbox)
	}
	if config.DefaultConfig().Limits.RunMoney != 5*nexus.Dollar {
		t.Error("loading changed the defaults")
	}
}

// TestPolicyOfAllLayers refuses what any of them refuses, and lets run only
// what people allow, never what a repository does.
func TestPolicyOfAllLayers(t *testing.T) {
	s := sources(t, "policy.allow = ['frob']\npolicy.deny = ['make  deploy']\nroles.tester.deny = ['go get']\n", "policy.deny = ['npm publish', 'make deploy']\nroles.tester.ask = ['make db']\n")
	s.System = filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(s.System, []byte("policy.deny = ['terraform']\nlimits.parallel = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Environ = []string{"NEXUS_POLICY_DENY=curl -X, wget"}
	c, o, err := config.LoadSources(s)
	if err != nil {
		t.Fatal(err)
	}
	want := config.CommandPolicySettings{Allow: []string{"frob"}, Deny: []string{"terraform", "make deploy", "npm publish", "curl -X", "wget"}}
	if d := cmp.Diff(want, c.RolePolicy(nexus.Coder)); d != "" {
		t.Error(d)
	}
	want.Ask, want.Deny = []string{"make db"}, append(want.Deny, "go get")
	if d := cmp.Diff(want, c.RolePolicy(nexus.Tester)); d != "" {
		t.Error(d)
	}
	if got := o.OriginOf("limits.parallel"); c.Limits.Parallel != 3 || got.Layer != config.LayerSystem {
		t.Errorf("parallel %d from %+v", c.Limits.Parallel, got)
	}
	for project, says := range map[string]string{
		"policy.allow = ['frob']":      "may not set policy.allow",
		"roles.coder.allow = ['frob']": "may not set roles.coder.allow",
		"policy.deny = ['a; b']":       "not the plain words",
		"policy.deny = ['']":           "not the plain words",
		"policy.deny = 'make'":         "wants a list of commands",
	} {
		if _, _, err := config.LoadSources(sources(t, "", project)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", project, err)
		}
	}
}

func TestStrangeFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "not a regular file", dir: "not a regular file", large: "larger than"} {
		if _, _, err := config.LoadSources(config.SettingSources{Project: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

func TestSchemaAgreesWithTheKeys(t *testing.T) {
	var s jsonschema.Schema
	if err := json.Unmarshal(config.SettingsSchema(), &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	good := map[string]any{
		"limits": map[string]any{"parallel": 3.0, "turn_time": "1m30s"},
		"gates":  map[string]any{"build": "make", "lint": false, "order": []any{"build"}, "mine": "make mine"},
		"roles":  map[string]any{"coder": map[string]any{"model": "a/b"}, "planner": map[string]any{"model": "fast"}},
	}
	if err := r.Validate(good); err != nil {
		t.Error(err)
	}
	for _, bad := range []map[string]any{
		{"limit": 3.0},
		{"limits": map[string]any{"parallel": "x"}},
		{"limits": map[string]any{"turn_time": "soon"}},
		{"gates": map[string]any{"lint": true}},
		{"roles": map[string]any{"coder": map[string]any{"modell": "a/b"}}},
		{"sandbox": "docker"},
	} {
		if r.Validate(bad) == nil {
			t.Errorf("the schema takes %v", bad)
		}
	}
}

func TestReferenceNamesEveryKey(t *testing.T) {
	text := config.ReferencePage()
	for _, k := range slices.Concat(config.AllSettingKeys(), config.MemberKeys()) {
		if k.Doc == "" || k.Type == "" || !strings.Contains(text, "`"+k.Name+"`") {
			t.Errorf("%s is not documented", k.Name)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("[limits]\nparallel = 3\n", "NEXUS_LAND=true", "limits.turns", "3")
	f.Add("a.'b.c' = [1, {x = 2}]\n[[gates]]\n", "NEXUS_ROLES__MODEL=x", "", "")
	f.Add("d = 1979-05-27T07:32:00Z\n\"\" = 1\n", "=", "a..b", "\x00")
	f.Fuzz(func(t *testing.T, text, variable, flag, value string) {
		path := filepath.Join(t.TempDir(), "f.toml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, o, err := config.LoadSources(config.SettingSources{Project: path, Environ: []string{variable}, Flags: map[string]string{flag: value}})
		if err != nil {
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}) {
				t.Fatalf("uncoded error: %v", err)
			}
			return
		}
		if l := c.Limits; l.Parallel < 1 || l.RunMoney < 0 || l.RunTime < 0 {
			t.Errorf("limits %+v", l)
		}
		if c.Sandbox == "off" && o.OriginOf("sandbox").Layer == config.LayerProject {
			t.Error("the project's file switched the sandbox off")
		}
		config.ExplainSettings(c, o)
	})
}

// TestEveryKeyTakesItsOwnValue sets each key through a flag and reads it back,
// so that no entry of the table points at the wrong place.
func TestEveryKeyTakesItsOwnValue(t *testing.T) {
	for _, k := range config.MemberKeys() {
		name := strings.ReplaceAll(k.Name, "*", "x")
		if strings.HasPrefix(name, "pricing.") {
			continue // a model's name cannot be a flag's; TestEverythingCanBeSet has them
		}
		value, want := "7", "7"
		switch {
		case len(k.Values) > 0:
			value = k.Values[len(k.Values)-1]
			if k.Default == `"`+value+`"` {
				value = k.Values[0]
			}
			want = `"` + value + `"`
		case strings.HasPrefix(k.Type, "duration"):
			value, want = "7m", `"7m"`
		case strings.HasPrefix(k.Type, "true") && k.Default == "true":
			value, want = "false", "false"
		case strings.HasPrefix(k.Type, "true"):
			value, want = "true", "true"
		case k.Name == "routing.order":
			value, want = "keyword,manual", `["keyword", "manual"]`
		case strings.HasSuffix(k.Name, ".roles"):
			value, want = "coder,planner", `["coder", "planner"]`
		case strings.HasPrefix(k.Type, "table"):
			value, want = "B=2,A=1", `["A=1", "B=2"]`
		case strings.HasSuffix(k.Name, ".on"):
			value, want = "plan.ready,run.end", `["plan.ready", "run.end"]`
		case k.Name == "precheck.skip":
			value, want = "disk,key", `["disk", "key"]`
		case k.Name == "run.batch":
			value, want = "3", "3"
		case k.Name == "channels.telegram.chat":
			value, want = "7", `"7"`
		case k.Name == "mcp.serve.allow", k.Name == "acp.serve.allow":
			value, want = "run,land", `["run", "land"]`
		case k.Name == "channels.order":
			value, want = "web,file", `["web", "file"]`
		case k.Type == "list of phrases":
			value, want = "drop table, x * y", `["drop table", "x * y"]`
		case k.Type == "list of commands":
			value, want = "make a, go b", `["make a", "go b"]`
		case k.Name == "pipeline.*.types":
			value, want = "code,docs", `["code", "docs"]`
		case k.Name == "plugins.*.kinds":
			value, want = "router,context", `["router", "context"]`
		case k.Name == "review.personas":
			value, want = "tests,security", `["tests", "security"]`
		case strings.HasPrefix(k.Type, "list"):
			value, want = "a,b", `["a", "b"]`
		case k.Type == "whole number" || strings.HasPrefix(k.Type, "number"):
		case strings.HasPrefix(k.Type, "size"):
			value, want = "3G", "3221225472"
		case strings.HasPrefix(k.Type, "http"):
			value, want = "http://x", `"http://x"`
		case strings.HasPrefix(k.Type, "provider/model"):
			value, want = "a/b", `"a/b"`
		default:
			value, want = "word", `"word"`
		}
		c, o, err := config.LoadSources(config.SettingSources{Flags: map[string]string{name: value}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var changed []string
		for _, s := range config.ExplainSettings(c, o) {
			if s.Origin.Layer == config.LayerFlag {
				changed = append(changed, s.Key+" = "+s.Value)
			}
		}
		if d := cmp.Diff([]string{name + " = " + want}, changed); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if cmp.Equal(c, config.DefaultConfig()) {
			t.Errorf("%s changes nothing", name)
		}
	}
}

// TestPreset fills in what nobody set, whoever chose it, and a project's file
// is measured against it.
func TestPreset(t *testing.T) {
	s := sources(t, "preset = 'aggressive'\nlimits.parallel = 3\n", "budget.run = 10\n")
	c, o, err := config.LoadSources(s)
	if err != nil {
		t.Fatal(err) // 10 dollars are fewer than the preset's 20
	}
	if c.Limits.Parallel != 3 || c.Limits.RunMoney != 10*nexus.Dollar || c.Limits.DayMoney != 80*nexus.Dollar || c.Limits.Approval != nexus.ApproveNone {
		t.Errorf("%+v", c.Limits)
	}
	if got := o.OriginOf("budget.day"); got != (config.SettingOrigin{Layer: config.LayerPreset, Where: "aggressive"}) {
		t.Errorf("the day's budget comes from %v", got)
	}
	s.Flags = map[string]string{"preset": "conservative"}
	if _, _, err = config.LoadSources(s); err == nil || !strings.Contains(err.Error(), "may not raise budget.run above $2.00") {
		t.Errorf("a project raises what the user lowered: %v", err)
	}
	if _, _, err = config.LoadSources(sources(t, "", "preset = 'aggressive'\n")); err == nil || !strings.Contains(err.Error(), "may not set preset") {
		t.Error(err)
	}
	for _, preset := range config.PresetNames() {
		s := sources(t, "", "")
		s.Environ = []string{"NEXUS_PRESET=" + preset}
		if c, _, err := config.LoadSources(s); err != nil || c.Preset != preset {
			t.Errorf("%s: %v", preset, err)
		}
	}
}

func TestProjectMayNotLetLessWait(t *testing.T) {
	for _, c := range []struct {
		user, project string
		good          bool
	}{
		{"", "approval = 'commits'", true},
		{"approval = 'commits'", "approval = 'all'", true},
		{"approval = 'commits'", "approval = 'commits'", true},
		{"approval = 'commits'", "approval = 'none'", false},
		{"preset = 'conservative'", "approval = 'destructive'", false},
	} {
		if _, _, err := config.LoadSources(sources(t, c.user, c.project)); (err == nil) != c.good {
			t.Errorf("%s, then %s: %v", c.user, c.project, err)
		}
	}
}

func TestTierWithoutAModel(t *testing.T) {
	c, o, err := config.LoadSources(sources(t, "models.fast = 'a/small'\n", ""))
	if err != nil {
		t.Fatal(err)
	}
	want := map[nexus.Tier]string{nexus.Fast: "a/small", nexus.Balanced: "a/small", nexus.Strong: "a/small"}
	if d := cmp.Diff(want, c.Models); d != "" {
		t.Error(d)
	}
	if got := o.OriginOf("models.strong"); got.Layer != config.LayerNearest || got.Where != "models.fast" {
		t.Error(got)
	}
	c, _, err = config.LoadSources(sources(t, "models.balanced = 'a/large'\n", ""))
	if err != nil || c.Models[nexus.Fast] != "" || c.Models[nexus.Strong] != "a/large" {
		t.Errorf("%v (%v)", c.Models, err)
	}
}
