// Package outside judges calls of tools that servers offer, of which nothing is
// known but their names: what a server says of a tool is not believed.
package outside

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
)

// Prefix begins the entries of rules that are about tools of servers:
// "mcp:SERVER" for all of them and "mcp:SERVER/TOOL" for one.
const Prefix = "mcp:"

// Name returns a tool's name in rules and for people.
func Name(server, tool string) string { return Prefix + server + "/" + tool }

// Rule judges a call. Without a word in the rules it is asked about; the
// strictest word counts.
func Rule(server, tool string, r policy.Rules) policy.Decision {
	name := Name(server, tool)
	for _, answer := range []struct {
		entries []string
		policy.Decision
	}{
		{r.Deny, policy.Decision{Decision: policy.Deny, Rule: "own.deny", Reason: "the rules deny "}},
		{r.Ask, policy.Decision{Decision: policy.Ask, Rule: "own.ask", Reason: "the rules ask about "}},
		{r.Allow, policy.Decision{Decision: policy.Allow, Rule: "own.allow", Reason: "the rules allow "}},
	} {
		if i := slices.IndexFunc(answer.entries, func(e string) bool { return fits(e, server, name) }); i >= 0 {
			answer.Reason += answer.entries[i]
			return answer.Decision
		}
	}
	return policy.Decision{Decision: policy.Ask, Rule: "mcp.call", Reason: "nobody allowed " + name}
}

func fits(entry, server, name string) bool {
	return entry == name || strings.TrimSuffix(entry, "/") == Prefix+server
}
