// Package policy decides whether an agent may do something: allow, ask or deny, with the rule
// and the reason.
//
// The sandbox is the barrier. In it, the policy judges only what the sandbox does not prevent: what
// others would see, what is protected in the tree, and what would mislead a person. These are rows of
// a table (rules.txt, and those of each stack), matched with the words of each simple command. What
// cannot be read is allowed there, since the sandbox confines it. Without a sandbox a command runs only
// if the table lists it. A run without a person treats ask as a refusal and sends the reason to
// the model.
package policy

import (
	"path"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
)

// RuleAnswer is the result of a rule.
type RuleAnswer string

// From least to most strict.
const (
	Allow RuleAnswer = "allow"
	Ask   RuleAnswer = "ask"
	Deny  RuleAnswer = "deny"
)

// Decision is an answer with its rule and reason.
type Decision struct {
	Decision RuleAnswer `json:"decision"`
	Rule     string     `json:"rule"`           // stable name of the rule
	Reason   string     `json:"reason"`         // for people and models, a clause
	Part     string     `json:"part,omitempty"` // the part of the command that it is about; empty if it is allowed
	Way      string     `json:"way,omitempty"`  // an allowed alternative, as a clause; empty if it is allowed
}

// allowDecision returns the decision to allow, by a rule.
func allowDecision(rule, reason string) Decision {
	return Decision{Decision: Allow, Rule: rule, Reason: reason}
}

// IsAllowed reports whether the action is allowed without a question. The zero value is not.
func (d Decision) IsAllowed() bool { return d.Decision == Allow }

// severity returns the rank of an answer. An unknown answer has the highest rank.
func (a RuleAnswer) severity() int {
	switch a {
	case Allow:
		return 0
	case Ask:
		return 1
	default:
		return 2
	}
}

// stricterDecision returns the stricter decision, or the first one if they are equal.
func stricterDecision(a, b Decision) Decision {
	if b.Decision.severity() > a.Decision.severity() {
		return b
	}
	return a
}

// JudgePath judges reading or writing a file of the worktree by its name, which is
// slash-separated and relative to the root. The caller that opens the file must confine its
// real location.
func JudgePath(name string, write bool) Decision {
	switch pathkind.ProtectionOf(name, write) {
	case pathkind.Git:
		return pathDecision(Deny, "path.git", name)
	case pathkind.AgentConfig:
		return pathDecision(Deny, "path.agent-config", name)
	case pathkind.MaySecret:
		d := pathDecision(Ask, "path.secret", name)
		d.Reason = path.Base(name) + " has a name that suggests secrets, so it is hidden from agents; the user can show it with policy.show"
		return d
	default:
		return allowDecision("path.worktree", "inside the worktree")
	}
}

func pathDecision(a RuleAnswer, rule, name string) Decision {
	e := table.explanationOf(rule)
	return Decision{Decision: a, Rule: rule, Reason: e.reason, Part: name, Way: e.way}
}
