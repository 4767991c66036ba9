package interviewcmd_test

import (
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/interviewcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, interviewcmd.New, map[string]*interviewcmd.Options{
		"":                            {},
		"an app for recipes":          {Goal: "an app for recipes"},
		"-f notes.md --name recipes":  {File: "notes.md", Name: "recipes"},
		"--resume":                    {Resume: true},
		"--resume abc -y":             {Resume: true, Run: "abc", Command: progress.RunCommandOptions{Yes: true}},
		"--run abc --headless":        {Resume: true, Run: "abc", Command: progress.RunCommandOptions{RunOptions: app.RunOptions{Headless: true}}},
		"--resume --run abc":          {Resume: true, Run: "abc"},
		"--resume abc --run abd":      nil,
		"--resume -f notes.md":        nil,
		"--run abc -f notes.md":       nil,
		"--run abc an app":            nil,
		"--run=":                      nil,
		"x --record d --replay e":     nil,
		"an app --detach":             nil,
		"an app for recipes --name x": {Goal: "an app for recipes", Name: "x"},
	})
}

const script = `conversations:
  - match: interview.1/interviewer.1
    turns:
      - calls: [{tool: finish, input: {clear: true, title: Recipes, requirements: [{text: It lists recipes, confidence: 1, quote: an app for our recipes}]}}]
`

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return interviewcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"the goal is empty"}, command)
	u.Expect(2, []string{"has no interview yet"}, command, "--resume")
	u.RecordFacts(clitest.RunID, nexus.GoalAccepted{Goal: nexus.Goal{Text: "a goal", Mode: nexus.Evolution}})
	u.Expect(2, []string{"is not an interview", "nexus resume"}, command, "--run", "abc")
	u.Expect(2, []string{`no run "xyz"`}, command, "--resume", "xyz")
	u.Write(map[string]string{"notes.bin": "a\x00b"})
	u.Expect(2, []string{"is not text"}, command, "-f", filepath.Join(u.Dir, "notes.bin"))
	u.Serve(script)
	u.Expect(0, []string{"wrote .nexus/specs/recipes.md"}, command, "an app for our recipes", "--headless", "--name", "recipes")
}
