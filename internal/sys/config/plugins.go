package config

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// Plugin is a program that answers questions of Nexus; see docs/extend.md.
type Plugin struct {
	Command  string
	Args     []string
	Kinds    []string // kinds of its questions
	Timeout  time.Duration
	Required bool     // a run without it does not start
	Env      []string // "NAME=value"
	Network  []string // presets and hosts that it may reach; none: no network
	Sandbox  string   // "off": it runs outside of the sandbox
}

func pluginKeys() []Key {
	plugins := func(c *Config) *map[string]Plugin { return &c.Plugins }
	var kinds []string
	for _, k := range nexus.PluginKinds() {
		kinds = append(kinds, string(k))
	}
	return []Key{
		mapFieldKey("plugins.*.command", kind.Text(),
			"program of this plugin (docs/extend.md); no shell reads it. A plugin from the project's file needs nexus trust",
			plugins, func(p *Plugin) *string { return &p.Command }),
		mapFieldKey("plugins.*.args", kind.Texts(), "its arguments", plugins, func(p *Plugin) *[]string { return &p.Args }),
		mapFieldKey("plugins.*.kinds", kind.List(kinds...),
			"kinds of questions for it; the plugin must support each kind",
			plugins, func(p *Plugin) *[]string { return &p.Kinds }),
		mapFieldKey("plugins.*.timeout", kind.Span(),
			"time for each answer, after which it is killed with everything that it started; 0s: 30 seconds",
			plugins, func(p *Plugin) *time.Duration { return &p.Timeout }),
		mapFieldKey("plugins.*.required", kind.Boolean(),
			"true: no run starts or continues while it cannot answer; false: runs continue without it",
			plugins, func(p *Plugin) *bool { return &p.Required }),
		mapFieldKey("plugins.*.env", kind.Pairs(`^[A-Za-z_][A-Za-z0-9_]*$`),
			"environment variables for it; ${NAME} inserts one of yours, but not in the project's file",
			plugins, func(p *Plugin) *[]string { return &p.Env }),
		mapFieldKey("plugins.*.network", kind.Texts(),
			"hosts, as in network.allow, and presets that it may reach through the proxy; network.deny applies too",
			plugins, func(p *Plugin) *[]string { return &p.Network }).trusted("it opens the network"),
		mapFieldKey("plugins.*.sandbox", kind.Words("on", "off"),
			"off: it runs as you would run it, with your files and your network, once you agreed to it with nexus trust",
			plugins, func(p *Plugin) *string { return &p.Sandbox }).trusted("it decides what runs outside the sandbox"),
	}
}
