package stopcmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/stopcmd"
)

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args         []string
		what, reason string
		wrong        bool
	}{
		"nothing":           {},
		"a run":             {args: []string{"abc", "--now"}, what: "abc"},
		"a reason":          {args: []string{"--why", "late"}, reason: "late"},
		"pause":             {args: []string{"--pause"}},
		"pause a task":      {args: []string{"--pause", "T1", "--run", "abc"}, what: "T1"},
		"turn":              {args: []string{"--turn", "T1"}, what: "T1"},
		"turn with a text":  {args: []string{"--turn", "T1", "not the suite"}, what: "T1", reason: "not the suite"},
		"skip":              {args: []string{"--skip", "T4"}, what: "T4"},
		"turn of nothing":   {args: []string{"--turn"}, wrong: true},
		"skip nothing":      {args: []string{"--skip"}, wrong: true},
		"a text":            {args: []string{"T1", "text"}, wrong: true},
		"two flags":         {args: []string{"--pause", "--skip", "T1"}, wrong: true},
		"all of a run":      {args: []string{"--all", "--run", "abc"}, wrong: true},
		"all with a name":   {args: []string{"--all", "abc"}, wrong: true},
		"pause and the end": {args: []string{"--pause", "--now"}, wrong: true},
	} {
		o, err := clitest.ParseOptions(t, stopcmd.New, c.args...)
		if (err != nil) != c.wrong || err == nil && (o.Name != c.what || o.Reason != c.reason) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
}

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return stopcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"no runs yet"}, command)
	u.Expect(0, []string{"no kill switch is on"}, command, "--lift")
	u.Expect(0, []string{"kill switch on: "}, command, "--here")
	u.Expect(0, []string{"lifted: "}, command, "--lift")
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(2, []string{"T1 is a part of run 260101-000000-abc", "--pause holds a task"}, command, "T1")
	u.Expect(2, []string{"T1.1/coder.1"}, command, "--pause", "T1.1/coder.1")
	u.Expect(2, []string{`run 260101-000000-abc has no task or attempt "bc"`}, command, "--pause", "bc", "--run", "abc")
	u.Expect(2, []string{"no task or attempt", "T99"}, command, "--skip", "T99", "--run", "abc")
}
