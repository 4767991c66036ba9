package config

import (
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// MCPServerSettings is a server of the Model Context Protocol: a program or a URL.
type MCPServerSettings struct {
	Command string
	Args    []string
	Env     []string // "NAME=value"
	Cwd     string   // in the worktree
	URL     string
	Headers []string // "Name=value"
	Roles   []string // roles that get its tools; empty: those that write
	Tools   []string // offered tools; empty: all
	Timeout time.Duration
	Writes  bool
	Network []string // presets and hosts that its program may reach; none: no network
}

// ConsentNames returns the actions for which a person can agree beforehand for clients of nexus mcp:
// those that spend money, land changes, or answer for a person.
func ConsentNames() []string {
	return []string{"plan", "run", "quick", "add", "resume", "answer", "approve", "land"}
}

// EditorConsentNames returns the actions for which a person can agree beforehand for clients of nexus
// acp. Only a person may answer questions there.
func EditorConsentNames() []string { return []string{"plan", "run", "quick", "resume", "land"} }

func mcpServerKeys() []SettingKey {
	servers := func(c *Config) *map[string]MCPServerSettings { return &c.Servers }
	return []SettingKey{
		newSingleKey("mcp.serve.allow", valuekind.NameListKind(ConsentNames()...), "actions that a client of nexus mcp may take without a person's consent to each call; land: land the result of a run (docs/integrate.md)", func(c *Config) *[]string { return &c.Allowed }).withProjectDenied("it decides who may spend, land and answer for you"),
		newSingleKey("acp.serve.allow", valuekind.NameListKind(EditorConsentNames()...), "actions that a client of nexus acp may take without a person's consent each time; land: land the result of a run (docs/integrate.md)", func(c *Config) *[]string { return &c.Editors }).withProjectDenied("it decides who may spend and land"),
		commandKey("mcp.servers.*.command", "program and arguments of this MCP server; it runs in the sandbox, without a network unless network is set; a program from the project's file needs nexus trust", servers, func(s *MCPServerSettings) (*string, *[]string) { return &s.Command, &s.Args }),
		newMapFieldKey("mcp.servers.*.env", valuekind.NameValueTableKind(`^[A-Za-z_][A-Za-z0-9_]*$`), "environment variables for it; ${NAME} inserts one of yours, but not in the project's file", servers, func(s *MCPServerSettings) *[]string { return &s.Env }),
		newMapFieldKey("mcp.servers.*.cwd", valuekind.TextLineKind(), "directory in the worktree to run it in", servers, func(s *MCPServerSettings) *string { return &s.Cwd }),
		newMapFieldKey("mcp.servers.*.url", valuekind.WebAddressKind(), "address of a server that is reached over HTTP: https, or http on this machine", servers, func(s *MCPServerSettings) *string { return &s.URL }),
		newMapFieldKey("mcp.servers.*.headers", valuekind.NameValueTableKind(`^[A-Za-z0-9-]+$`), "HTTP headers to send; ${NAME} inserts one of your variables, but not in the project's file", servers, func(s *MCPServerSettings) *[]string { return &s.Headers }),
		newMapFieldKey("mcp.servers.*.roles", valuekind.NameListKind("planner", "coder", "tester", "reviewer", "merger"), "roles that may use its tools; default: coder and tester", servers, func(s *MCPServerSettings) *[]string { return &s.Roles }),
		newMapFieldKey("mcp.servers.*.tools", valuekind.TextListKind(), "tools to offer; default: all", servers, func(s *MCPServerSettings) *[]string { return &s.Tools }),
		newMapFieldKey("mcp.servers.*.timeout", valuekind.DurationKind(), "longest time of a call without progress; 0s: one minute", servers, func(s *MCPServerSettings) *time.Duration { return &s.Timeout }),
		newMapFieldKey("mcp.servers.*.network", valuekind.TextListKind(), "hosts, as in network.allow, and presets that its program may reach through the proxy; network.deny applies too", servers, func(s *MCPServerSettings) *[]string { return &s.Network }).withProjectDenied("it opens the network"),
		newMapFieldKey("mcp.servers.*.writes", valuekind.BooleanKind(), "it may write to the worktree, for roles that may write all of it", servers, func(s *MCPServerSettings) *bool { return &s.Writes }),
	}
}

// The sections whose entries run programs. An entry belongs to the source that defines it.
const (
	ServerSection = "mcp.servers."
	HookSection   = "hooks."
	PluginSection = "plugins."
)

// splitEntryKey returns the section and the name of a key's entry.
func splitEntryKey(key string) (section, name string, ok bool) {
	for _, section := range []string{ServerSection, HookSection, PluginSection, PipelineSection} {
		if rest, ok := strings.CutPrefix(key, section); ok {
			name, _, _ := strings.Cut(rest, ".")
			return section, name, true
		}
	}
	return "", "", false
}

// hasNonProjectEntry reports whether a source before the project's file defines an entry: the requests to it
// may contain a key.
func (l *settingsLoader) hasNonProjectEntry(section, name string) bool {
	for key, o := range l.origins {
		if s, n, ok := splitEntryKey(key); ok && s == section && n == name && o.Layer != LayerProject {
			return true
		}
	}
	return false
}

// ProjectEntries returns the names of the section's entries that the project's file defines.
func (o SettingOrigins) ProjectEntries(section string) []string {
	var names []string
	for key, origin := range o {
		if s, name, ok := splitEntryKey(key); ok && s == section && origin.Layer == LayerProject && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
