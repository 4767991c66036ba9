package runscmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runscmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, runscmd.New, map[string]*runscmd.Options{
		"":                    {},
		"--stats --all":       {Stats: true, All: true},
		"--by model,tier":     {Stats: true, By: []string{"model", "tier"}},
		"--since 7d":          {Stats: true, Since: "7d"},
		"--csv":               {Stats: true, CSV: true},
		"--active -a --json":  {Active: true, All: true},
		"--metrics --all":     {Metrics: true, All: true},
		"--by colour":         nil,
		"--since yesterday":   nil,
		"--all":               nil,
		"--active --stats":    nil,
		"--csv --json":        nil,
		"--csv --metrics":     nil,
		"--since 7d --active": nil,
		"abc":                 nil,
	})
}

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return runscmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"has no runs yet"}, command)
	u.Expect(0, []string{"nothing is running"}, command, "--active")
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(0, []string{"260101-000000-abc"}, command)
	u.Expect(0, []string{`"runs": [`, `"run": "260101-000000-abc"`}, command, "--json")
	u.Expect(0, []string{"by,name,tasks", "model,"}, command, "--csv", "--by", "model")
	u.Expect(0, []string{`"runs": 1`}, command, "--stats", "--all", "--json")
	u.Expect(0, []string{"nexus_runs{"}, command, "--metrics")
	u.Expect(0, []string{"do not differ"}, command, "compare", "abc", "abc")
	u.Expect(2, []string{`no run "xyz"`, "The latest runs: 260101-000000-abc."}, command, "compare", "abc", "xyz")
}
