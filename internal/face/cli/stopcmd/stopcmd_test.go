package stopcmd_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/journalcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/stopcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestFlags(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want *stopcmd.Options // nil: the command line is wrong
	}{
		"nothing":            {nil, &stopcmd.Options{}},
		"a run":              {[]string{"abc", "--now"}, &stopcmd.Options{Name: "abc", Now: true}},
		"a reason":           {[]string{"--why", "late"}, &stopcmd.Options{Reason: "late"}},
		"pause":              {[]string{"--pause"}, &stopcmd.Options{Pause: true}},
		"pause a task":       {[]string{"--pause", "T1", "--run", "abc"}, &stopcmd.Options{Name: "T1", Run: "abc", Pause: true}},
		"turn":               {[]string{"--turn", "T1"}, &stopcmd.Options{Name: "T1", Turn: true}},
		"turn with a text":   {[]string{"--turn", "T1", "not the suite"}, &stopcmd.Options{Name: "T1", Turn: true, Reason: "not the suite"}},
		"skip":               {[]string{"--skip", "T4"}, &stopcmd.Options{Name: "T4", Skip: true}},
		"all":                {[]string{"--all"}, &stopcmd.Options{All: true}},
		"here":               {[]string{"--here"}, &stopcmd.Options{Here: true}},
		"lift":               {[]string{"--lift"}, &stopcmd.Options{Lift: true}},
		"turn of nothing":    {[]string{"--turn"}, nil},
		"skip nothing":       {[]string{"--skip"}, nil},
		"a text":             {[]string{"T1", "text"}, nil},
		"two flags":          {[]string{"--pause", "--skip", "T1"}, nil},
		"all of a run":       {[]string{"--all", "--run", "abc"}, nil},
		"all with a name":    {[]string{"--all", "abc"}, nil},
		"lift with a reason": {[]string{"--lift", "--why", "late"}, nil},
		"pause and the end":  {[]string{"--pause", "--now"}, nil},
	} {
		o, err := clitest.ParseOptions(t, stopcmd.New, c.args...)
		if c.want == nil {
			if err == nil {
				t.Errorf("%s: %+v, no error", name, o)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if o.Console = nil; *o != *c.want {
			t.Errorf("%s: %+v, want %+v", name, *o, *c.want)
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
	u.Expect(2, []string{`run 260101-000000-abc has no task or attempt "0101"`, "The tasks of run", "write all of its ID"}, command, "0101")
}

// TestReason holds that the reason is in the journal, whatever is stopped.
func TestReason(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return stopcmd.New(c, nil) }
	for line, want := range map[string]string{
		"--pause":             `"verb":"pause","text":"late",`,
		"--pause T1":          `"verb":"pause","task":"T1","text":"late",`,
		"--skip T1":           `"verb":"skip","task":"T1","text":"late",`,
		"--now":               `stopped by somebody: late`,
		string(clitest.RunID): `stopped by somebody: late`,
	} {
		u := clitest.NewUser(t, nil)
		u.RecordFacts(clitest.RunID, nexus.GoalAccepted{Goal: nexus.Goal{Text: "Write"}}, nexus.RunStarted{},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Write"}})
		if code := u.Run(command, append(strings.Fields(line), "--why", "late")...); code != 0 {
			t.Errorf("%s: exit code %d\n%s", line, code, u.Err)
		}
		u.Expect(0, []string{want}, journalcmd.New, "export")
	}
}
