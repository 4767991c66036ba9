// Package policy decides what an agent may do: allow, ask or deny, with the
// rule and the reason.
//
// It is advice in depth and not the wall: the sandbox is. What it cannot
// judge it does not allow. A run without a person takes ask as a refusal and
// tells the model why.
package policy

import (
	"path"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
)

// Answer is what a rule says.
type Answer string

// The answers, mildest first.
const (
	Allow Answer = "allow"
	Ask   Answer = "ask"
	Deny  Answer = "deny"
)

// Decision is an answer with where it comes from.
type Decision struct {
	Decision Answer `json:"decision"`
	Rule     string `json:"rule"`           // stable name of the rule
	Reason   string `json:"reason"`         // for people and models, a clause
	Part     string `json:"part,omitempty"` // what of the command it is about; empty where it is allowed
	Way      string `json:"way,omitempty"`  // what is allowed instead, a clause; empty where it is allowed
}

// newDecision returns a decision about no part of its own.
func newDecision(a Answer, rule, reason string) Decision {
	return Decision{Decision: a, Rule: rule, Reason: reason}
}

// Allowed reports whether it may go ahead without a question. The zero
// Decision may not.
func (d Decision) Allowed() bool { return d.Decision == Allow }

// severity orders the answers; an unknown one counts as the strictest.
func (a Answer) severity() int {
	switch a {
	case Allow:
		return 0
	case Ask:
		return 1
	default:
		return 2
	}
}

// stricter returns the stricter decision, the first one when they are equal.
func stricter(a, b Decision) Decision {
	if b.Decision.severity() > a.Decision.severity() {
		return b
	}
	return a
}

// JudgePath judges reading or writing a file of the worktree by its name, which is
// slash-separated and relative to the root. Where the file really lies is for
// the opener to confine.
func JudgePath(name string, write bool) Decision {
	switch pathkind.Protected(name, write) {
	case pathkind.Git:
		return pathed(Deny, "path.git", "only git may touch its own files", name)
	case pathkind.AgentConfig:
		return pathed(Deny, "path.agent-config", "only people may edit the configuration of agents, editors and the policy", name)
	case pathkind.MaySecret:
		return pathed(Ask, "path.secret", path.Base(name)+" has a name that suggests secrets, so it is hidden from agents; the user can show it with policy.show", name)
	default:
		return newDecision(Allow, "path.worktree", "inside the worktree")
	}
}

func pathed(a Answer, rule, reason, name string) Decision {
	return Decision{Decision: a, Rule: rule, Reason: reason, Part: name, Way: alternativeTo(rule, "", false)}
}
