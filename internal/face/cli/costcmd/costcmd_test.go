package costcmd_test

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/costcmd"
)

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		run  string
		by   []budget.CostDimension // nil: the command line is wrong
	}{
		"nothing":      {nil, "", []budget.CostDimension{budget.ByTask, budget.ByRole, budget.ByTier, budget.ByModel}},
		"a run":        {[]string{"abc"}, "abc", []budget.CostDimension{budget.ByTask, budget.ByRole, budget.ByTier, budget.ByModel}},
		"a list":       {[]string{"--by", "provider,task"}, "", []budget.CostDimension{budget.ByProvider, budget.ByTask}},
		"twice":        {[]string{"abc", "--by=role", "--by=model"}, "abc", []budget.CostDimension{budget.ByRole, budget.ByModel}},
		"unknown":      {[]string{"--by", "day"}, "", nil},
		"--run":        {[]string{"--run", "abc"}, "abc", []budget.CostDimension{budget.ByTask, budget.ByRole, budget.ByTier, budget.ByModel}},
		"a run twice":  {[]string{"abc", "--run", "abd"}, "", nil},
		"two runs":     {[]string{"abc", "abd"}, "", nil},
		"unknown flag": {[]string{"--per", "task"}, "", nil},
	} {
		o, err := clitest.ParseOptions(t, costcmd.New, c.args...)
		if c.by == nil {
			if err == nil {
				t.Errorf("%s: no error", name)
			}
			continue
		}
		if err != nil || o.Run != c.run || !slices.Equal(o.Breakdowns, c.by) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return costcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"no runs yet"}, command)
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(0, []string{"role\tcoder\t20\t", "total\t", "!provider\t"}, command)
	u.Expect(0, []string{"provider\ttoy\t27\t", "!role\t"}, command, "abc", "--by", "provider")
	u.Expect(0, []string{`"by_session"`, `"spent": 1.709`}, command, "--json")
	u.Expect(2, []string{`no run "xyz"`}, command, "xyz")
}
