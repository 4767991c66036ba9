package agentscmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/agentscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, agentscmd.New, map[string]*agentscmd.Options{"": {}, "claude": nil})
}

// TestAgents lists the known agent programs, installed or not, and the steps that make each usable.
func TestAgents(t *testing.T) {
	command := func(c *console.Console) *cobra.Command { return agentscmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Env["PATH"] = t.TempDir()
	u.ExpectMatch(0, []string{`^missing claude`, "^ +next: .*install", "!^ready"}, command)
	program := filepath.Join(u.Env["PATH"], "helper")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil { //nolint:gosec // it is a program
		t.Fatal(err)
	}
	u.Env["NEXUS_AGENTS_HELPER_COMMAND"], u.Env["NEXUS_AGENTS_HELPER_SPEAKS"] = program, "text"
	u.ExpectMatch(0, []string{`^not yet helper +.*speaks text, paid by`, "^ +(next|then): nexus trust agent helper$", `then: set roles.coder.agent = "helper"`}, command)
	u.ExpectMatch(0, []string{`"name": "helper",\s+"program": "[^"]+",\s+"installed": true`, `"counts": "nothing"`, `"trusted": false`}, command, "--json")
}
