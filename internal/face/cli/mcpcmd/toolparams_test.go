package mcpcmd

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

func toolOf(tb testing.TB, name string) commandTool {
	tb.Helper()
	all := allTools()
	i := slices.IndexFunc(all, func(one commandTool) bool { return one.name == name })
	if i < 0 {
		tb.Fatalf("there is no tool %s", name)
	}
	return all[i]
}

func TestLine(t *testing.T) {
	for _, c := range []struct{ tool, in, want, stdin string }{
		{"status", `{}`, "status --json", ""},
		{"status", `{"run": ""}`, "status --json", ""},
		{"status", `{"run": "--all"}`, "status --json -- --all", ""},
		{"run", `{"goal": "--land"}`, "run --json -- --land", ""},
		{"run", `{"goal": "a b", "budget": 2.5, "tier": "fast", "land": true, "wait": false}`, "run --json --budget=2.5 --tier=fast -- a b", ""},
		{"run", `{"plan": {"version": 1}}`, "run --json --plan=-", `{"version":1}`},
		{"plan", `{"goal": "x", "max_time": "1h"}`, "plan --json --max-time=1h -- x", ""},
		{"logs", `{}`, "logs --json --limit=200", ""},
		{"logs", `{"limit": 3, "since": 9007199254740991}`, "logs --json --since=9007199254740991 --limit=3", ""},
		{"check", `{"gates": ["build", "--fix"], "base": "--fix", "related": true}`, "check --json --gates=build --gates=--fix --base=--fix --related=true", ""},
		{"parse", `{"output": "x"}`, "parse --json -- auto -", "x"},
		{"parse", `{"output": "", "format": "/etc/passwd", "exit": -1}`, "parse --json --exit=-1 -- /etc/passwd -", ""},
		{"policy", `{"command": "--stdin"}`, "policy check -- --stdin", ""},
		{"answer", `{"id": "q1", "text": ""}`, "answer --json -- q1 ", ""},
		{"diff", `{"task": "T1", "up_to": 2, "stat": false}`, "diff --json --up-to=2 --stat=false -- T1", ""},
	} {
		var in map[string]any
		if err := json.Unmarshal([]byte(c.in), &in); err != nil {
			t.Fatal(err)
		}
		args, stdin, err := commandLine(toolOf(t, c.tool), in)
		if got := strings.Join(args, " "); got != c.want || stdin != c.stdin || err != nil {
			t.Errorf("%s %s: %q with %q, %v", c.tool, c.in, got, stdin, err)
		}
	}
}

// TestConsentNames holds the tools to what can be agreed to beforehand: no more
// of them ask, and none that may is free.
func TestConsentNames(t *testing.T) {
	got := []string{"land"}
	for _, one := range allTools() {
		if one.consent != "" {
			got = append(got, one.consent)
		}
		if one.consent != "" && one.consent != one.name || one.conducts && one.consent == "" || one.reads && one.consent != "" {
			t.Errorf("%s asks for %q", one.name, one.consent)
		}
	}
	want := config.ConsentNames()
	slices.Sort(got)
	slices.Sort(want)
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNeeds(t *testing.T) {
	for _, c := range []struct{ tool, in, want string }{
		{"run", `{"goal": "x"}`, "run"},
		{"run", `{"goal": "x", "land": true}`, "run land"},
		{"run", `{"goal": "x", "land": false}`, "run"},
		{"run", `{"plan": {}}`, "run"},
		{"plan", `{"goal": "x"}`, "plan"},
		{"plan", `{"plan": {}}`, ""},
		{"plan", `{"run": "x"}`, ""},
		{"plan", `{"goal": "x", "run": ""}`, "plan"},
		{"resume", `{}`, "resume"},
	} {
		var in map[string]any
		if err := json.Unmarshal([]byte(c.in), &in); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(neededConsents(toolOf(t, c.tool), in), " "); got != c.want {
			t.Errorf("%s %s needs %q", c.tool, c.in, got)
		}
	}
}

func TestAddressed(t *testing.T) {
	for uri, want := range map[string]string{
		"nexus://runs":                               "runs --json",
		"nexus://runs/251125":                        "status --result --json --run=251125",
		"nexus://runs/--json":                        "status --result --json --run=--json",
		"nexus://runs/a/transcripts/T1.1/coder.1":    "status --json --run=a -- T1.1/coder.1",
		"nexus://runs/a/transcripts/T1.1%2Fcoder.1":  "status --json --run=a -- T1.1/coder.1",
		"nexus://runs/a/transcripts/--raw%2Fcoder.1": "status --json --run=a -- --raw/coder.1",
		"nexus://runs/a/transcripts/T1":              "",
		"nexus://runs/a/transcripts/":                "",
		"nexus://runs/":                              "",
		"nexus://runs/a/b":                           "",
		"nexus://runs/a%2Fb":                         "",
		"nexus://runs/%zz":                           "",
		"nexus://runsomething":                       "",
		"file:///etc/passwd":                         "",
		"nexus://runs/a/transcripts/%zz/x":           "",
		"nexus://runs//transcripts/T1.1/coder.1":     "",
	} {
		args, ok := resourceCommand(uri)
		if got := strings.Join(args, " "); got != want || ok != (want != "") {
			t.Errorf("%s: %q", uri, got)
		}
	}
}

// FuzzLine reads what a client sends as a command line: cobra finds the flags
// that the tool has, and nothing else, and every value as it was sent.
func FuzzLine(f *testing.F) {
	f.Add("goal", "--land", "main")
	f.Add("-", "--", "\x00")
	f.Add("", "a=b", "--target=x")
	f.Fuzz(func(t *testing.T, goal, target, model string) {
		in := map[string]any{"goal": goal, "target": target, "model": model, "land": true}
		args, _, err := commandLine(toolOf(t, "run"), in)
		if err != nil {
			t.Fatal(err)
		}
		var words []string
		c := &cobra.Command{Use: "run", RunE: func(_ *cobra.Command, args []string) error { words = args; return nil }, SilenceErrors: true}
		gotTarget, gotModel := c.Flags().String("target", "", ""), c.Flags().String("model", "", "")
		c.Flags().Bool("json", false, "")
		land := c.Flags().Bool("land", false, "")
		c.SetArgs(args[1:])
		if err := c.Execute(); err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if *gotTarget != target || *gotModel != model || *land || strings.Join(words, "\n") != goal {
			t.Errorf("%q is %q %q %t %q", args, *gotTarget, *gotModel, *land, words)
		}
	})
}

// FuzzAddress reads addresses of resources: what they lead to is a run, and a
// word that is no flag.
func FuzzAddress(f *testing.F) {
	for _, seed := range []string{"nexus://runs", "nexus://runs/a", "nexus://runs/a/transcripts/T1.1/coder.1", "nexus://runs/%2F", "nexus://runs/a/transcripts/%2F"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		args, ok := resourceCommand(uri)
		if !ok {
			return
		}
		args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--result" })
		if args[1] != "--json" || len(args) > 2 && (!strings.HasPrefix(args[2], "--run=") || args[2] == "--run=") || len(args) > 3 && args[3] != "--" || len(args) > 5 {
			t.Errorf("%q: %q", uri, args)
		}
	})
}
