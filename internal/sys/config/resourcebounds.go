package config

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// ResourceBounds limit the machine resources of a command of an agent, a gate or an agent program. Zero
// means the default limit.
type ResourceBounds struct {
	Memory    int64         // bytes, for all its processes together
	CPU       time.Duration // processor time of all its processes together; 0: no limit
	Disk      int64         // bytes that it may add to the disk
	Processes int           // processes and threads
}

func resourceBoundKeys() []SettingKey {
	const why = "it decides how much of your machine is used"
	const each = " of a command, a gate, or an agent program with all that it starts; a process that uses more is killed, and the result says so"
	return []SettingKey{
		newSingleKey("limits.memory", valuekind.ByteSizeKind(), "memory"+each+"; 0: three quarters of the machine's",
			func(c *Config) *int64 { return &c.Bounds.Memory }).withProjectDenied(why),
		newSingleKey("limits.cpu", valuekind.DurationKind(), "processor time"+each+"; 0s: no cap",
			func(c *Config) *time.Duration { return &c.Bounds.CPU }).withProjectDenied(why),
		newSingleKey("limits.disk", valuekind.ByteSizeKind(), "bytes that may be added to the disk by a command, a gate, or an agent program; a process that writes more is killed, and the result says so; 0: 8G",
			func(c *Config) *int64 { return &c.Bounds.Disk }).withProjectDenied(why),
		newSingleKey("limits.processes", valuekind.WholeNumberKind(0, 1_000_000), "processes and threads"+each+"; 0: 512 and 128 for each processor",
			func(c *Config) *int { return &c.Bounds.Processes }).withProjectDenied(why),
	}
}
