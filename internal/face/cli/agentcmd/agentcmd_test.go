package agentcmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/agentcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, agentcmd.New, map[string]*agentcmd.Options{
		"-p hello":                       {Prompt: "hello", Role: nexus.Assistant},
		"-p hello --role coder --jsonl":  {Prompt: "hello", Role: nexus.Coder, JSONL: true},
		"--prompt=hello --record d":      {Prompt: "hello", Role: nexus.Assistant, Traffic: provider.TrafficRecordingOptions{Record: "d"}},
		"-p hello --replay d":            {Prompt: "hello", Role: nexus.Assistant, Traffic: provider.TrafficRecordingOptions{Replay: "d"}},
		"-p hello --replay d --record e": nil,
		"-p hello --json --jsonl":        nil,
		"-p hello --replay=":             nil,
		"hello":                          nil,
	})
}

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return agentcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"the goal is empty"}, command)
	u.Expect(2, []string{"ANTHROPIC_API_KEY"}, command, "-p", "look around")
	u.Write(map[string]string{"nexus.toml": "[goals]\ndeny = [\"drop * table\"]\n"})
	u.Expect(2, []string{"the goal contains", "goals.deny"}, command, "-p", "drop the users table")
	script := `conversations:
  - match: agent.1/assistant.1
    turns: [{calls: [{tool: write_file, input: {path: b.txt, content: "new\n"}}]}, {say: It is written.}]
`
	u.Serve(script)
	u.Expect(0, []string{"It is written."}, command, "-p", "write b.txt")
	if u.Read("b.txt") != "new\n" {
		t.Error("the agent did not work in the user's directory")
	}
	u.Expect(0, []string{`"session.started"`, "!It is written.\n"}, command, "-p", "write b.txt", "--jsonl")
	u.Serve("default: {calls: [{tool: finish, input: {status: blocked, summary: It cannot be done.}}]}\n")
	u.Expect(1, []string{"no-progress: 4 submissions were refused", "Its changes so far"}, command, "-p", "write b.txt")
}
