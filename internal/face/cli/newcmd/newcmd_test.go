package newcmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/newcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/newproject"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, newcmd.New, map[string]*newcmd.Options{
		"game":                         {Dir: "game"},
		"game a game of cards":         {Dir: "game", Idea: "a game of cards"},
		"game -f notes.md --stack go":  {Dir: "game", File: "notes.md", Project: newproject.Options{Stack: "go"}},
		"game --no-run -y":             {Dir: "game", Project: newproject.Options{Bare: true}, Command: progress.RunCommandOptions{Yes: true}},
		"game x --headless --seed 7":   {Dir: "game", Idea: "x", Command: progress.RunCommandOptions{RunOptions: app.RunOptions{Headless: true, Seed: "7"}}},
		"":                             nil,
		"game x --seed seven":          nil,
		"game x --json --jsonl":        nil,
		"game x --detach":              nil,
		"game x --record d --replay e": nil,
	})
}

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return newcmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Dir = t.TempDir()
	u.Expect(2, []string{"the goal is empty"}, command, "game")
	u.Expect(2, []string{"there is no stack cobol", "--stack"}, command, "game", "a game", "--stack", "cobol")
	u.Expect(2, []string{"ANTHROPIC_API_KEY"}, command, "game", "a game", "--headless", "--stack", "go")
	if _, err := os.Stat(filepath.Join(u.Dir, "game")); err == nil {
		t.Error("a directory was made for a project that nobody can do")
	}
	u.Serve("default: {say: Nothing.}\n")
	u.Write(map[string]string{"game/mine.txt": "my own words\n"})
	u.Expect(2, []string{"is not empty"}, command, "game", "a game", "--headless", "--stack", "go")
}
