package config

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
)

// AgentProgramSettings configures a third-party agent program. For a program that Nexus knows, the known value
// applies to every empty field.
type AgentProgramSettings struct {
	Command string
	Args    []string
	Speaks  string // format of its stream, or acp
	Model   string
	Mode    string
	End     string   // text in the line that ends a prompt, if it speaks text
	Env     []string // "NAME=value"
	Hosts   []string
	Login   []string
	Billing string      // subscription or use
	Budget  nexus.Money // limit of a prompt's cost, if use is paid
}

func agentKeys() []SettingKey {
	agents := func(c *Config) *map[string]AgentProgramSettings { return &c.Agents }
	const runs = "it decides what runs with your login"
	return []SettingKey{
		newMapFieldKey("roles.*.agent", valuekind.AgentChainKind(),
			"agent program that does the sessions of this role instead of a model: aider, amp, claude, codex, copilot, crush, gemini, "+
				"goose, opencode, or one of agents; or a list of up to three: the next one works while those before it have no quota; "+
				"after agents, a list may name models, as provider/model, which cost money",
			roleMap, func(r *RoleSettings) *string { return &r.Agent }).withProjectDenied(runs),
		newMapFieldKey("agents.*.command", valuekind.TextLineKind(),
			"program of this agent, which runs in the sandbox",
			agents, func(a *AgentProgramSettings) *string { return &a.Command }).withProjectDenied(runs),
		newMapFieldKey("agents.*.args", valuekind.TextListKind(),
			"its first arguments; for an agent that speaks text, all of them, with {prompt} for the prompt, which it "+
				"reads from its input otherwise; {home} is its home",
			agents, func(a *AgentProgramSettings) *[]string { return &a.Args }).withProjectDenied(runs),
		newMapFieldKey("agents.*.speaks", valuekind.OneOfKind(append(stream.FormatNames(), "acp")...),
			"format of its output; text: any output, and its exit code says whether it is done; acp: the Agent Client Protocol, "+
				"in which it asks Nexus to write files and run commands",
			agents, func(a *AgentProgramSettings) *string { return &a.Speaks }).withProjectDenied(runs),
		newMapFieldKey("agents.*.model", valuekind.TextLineKind(),
			"model, as the program names it; if not set, the program chooses",
			agents, func(a *AgentProgramSettings) *string { return &a.Model }).withProjectDenied(runs),
		newMapFieldKey("agents.*.mode", valuekind.TextLineKind(),
			"mode, as the program names it, if it speaks acp; if not set, the program chooses",
			agents, func(a *AgentProgramSettings) *string { return &a.Mode }).withProjectDenied(runs),
		newMapFieldKey("agents.*.end", valuekind.TextLineKind(),
			"text in a line of its output that says that it is done, if it speaks text and does not exit by itself; if not set, its exit says that",
			agents, func(a *AgentProgramSettings) *string { return &a.End }).withProjectDenied(runs),
		newMapFieldKey("agents.*.env", valuekind.NameValueTableKind(`^[A-Za-z_][A-Za-z0-9_]*$`),
			"environment variables for it and for the commands that it runs; ${NAME} inserts one of yours",
			agents, func(a *AgentProgramSettings) *[]string { return &a.Env }).withProjectDenied(runs),
		newMapFieldKey("agents.*.hosts", hostListKind(egress.ParseAllowedHost),
			"hosts that it may reach, as in network.allow; network.deny applies too",
			agents, func(a *AgentProgramSettings) *[]string { return &a.Hosts }).withProjectDenied("it opens the network"),
		newMapFieldKey("agents.*.login", valuekind.TextListKind(),
			"files below your home that hold its login; it gets a copy",
			agents, func(a *AgentProgramSettings) *[]string { return &a.Login }).withProjectDenied(runs),
		newMapFieldKey("agents.*.billing", valuekind.OneOfKind("subscription", "use"),
			"subscription: its calls cost nothing, and only its quota limits it; use: they count against the budget",
			agents, func(a *AgentProgramSettings) *string { return &a.Billing }).withProjectDenied("it decides what counts against the budget"),
		newMapFieldKey("agents.*.budget", valuekind.DollarAmountKind(),
			"maximum dollars per prompt, reserved for it, if use is paid; 0: 2 dollars",
			agents, func(a *AgentProgramSettings) *nexus.Money { return &a.Budget }).withProjectDenied("it decides what is spent"),
	}
}
