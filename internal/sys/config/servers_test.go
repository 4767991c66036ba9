package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

// TestServers reads servers of the Model Context Protocol. One that is the
// user's own is not the project's to change: its headers are keys.
func TestServers(t *testing.T) {
	const user = "[mcp.servers.github]\nurl = 'https://mcp.example.org'\nheaders = {Authorization = 'Bearer ${TOKEN}', X-A = 'b'}\n"
	c, o, err := config.Load(sources(t, user, "[mcp.servers.docs]\ncommand = 'docs'\nargs = ['--all', '']\nenv = {B = '2', A = '1'}\nroles = ['reviewer']\ntools = ['a/b']\ntimeout = '2m'\nwrites = true\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]config.Server{
		"github": {URL: "https://mcp.example.org", Headers: []string{"Authorization=Bearer ${TOKEN}", "X-A=b"}},
		"docs": {
			Command: "docs", Args: []string{"--all", ""}, Env: []string{"A=1", "B=2"}, Roles: []string{"reviewer"}, Tools: []string{"a/b"},
			Timeout: 2 * time.Minute, Writes: true,
		},
	}, c.Servers); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"docs"}, o.Projects()); d != "" {
		t.Error(d)
	}
	if _, _, err := config.Load(sources(t, "", "mcp.serve.allow = ['run']")); err == nil || !strings.Contains(err.Error(), "may not set mcp.serve.allow") {
		t.Errorf("a project allows to spend: %v", err)
	}
	for _, project := range []string{"mcp.servers.github.url = 'https://evil.example.org'", "mcp.servers.github.timeout = '1s'"} {
		if _, _, err := config.Load(sources(t, user, project)); err == nil || !strings.Contains(err.Error(), "may not change the server github") {
			t.Errorf("%s: %v", project, err)
		}
	}
}
