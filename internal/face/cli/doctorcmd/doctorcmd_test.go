package doctorcmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/doctorcmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, doctorcmd.New, map[string]*doctorcmd.Options{
		"":                                       {},
		"--light --plan p.json":                  {Light: true, Plan: "p.json"},
		"--fix -y --strict --skip disk,branches": {Fix: true, Yes: true},
		"--plan=":                                nil,
		"disk":                                   nil,
		"--strict=perhaps":                       nil,
		"--sandbox firejail":                     nil,
	})
}

// TestDoctor reports each check with what to do, and fails if something prevents a run.
func TestDoctor(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return doctorcmd.New(c, nil) }
	u := clitest.NewUser(t, map[string]string{"nexus.toml": "[gates]\ntest = \"true\"\n"})
	u.ExpectMatch(1, []string{"^ok\tconfiguration\treadable", "^ok\tgit\t2.38 or newer", "^ok\trepository\t", "^blocker\tmodels?\t"}, command, "--light")
	u.ExpectMatch(1, []string{`"ok": false`, `"light": true`, `"name": "configuration"`, `"hint": "`}, command, "--light", "--json")
	u.Env["ANTHROPIC_API_KEY"] = "scripted-and-long-enough"
	u.ExpectMatch(0, []string{"^ok\tmodels\tanthropic/"}, command, "--light")
	u.Expect(1, []string{"plan"}, command, "--light", "--plan", "none.json")
	u.Write(map[string]string{"plan.json": `{"version": 1, "goal": "Write", "tasks": [{"id": "T1", "title": "Do T1", "files": ["b.txt"], "criteria": [{"text": "It builds", "check": "test -e b.txt"}]}]}`})
	u.ExpectMatch(0, []string{"^ok\tplan\tits tasks fit"}, command, "--light", "--plan", u.Dir+"/plan.json")
	u.Write(map[string]string{"nexus.toml": "sandbox = \"off\"\n"})
	u.ExpectMatch(1, []string{"^blocker\tconfiguration\t.*may not switch the sandbox off"}, command, "--light")
	u.Dir = t.TempDir()
	u.ExpectMatch(1, []string{"^blocker\trepository\t"}, command, "--light")
}
