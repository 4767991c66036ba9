package config

import "github.com/nexus-ai-builder/nexus/internal/sys/config/kind"

func memoryKeys() []Key {
	const vouch = "it decides what nobody approved and agents are told all the same"
	return []Key{
		one("memory.tokens", kind.Whole(0, 100_000),
			"size in tokens of what planner, coders and testers are told of the repository's memory; 0: nothing "+
				"is told, and nothing proposed",
			func(c *Config) *int { return &c.Memory.Tokens }),
		one("memory.approve", kind.Words("person", "auto"),
			"who approves what runs and agents propose for the memory: person: agents are told of it once you "+
				"approved it; auto: at once, marked as not approved",
			func(c *Config) *string { return &c.Memory.Approve }).trusted(vouch),
		one("memory.proposals", kind.Whole(0, 100_000),
			"days after which nexus memory gc removes a proposal that nobody approved; 0: never",
			func(c *Config) *int { return &c.Memory.Proposals }),
		one("memory.unused", kind.Whole(0, 100_000),
			"days after which nexus memory gc removes what is approved and no task needed; 0: never",
			func(c *Config) *int { return &c.Memory.Unused }),
	}
}
