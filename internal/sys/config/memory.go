package config

import "github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"

func memoryKeys() []SettingKey {
	const sent = "it decides where texts of your repository are sent"
	const vouch = "it decides whether agents see unapproved episodes"
	return []SettingKey{
		newSingleKey("memory.approve", valuekind.OneOfKind("person", "auto"),
			"who approves what runs and agents propose for the memory: person: agents see it once you "+
				"approved it; auto: at once, marked as not approved",
			func(c *Config) *string { return &c.Memory.Approve }).withProjectDenied(vouch),
		newSingleKey("memory.embed.url", valuekind.WebAddressKind(),
			"address of an endpoint for vectors, such as http://127.0.0.1:11434/api/embed or http://127.0.0.1:8080/v1 on this machine, or https elsewhere: "+
				"with it, episodes are also found by meaning; without it, only by files, symbols and words",
			func(c *Config) *string { return &c.Memory.Embed.URL }).withProjectDenied(sent),
		newSingleKey("memory.embed.model", valuekind.TextLineKind(), "the model of that endpoint, such as nomic-embed-text",
			func(c *Config) *string { return &c.Memory.Embed.Model }).withProjectDenied(sent),
	}
}
