package policy

import (
	"slices"
	"strings"
)

// serverPrefix starts the entries of rules about tools of MCP servers: "mcp:SERVER" for all
// of them and "mcp:SERVER/TOOL" for one.
const serverPrefix = "mcp:"

// ServerToolName returns a tool's name in rules and for people.
func ServerToolName(server, tool string) string { return serverPrefix + server + "/" + tool }

// JudgeServerTool judges a call. A call without a matching entry needs approval; the strictest
// entry counts.
func JudgeServerTool(server, tool string, r CommandPolicyContext) Decision {
	name := ServerToolName(server, tool)
	for _, answer := range []struct {
		entries []string
		Decision
	}{
		{r.Deny, Decision{Decision: Deny, Rule: "own.deny", Reason: "the rules deny "}},
		{r.Ask, Decision{Decision: Ask, Rule: "own.ask", Reason: "the rules ask about "}},
		{r.Allow, Decision{Decision: Allow, Rule: "own.allow", Reason: "the rules allow "}},
	} {
		if i := slices.IndexFunc(answer.entries, func(e string) bool { return matchesServerTool(e, server, name) }); i >= 0 {
			answer.Reason += answer.entries[i]
			return answer.Decision
		}
	}
	return Decision{Decision: Ask, Rule: "mcp.call", Reason: "nobody allowed " + name}
}

func matchesServerTool(entry, server, name string) bool {
	return entry == name || strings.TrimSuffix(entry, "/") == serverPrefix+server
}
