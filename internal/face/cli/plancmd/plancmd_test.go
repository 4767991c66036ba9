package plancmd_test

import (
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalsource"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/plancmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

func command(c *console.Console) *cobra.Command { return plancmd.New(c, nil) }

func TestFlags(t *testing.T) {
	strong := progress.RunCommandOptions{RunOptions: app.RunOptions{Goal: nexus.Goal{Tier: nexus.Strong}}}
	clitest.CheckFlags(t, plancmd.New, map[string]*plancmd.Options{
		"":                              {},
		"make it fly --tier strong":     {Source: goalsource.Source{Text: "make it fly"}, Command: strong},
		"--plan p.md --mermaid":         {Source: goalsource.Source{Plan: "p.md"}, Output: plancmd.Output{Form: "mermaid"}},
		"-f p.md --dot --edit":          {Source: goalsource.Source{File: "p.md"}, Output: plancmd.Output{Form: "dot", Edit: true}},
		"--plan d --format speckit":     {Source: goalsource.Source{Plan: "d", Format: "speckit"}},
		"--milestone next --markdown":   {Source: goalsource.Source{Milestone: "next"}, Output: plancmd.Output{Form: "markdown"}},
		"--run abc --export ralph":      {Run: "abc", Output: plancmd.Output{Export: foreign.Ralph}},
		"--run abc --why slow":          {Run: "abc", Why: "slow"},
		"--run abc --diff":              {Run: "abc", Diff: true},
		"--run abc --diff --edited -":   {Run: "abc", Diff: true, Edited: "-"},
		"--run abc --edited -":          nil,
		"--diff":                        nil,
		"--diff --edited -":             nil,
		"--why slow":                    nil,
		"--run abc make it fly":         nil,
		"--run abc --plan p.md":         nil,
		"--run abc --diff --why slow":   nil,
		"--export nothing --plan p.md":  nil,
		"--json --markdown --plan p.md": nil,
		"--run=":                        nil,
	})
}

const twoTasks = `{"version": 1, "goal": "Say more", "tasks": [
	{"id": "T1", "title": "Say hello", "brief": "Write it.", "minutes": 5, "files": ["a.txt"], "criteria": [{"text": "It is there", "check": "grep hello a.txt"}]},
	{"id": "T2", "title": "Say goodbye", "brief": "Write it.", "minutes": 5, "needs": ["T1"], "files": ["a.txt"], "criteria": [{"text": "It is there", "check": "grep goodbye a.txt"}]}]}`

func TestOutput(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"the goal is empty"}, command)
	u.Expect(2, []string{"unknown tier"}, command, "Say hello", "--tier", "huge")
	u.Write(map[string]string{"plan.json": twoTasks})
	file := filepath.Join(u.Dir, "plan.json")
	u.Expect(0, []string{"T2\t", "Say goodbye"}, command, "--plan", file)
	u.Expect(0, []string{"T1 --> T2"}, command, "--plan", file, "--mermaid")
	u.Expect(2, []string{"no runs yet"}, command, "--run", "abc")
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(0, []string{"## T4: a task"}, command, "--run", "abc", "--markdown")
	u.Expect(0, []string{"the plan was not refused or edited"}, command, "--run", "abc", "--diff")
	u.Expect(2, []string{"was not made by nexus plan"}, command, "--run", "abc", "--why", "slow")
	u.Expect(0, []string{"Say goodbye", "the goal is now: Say more"}, command, "--run", "abc", "--diff", "--edited", file)
	u.Write(map[string]string{"nexus.toml": "[goals]\ndeny = [\"goodbye\"]\n"})
	u.Expect(2, []string{"task T2 contains", "goals.deny"}, command, "--plan", file)
}
