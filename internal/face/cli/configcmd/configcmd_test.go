package configcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/configcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

func command(c *console.Console) *cobra.Command { return configcmd.New(c, nil) }

func TestFlags(t *testing.T) {
	o, err := clitest.ParseOptions(t, configcmd.New, "--explain")
	if err != nil || !o.Explain || o.Diff || o.Schema {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{{"--explain", "--diff"}, {"--diff", "--schema"}, {"BOGUS"}, {"--all"}} {
		if _, err := clitest.ParseOptions(t, configcmd.New, args...); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
	set, err := clitest.ParseOptions(t, configcmd.NewSet, "limits.turns", "20", "--project", "--yes")
	if err != nil || set.Change.Key != "limits.turns" || set.Change.Value != "20" || set.Change.Unset || !set.Change.Project || !set.Yes {
		t.Errorf("%+v, %v", set, err)
	}
	unset, err := clitest.ParseOptions(t, configcmd.NewUnset, "limits.turns")
	if err != nil || unset.Change.Key != "limits.turns" || !unset.Change.Unset || unset.Change.Project || unset.Yes {
		t.Errorf("%+v, %v", unset, err)
	}
	for _, args := range [][]string{{"limits.turns"}, {"limits.turns", "1", "2"}} {
		if _, err := clitest.ParseOptions(t, configcmd.NewSet, args...); err == nil {
			t.Errorf("set %q: no error", args)
		}
	}
}

// TestSettings shows where settings come from, and where mistakes in them are.
func TestSettings(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{"nexus.toml": "[limits]\nparallel = 3\n"})
	u.Expect(0, []string{"limits.parallel\t3"}, command)
	u.Env["NEXUS_BUDGET_RUN"] = "1.5"
	u.ExpectMatch(0, []string{"budget.run\t1.5\tenvironment\tNEXUS_BUDGET_RUN", "limits.parallel\t3\tproject\t.*nexus.toml:2"}, command, "--explain")
	u.Expect(0, []string{"budget.run", "!default"}, command, "--diff")
	u.Expect(0, []string{`"key": "budget.run"`, `"from": "environment"`, `"where": "NEXUS_BUDGET_RUN"`}, command, "--diff", "--json")
	u.Expect(0, []string{"json-schema.org"}, command, "--schema")
	for text, want := range map[string]string{
		"[limits]\nprallel = 3\n":         "nexus.toml:2",
		"[limits] \nprallel = 3\n":        "did you mean limits.parallel",
		"[limits\n":                       "nexus.toml:1",
		"[gates]\nmine = \"make 'check\"": `nexus.toml:2: gates.mine, "make .check", cannot be read by sh: at character 6`,
		"sandbox = \"off\"\n":             "may not switch the sandbox off",
		"models.list = \"https://a/\"\n":  "models.list",
	} {
		u.Write(map[string]string{"nexus.toml": text})
		u.ExpectMatch(2, []string{want}, command)
	}
}

// TestRemovedSettings holds that what an earlier version had is a warning, once, with its reason
// and what applies now.
func TestRemovedSettings(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{"nexus.toml": "[alerts]\ntokens = 50\n"})
	u.Env["NEXUS_PLAN_MINUTES"] = "45"
	u.ExpectMatch(0, []string{
		"warning: .*nexus.toml:2: alerts.tokens is no longer a setting and has no effect:", "Now: 90 percent of budget.tokens",
		"warning: environment: NEXUS_PLAN_MINUTES is no longer a setting", "!^plan.minutes",
	}, command)
	if n := strings.Count(u.Err, "alerts.tokens is no longer"); n != 1 {
		t.Errorf("%d warnings:\n%s", n, u.Err)
	}
	u.Expect(2, []string{"alerts.tokens is no longer a setting"}, command, "set", "alerts.tokens", "50")
}

// userFile is the user's own file of settings.
const userFile = "~/.config/nexus/config.toml"

// TestSet changes a setting in the user's own file or the project's: checked with all others
// first, and with the file's comments kept.
func TestSet(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{"nexus.toml": "# ours\n[limits] # of a run\nparallel = 9 # small machine\n"})
	delete(u.Env, "NEXUS_SANDBOX")
	u.ExpectMatch(0, []string{"maximum number of attempts at once", "default( +|\t)4"}, command, "get", "limits.parallel")
	u.ExpectMatch(0, []string{"limits.turns = 20 in .*/nexus/config.toml", "it was 60 and is 20; runs in progress keep"}, command, "set", "limits.turns", "20")
	if info, err := os.Stat(filepath.Join(u.Home, ".config/nexus/config.toml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is not the user's alone: %v, %v", info, err)
	}
	u.Expect(0, []string{`"value": "20"`, `"from": "user"`, `"default": "60"`}, command, "get", "limits.turns", "--json")

	u.Expect(0, nil, command, "set", "limits.parallel", "3", "--project")
	if got := u.Read("nexus.toml"); got != "# ours\n[limits] # of a run\nparallel = 3 # small machine\n" {
		t.Errorf("the project's file is %q", got)
	}
	u.ExpectMatch(0, []string{`"written": "5"`, `"now": \{\s+"key": "limits.parallel",\s+"value": "3",\s+"from": "project"`}, command, "set", "limits.parallel", "5", "--json")
	u.Expect(0, []string{"it was 3 and is 5"}, command, "unset", "limits.parallel", "--project")
	u.ExpectMatch(2, []string{"It is not in .*nexus.toml"}, command, "unset", "limits.parallel", "--project")
	u.Env["NEXUS_LIMITS_PARALLEL"] = "7"
	u.Expect(0, []string{"it stays 7: environment NEXUS_LIMITS_PARALLEL comes first"}, command, "set", "limits.parallel", "6")
	delete(u.Env, "NEXUS_LIMITS_PARALLEL")

	for _, c := range []struct{ key, value, file, want string }{
		{"policy.deny", "docker push, npm publish", userFile, `deny = ["docker push", "npm publish"]`},
		{"policy.deny", `["docker push", "npm publish", "rm"]`, userFile, `"npm publish", "rm"]`},
		{"gates.lint", "false", "nexus.toml", "lint = false"},
		{"limits.gate_time", "90s", userFile, `gate_time = "1m30s"`},
		{`pricing."openai/x-1".input`, "2.5", userFile, `pricing."openai/x-1"`},
	} {
		args := []string{"set", c.key, c.value}
		if c.file != userFile {
			args = append(args, "--project")
		}
		if c.key[:4] == "pric" {
			args = append(args, "--yes")
		}
		u.Expect(0, nil, command, args...)
		if got := u.Read(c.file); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: the file has no %s:\n%s", c.key, c.value, c.want, got)
		}
	}
	expectRefusals(t, u)
}

// expectRefusals gives settings that are wrong or that a person must agree to: nothing is changed.
func expectRefusals(t *testing.T, u *clitest.User) {
	t.Helper()
	before := u.Read(userFile)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "did you mean limits.parallel", []string{"limits.paralel", "2"}},
		{2, "limits.parallel wants a whole number", []string{"limits.parallel", "many"}},
		{2, "must be between 1 and 256|from 1 to 256|at least 1", []string{"limits.parallel", "0"}},
		{2, "cannot be read by sh", []string{"gates.test", "make 'check"}},
		{2, "must be one of", []string{"approval", "sometimes"}},
		{2, "settings hold none", []string{"discover.tasks", "ghp_0123456789abcdefghijABCDEFGHIJ012345"}},
		{2, "may not raise budget.run", []string{"budget.run", "100", "--project"}},
		{2, "it decides when you are alerted", []string{"alerts.denied", "tell", "--project"}},
		{5, "weaker sandbox", []string{"sandbox", "off"}},
		{5, "more money may be spent", []string{"budget.run", "100"}},
		{5, "runs on your machine", []string{"hooks.x.command", `["sh", "x"]`}},
		{5, "agree", []string{"preset", "aggressive"}},
		{5, `it takes away "npm publish"`, []string{"policy.deny", "docker push"}},
	} {
		u.ExpectMatch(c.code, []string{c.want, "!ghp_"}, command, append([]string{"set"}, c.args...)...)
	}
	u.Expect(5, []string{"agree"}, command, "unset", "policy.deny")
	if after := u.Read(userFile); after != before {
		t.Errorf("the file was\n%s\nand is\n%s", before, after)
	}
	u.Expect(0, nil, command, "set", "budget.run", "1.5")
	u.Expect(0, []string{"budget.run = 100"}, command, "set", "budget.run", "100", "--yes")
}

// TestSetOddFiles holds that a link is followed for the user's own file only, and that what a
// person wrote in another way stays theirs to change.
func TestSetOddFiles(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{"theirs": "[limits]\nturns = 3\n"})
	mine := filepath.Join(u.Home, "mine")
	for link, to := range map[string]string{filepath.Join(u.Home, ".config/nexus/config.toml"): mine, filepath.Join(u.Dir, "nexus.toml"): "theirs"} {
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(mine, []byte("[limits]\nturns = 9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.Expect(2, []string{"is a link"}, command, "set", "limits.turns", "31", "--project")
	u.Expect(0, nil, command, "set", "limits.turns", "30")
	if got := u.Read("~/mine"); !strings.Contains(got, "turns = 30") || strings.Contains(u.Read("theirs"), "31") {
		t.Errorf("the user's file is %q", got)
	}
	if err := os.Remove(filepath.Join(u.Dir, "nexus.toml")); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"limits = {turns = 3}\n": "only a person can change", "[limits\n": "Nothing was changed"} {
		u.Write(map[string]string{"nexus.toml": text})
		u.Expect(2, []string{want}, command, "set", "limits.parallel", "3", "--project")
	}
}
