package config

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// HookSettings is a command that runs at points of a run.
type HookSettings struct {
	On      []string
	Command []string // program and arguments
	Timeout time.Duration
	Env     []string // "NAME=value"
	Network []string // presets and hosts that it may reach; none: no network
	Sandbox string   // "off": it runs outside of the sandbox
}

func hookKeys() []SettingKey {
	hooks := func(c *Config) *map[string]HookSettings { return &c.Hooks }
	points := nexus.HookPoints()
	names := make([]string, len(points))
	for i, p := range points {
		names[i] = string(p)
	}
	return []SettingKey{
		newMapFieldKey("hooks.*.on", valuekind.NameListKind(names...),
			"points of a run at which the command runs; for run.start and run.land it runs before them, and may refuse",
			hooks, func(h *HookSettings) *[]string { return &h.On }),
		newMapFieldKey("hooks.*.command", valuekind.TextListKind(),
			"program and arguments; no shell reads them. A hook from the project's file needs nexus trust",
			hooks, func(h *HookSettings) *[]string { return &h.Command }),
		newMapFieldKey("hooks.*.timeout", valuekind.DurationKind(),
			"time after which it is killed with everything that it started; 0s: 30 seconds",
			hooks, func(h *HookSettings) *time.Duration { return &h.Timeout }),
		newMapFieldKey("hooks.*.env", valuekind.NameValueTableKind(`^[A-Za-z_][A-Za-z0-9_]*$`),
			"environment variables for it; ${NAME} inserts one of yours, but not in the project's file",
			hooks, func(h *HookSettings) *[]string { return &h.Env }),
		newMapFieldKey("hooks.*.network", valuekind.TextListKind(),
			"hosts, as in network.allow, and presets that it may reach through the proxy; network.deny applies too",
			hooks, func(h *HookSettings) *[]string { return &h.Network }).withProjectDenied("it opens the network"),
		newMapFieldKey("hooks.*.sandbox", valuekind.OneOfKind("on", "off"),
			"off: it runs as you would run it, with your files and your network, once you agreed to it with nexus trust",
			hooks, func(h *HookSettings) *string { return &h.Sandbox }).withProjectDenied("it decides what runs outside the sandbox"),
	}
}
