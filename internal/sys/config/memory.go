package config

import "github.com/nexus-ai-builder/nexus/internal/sys/config/kind"

func memoryKeys() []SettingKey {
	const sent = "it decides where texts of your repository are sent"
	const vouch = "it decides whether agents see unapproved episodes"
	return []SettingKey{
		singleKey("memory.approve", kind.OneOf("person", "auto"),
			"who approves what runs and agents propose for the memory: person: agents see it once you "+
				"approved it; auto: at once, marked as not approved",
			func(c *Config) *string { return &c.Memory.Approve }).withProjectDenied(vouch),
		singleKey("memory.proposals", kind.WholeNumber(0, 100_000),
			"days after which nexus memory gc removes a proposal that was not approved; 0: never",
			func(c *Config) *int { return &c.Memory.Proposals }),
		singleKey("memory.unused", kind.WholeNumber(0, 100_000),
			"days after which nexus memory gc removes an approved episode that no task needed; 0: never",
			func(c *Config) *int { return &c.Memory.Unused }),
		singleKey("memory.embed.url", kind.WebAddress(),
			"address of an endpoint for vectors on this machine, such as http://127.0.0.1:11434/api/embed or http://127.0.0.1:8080/v1: "+
				"with it, episodes are also found by meaning; without it, only by files, symbols and words",
			func(c *Config) *string { return &c.Memory.Embed.URL }).withProjectDenied(sent),
		singleKey("memory.embed.model", kind.TextLine(), "the model of that endpoint, such as nomic-embed-text",
			func(c *Config) *string { return &c.Memory.Embed.Model }).withProjectDenied(sent),
		singleKey("memory.embed.hosts", kind.TextList(), "hosts besides this machine that memory.embed.url may name",
			func(c *Config) *[]string { return &c.Memory.Embed.Hosts }).withProjectDenied(sent),
	}
}
