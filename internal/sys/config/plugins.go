package config

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// PluginSettings is a program that answers questions of Nexus; see docs/extend.md.
type PluginSettings struct {
	Command  string
	Args     []string
	Kinds    []string // kinds of its questions
	Timeout  time.Duration
	Required bool     // a run without it does not start
	Env      []string // "NAME=value"
	Network  []string // presets and hosts that it may reach; none: no network
	Sandbox  string   // "off": it runs outside of the sandbox
}

func pluginKeys() []SettingKey {
	plugins := func(c *Config) *map[string]PluginSettings { return &c.Plugins }
	var kinds []string
	for _, k := range nexus.PluginKinds() {
		kinds = append(kinds, string(k))
	}
	return []SettingKey{
		commandKey("plugins.*.command", "program and arguments of this plugin (docs/extend.md); no shell reads them. A plugin from the project's file needs nexus trust",
			plugins, func(p *PluginSettings) (*string, *[]string) { return &p.Command, &p.Args }),
		newMapFieldKey("plugins.*.kinds", valuekind.NameListKind(kinds...),
			"kinds of questions for it; the plugin must support each kind",
			plugins, func(p *PluginSettings) *[]string { return &p.Kinds }),
		newMapFieldKey("plugins.*.timeout", valuekind.DurationKind(),
			"time for each answer, after which it is killed with everything that it started; 0s: 30 seconds",
			plugins, func(p *PluginSettings) *time.Duration { return &p.Timeout }),
		newMapFieldKey("plugins.*.required", valuekind.BooleanKind(),
			"true: no run starts or continues while it cannot answer; false: runs continue without it",
			plugins, func(p *PluginSettings) *bool { return &p.Required }),
		newMapFieldKey("plugins.*.env", valuekind.NameValueTableKind(`^[A-Za-z_][A-Za-z0-9_]*$`),
			"environment variables for it; ${NAME} inserts one of yours, but not in the project's file",
			plugins, func(p *PluginSettings) *[]string { return &p.Env }),
		newMapFieldKey("plugins.*.network", valuekind.TextListKind(),
			"hosts, as in network.allow, and presets that it may reach through the proxy; network.deny applies too",
			plugins, func(p *PluginSettings) *[]string { return &p.Network }).withProjectDenied("it opens the network"),
		newMapFieldKey("plugins.*.sandbox", valuekind.OneOfKind("on", "off"),
			"off: it runs as you would run it, with your files and your network, once you agreed to it with nexus trust",
			plugins, func(p *PluginSettings) *string { return &p.Sandbox }).withProjectDenied("it decides what runs outside the sandbox"),
	}
}
