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
	c, o, err := config.LoadSources(sources(t, user, "[mcp.servers.docs]\ncommand = ['docs', '--all', '']\nenv = {B = '2', A = '1'}\nroles = ['reviewer']\ntools = ['a/b']\ntimeout = '2m'\nwrites = true\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]config.MCPServerSettings{
		"github": {URL: "https://mcp.example.org", Headers: []string{"Authorization=Bearer ${TOKEN}", "X-A=b"}},
		"docs": {
			Command: "docs", Args: []string{"--all", ""}, Env: []string{"A=1", "B=2"}, Roles: []string{"reviewer"}, Tools: []string{"a/b"},
			Timeout: 2 * time.Minute, Writes: true,
		},
	}, c.Servers); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"docs"}, o.ProjectEntries(config.ServerSection)); d != "" {
		t.Error(d)
	}
	if _, _, err := config.LoadSources(sources(t, "", "mcp.serve.allow = ['run']")); err == nil || !strings.Contains(err.Error(), "may not set mcp.serve.allow") {
		t.Errorf("a project allows to spend: %v", err)
	}
	for _, project := range []string{"mcp.servers.github.url = 'https://evil.example.org'", "mcp.servers.github.timeout = '1s'"} {
		if _, _, err := config.LoadSources(sources(t, user, project)); err == nil || !strings.Contains(err.Error(), "may not change mcp.servers.github") {
			t.Errorf("%s: %v", project, err)
		}
	}
}

// TestHooks reads hooks. The project's file may have some, but takes none out of
// the sandbox, gives none a network, and does not change those of the user.
func TestHooks(t *testing.T) {
	const user = "[hooks.mine]\non = ['run.end']\ncommand = ['notify', 'done']\nsandbox = 'off'\n"
	c, o, err := config.LoadSources(sources(t, user, "[hooks.theirs]\non = ['run.land', 'task.done']\ncommand = ['sh', 'a.sh']\ntimeout = '5s'\n"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(map[string]config.HookSettings{
		"mine":   {On: []string{"run.end"}, Command: []string{"notify", "done"}, Sandbox: "off"},
		"theirs": {On: []string{"run.land", "task.done"}, Command: []string{"sh", "a.sh"}, Timeout: 5 * time.Second},
	}, c.Hooks); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"theirs"}, o.ProjectEntries(config.HookSection)); d != "" {
		t.Error(d)
	}
	for project, want := range map[string]string{
		"hooks.theirs.sandbox = 'off'":           "outside the sandbox",
		"hooks.theirs.network = ['example.org']": "opens the network",
		"hooks.mine.command = ['evil']":          "may not change hooks.mine",
		"hooks.theirs.on = ['sometimes']":        "not one of run.start",

		"plugins.theirs.sandbox = 'off'":           "outside the sandbox",
		"plugins.theirs.network = ['example.org']": "opens the network",
		"plugins.theirs.kinds = ['boss']":          "not one of router",
	} {
		if _, _, err := config.LoadSources(sources(t, user, project)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", project, err)
		}
	}
}
