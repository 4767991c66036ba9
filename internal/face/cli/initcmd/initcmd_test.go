package initcmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/initcmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, initcmd.New, map[string]*initcmd.Options{
		"":             {},
		"--yes":        {},
		"--force -y":   {Force: true},
		"--json":       {},
		"here":         nil,
		"--overwrite":  nil,
		"--force=many": nil,
	})
}

func TestOutput(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return initcmd.New(c, nil) }
	u := clitest.NewUser(t, map[string]string{"Makefile": "build:\n\ttrue\ntest:\n\ttrue\n"})
	u.Expect(0, []string{"wrote nexus.toml", "wrote .nexus/nexus.schema.json", "gate  test: make test", "next  nexus doctor"}, command)
	u.Expect(2, []string{"nexus.toml already exists", "--force"}, command)
	u.Expect(0, []string{`"nexus.toml"`, `"gates"`, `"test"`}, command, "--force", "--json")
}
