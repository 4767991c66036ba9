package mcpcmd_test

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/mcpcmd"
)

// build returns the command, which executes nothing.
func build(c *console.Console, run func(context.Context, *mcpcmd.Options) error) *cobra.Command {
	return mcpcmd.New(c, nil, run)
}

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, build, map[string]*mcpcmd.Options{
		"": {}, "--http": {HTTP: true}, "--http --json": {HTTP: true},
		"--http --listen 127.0.0.1:7777 --token-file t": {HTTP: true, Listen: "127.0.0.1:7777", TokenFile: "t"},
		"--listen 127.0.0.1:7777":                       nil,
		"--token-file t":                                nil,
		"--json":                                        nil,
		"serve":                                         nil,
	})
}

// TestServe greets a client on standard input, lists the tools, and ends when the client is gone.
func TestServe(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.In = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n"
	u.Expect(0, []string{`"serverInfo"`, "Nexus turns a goal into reviewed, tested commits"}, func(c *console.Console) *cobra.Command { return build(c, nil) })
}
