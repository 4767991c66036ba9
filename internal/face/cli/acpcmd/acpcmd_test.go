package acpcmd_test

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/acpcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// TestACP ends when the client is gone.
func TestACP(t *testing.T) {
	build := func(c *console.Console, run func(context.Context, *acpcmd.Options) error) *cobra.Command {
		return acpcmd.New(c, nil, run)
	}
	clitest.CheckFlags(t, build, map[string]*acpcmd.Options{"": {}, "now": nil, "--http": nil})
	u := clitest.NewUser(t, nil)
	u.In = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}` + "\n"
	u.Expect(0, []string{`"protocolVersion":1`, "nexus config key set PROVIDER"}, func(c *console.Console) *cobra.Command { return build(c, nil) })
}
