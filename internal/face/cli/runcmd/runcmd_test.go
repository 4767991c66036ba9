package runcmd_test

import (
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalsource"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/newproject"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func command(c *console.Console) *cobra.Command { return runcmd.New(c, nil) }

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, runcmd.New, map[string]*runcmd.Options{
		"make it fly":                 {Source: goalsource.Source{Text: "make it fly"}},
		"--plan p.md -n":              {Source: goalsource.Source{Plan: "p.md"}, DryRun: true},
		"--finding todo-1 --comment":  {Source: goalsource.Source{Finding: "todo-1", Comment: true}},
		"x --stack go":                {Source: goalsource.Source{Text: "x"}, Project: newproject.Options{Stack: "go"}},
		"--backlog --detach":          {Backlog: true, Command: progress.RunCommandOptions{Detach: true}},
		"x --watch -y":                {Source: goalsource.Source{Text: "x"}, Command: progress.RunCommandOptions{Watch: true, Yes: true}},
		"x --headless --jsonl":        {Source: goalsource.Source{Text: "x"}, Command: progress.RunCommandOptions{RunOptions: app.RunOptions{Headless: true}, JSONL: true}},
		"x --tier fast --seed 7":      {Source: goalsource.Source{Text: "x"}, Command: progress.RunCommandOptions{RunOptions: app.RunOptions{Goal: nexus.Goal{Tier: nexus.Fast}, Seed: "7"}}},
		"x --seed seven":              nil,
		"x --backlog":                 nil,
		"--backlog --plan p.md":       nil,
		"--backlog --dry-run":         nil,
		"--backlog --comment":         nil,
		"x --detach --dry-run":        nil,
		"--plan p.md -f g.txt":        nil,
		"x --json --jsonl":            nil,
		"x --watch --detach":          nil,
		"x --replay d --record e":     nil,
		"x --parallel many":           nil,
		"--milestone next --plan=p.m": nil,
	})
}

const script = `conversations:
  - match: T1.*/coder.1
    turns:
      - calls: [{tool: write_file, input: {path: a.txt, content: "good\nhello\n"}}]
      - calls: [{tool: finish, input: {status: done, summary: It says hello.}}]
  - match: T*/reviewer.*
    turns:
      - calls: [{tool: finish, input: {approved: true, summary: Good., findings: []}}]
`

const onePlan = `{"version": 1, "goal": "Say hello", "tasks": [
	{"id": "T1", "title": "Say hello", "brief": "Write it.", "minutes": 5, "files": ["a.txt"], "strategy": "no-test", "reason": "It is a text.", "criteria": [{"text": "It is there", "check": "grep hello a.txt"}]}]}`

// TestOutput runs a plan to its landing, in the process of the test.
func TestOutput(t *testing.T) {
	t.Parallel()
	u := clitest.NewUser(t, map[string]string{"nexus.toml": "[gates]\nbuild = \"test -s a.txt\"\n"})
	u.Expect(2, []string{"the goal is empty"}, command)
	u.Expect(2, []string{"the goal is the name of a file: ", "a.txt, or say what"}, command, filepath.Join(u.Dir, "a.txt"))
	u.Expect(2, []string{"--comment needs an issue"}, command, "Say hello", "--comment")
	u.Expect(2, []string{"both a goal and --file were given"}, command, "Say hello", "-f", "a.txt")
	u.Expect(2, []string{"no item of the backlog waits"}, command, "--backlog")
	u.Expect(2, []string{"ANTHROPIC_API_KEY"}, command, "Say hello")
	u.Serve(script)
	u.In = onePlan
	u.Expect(0, []string{"Say hello", "!landed"}, command, "--plan", "-", "--dry-run")
	u.Expect(0, []string{`"landed": 1`, `"status": "done"`, `"moved": `}, command, "--plan", "-", "--headless", "--land", "--json")
	if u.Read("a.txt") != "good\nhello\n" {
		t.Error("the work did not land")
	}
	u.Dir, u.In = t.TempDir(), ""
	u.Expect(2, []string{"there is no stack cobol"}, command, "a game", "--stack", "cobol", "--headless") // the directory is empty: a new project
}
