package versioncmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/versioncmd"
)

func TestVersion(t *testing.T) {
	clitest.CheckFlags(t, versioncmd.New, map[string]*versioncmd.Options{"": {}, "extra": nil, "--short": nil})
	command := func(c *console.Console) *cobra.Command { return versioncmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.ExpectMatch(0, []string{`^nexus .* go1\.\d+.* \w+/\w+$`}, command)
	u.ExpectMatch(0, []string{`"version": "`, `"go": "go1\.`, `"platform": "\w+/\w+"`}, command, "--json")
	u.Expect(2, []string{`"code": "invalid_input"`, `"hint":`, `does not take "extra"`}, command, "--json", "extra")
	u.Expect(2, []string{`unknown --color "sometimes"`}, command, "--color", "sometimes")
	u.Expect(2, []string{`directory "nowhere" does not exist`}, command, "--cd", "nowhere")
}
