package quickcmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalsource"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/quickcmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, quickcmd.New, map[string]*quickcmd.Options{
		"say hello":                 {Source: goalsource.Source{Text: "say hello", Task: true}},
		"-f task.md --stays":        {Source: goalsource.Source{File: "task.md", Task: true}, Stays: true},
		"x --check make -y":         {Source: goalsource.Source{Text: "x", Task: true}, Check: "make", Command: progress.RunCommandOptions{Yes: true}},
		"--finding todo-1":          {Source: goalsource.Source{Finding: "todo-1", Task: true}},
		"--finding todo-1 -f x":     nil,
		"--finding todo-1 --check=": nil,
		"--finding todo-1 --stays":  nil,
		"x --seed seven":            nil,
		"x --plan p.md":             nil,
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

func TestOutput(t *testing.T) {
	t.Parallel()
	command := func(c *console.Console) *cobra.Command { return quickcmd.New(c, nil) }
	u := clitest.NewUser(t, map[string]string{"nexus.toml": "[gates]\nbuild = \"test -s a.txt\"\n"})
	u.Expect(2, []string{"the goal is empty"}, command)
	u.Expect(2, []string{"unknown strategy"}, command, "Say hello", "--strategy", "luck")
	u.Serve(script)
	u.Expect(0, []string{"T1: landed as ", "1 of 1 landed"}, command, "Say hello", "--check", "grep hello a.txt", "--strategy", "no-test", "--land")
	if u.Read("a.txt") != "good\nhello\n" {
		t.Error("the work did not land")
	}
}
