package nexus

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// ApprovalMode sets which actions of a run need a person's approval first. Each level includes
// the one before it. A level never allows an action that policy denies.
type ApprovalMode string

// The levels, from fewest approvals to most. If no person is available to approve an action,
// it is not done, at any level.
const (
	// nothing waits; commands for which policy requires approval are refused.
	ApproveNone        ApprovalMode = "none"
	ApproveDestructive ApprovalMode = "destructive" // commands of agents for which policy requires approval
	ApproveCommits     ApprovalMode = "commits"     // also publishing the landed commits
	ApproveAll         ApprovalMode = "all"         // also the plan, and every command of an agent
)

// ApprovalModes returns the levels, from fewest approvals to most.
func ApprovalModes() []ApprovalMode {
	return []ApprovalMode{ApproveNone, ApproveDestructive, ApproveCommits, ApproveAll}
}

// NeedsApproval reports whether an action of the given level needs a person's approval at a. The zero
// ApprovalMode belongs to runs from before the levels existed and counts as none; an unknown
// level requires approval for everything.
func (a ApprovalMode) NeedsApproval(level ApprovalMode) bool {
	at := slices.Index(ApprovalModes(), cmp.Or(a, ApproveNone))
	return at < 0 || at >= slices.Index(ApprovalModes(), level)
}

// IsYes reports whether a person's answer is a yes. Anything that is not clearly a yes is a
// no.
func IsYes(answer string) bool {
	return slices.Contains([]string{"y", "yes", "ok", "approve", "approved"}, strings.ToLower(strings.TrimSpace(answer)))
}

// PlanApprovalRule is the rule whether a person must approve the plan before any of it starts. The
// zero Consent belongs to runs that policy lets start; an approval level that includes the
// plan requires the approval anyway.
type PlanApprovalRule struct {
	Wanted bool   `json:"wanted,omitzero"`
	Given  string `json:"given,omitzero"` // the person who approved in advance any plan that is made
}

// PlanTrigger is the trigger of the question whether a plan may be carried out.
const PlanTrigger = "plan"

// RequestedChangeIn returns the change that a person who does not agree asks for: the text after a no
// and a punctuation mark, or the whole answer if it does not start with a no. It is empty for
// a plain no.
func RequestedChangeIn(answer string) string {
	answer = strings.TrimSpace(answer)
	end := strings.IndexFunc(answer, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(answer)
	}
	word, rest := strings.ToLower(answer[:end]), strings.TrimSpace(answer[end:])
	plain := slices.Contains([]string{"", "n", "no", "reject", "rejected"}, word)
	if plain && (rest == "" || strings.ContainsRune(":;,.!-", rune(rest[0]))) {
		return strings.TrimSpace(strings.TrimLeft(rest, " \t\r\n:;,.!-"))
	}
	return answer
}

// Unapproved is the default answer of a question for approval: no person is available, so the
// action is not done.
const Unapproved = "it waits for a person"
