package runscmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runscmd"
)

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		stats bool
		wrong bool
	}{
		"nothing":        {},
		"stats":          {args: []string{"--stats", "--all"}, stats: true},
		"by":             {args: []string{"--by", "model,tier"}, stats: true},
		"since":          {args: []string{"--since", "7d"}, stats: true},
		"csv":            {args: []string{"--csv"}, stats: true},
		"active":         {args: []string{"--active", "-a", "--json"}},
		"metrics":        {args: []string{"--metrics", "--all"}},
		"unknown way":    {args: []string{"--by", "colour"}, wrong: true},
		"no time":        {args: []string{"--since", "yesterday"}, wrong: true},
		"all alone":      {args: []string{"--all"}, wrong: true},
		"two kinds":      {args: []string{"--active", "--stats"}, wrong: true},
		"csv as json":    {args: []string{"--csv", "--json"}, wrong: true},
		"csv of metrics": {args: []string{"--csv", "--metrics"}, wrong: true},
		"since active":   {args: []string{"--since", "7d", "--active"}, wrong: true},
		"a name":         {args: []string{"abc"}, wrong: true},
	} {
		o, err := clitest.ParseOptions(t, runscmd.New, c.args...)
		if (err != nil) != c.wrong || err == nil && o.Stats != c.stats {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
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
