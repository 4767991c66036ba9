package nexus

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Approval says what a run may not do before a person agreed to it. Each
// level holds what the one before holds, and more. A level never opens what
// policy denies.
type Approval string

// The levels, the freest first. At each, what nobody is there to agree to is
// left to a person and not done.
const (
	ApproveNone        Approval = "none"        // nothing waits; commands that policy asks about are refused
	ApproveDestructive Approval = "destructive" // commands of agents that policy asks about
	ApproveCommits     Approval = "commits"     // and publishing what landed
	ApproveAll         Approval = "all"         // and the plan, and every command of an agent
)

// Approvals returns the levels, the freest first.
func Approvals() []Approval {
	return []Approval{ApproveNone, ApproveDestructive, ApproveCommits, ApproveAll}
}

// Holds reports whether what the level names waits for a person at a. The
// zero Approval is that of runs from before there were levels, and counts as
// none; a level that is unknown holds everything.
func (a Approval) Holds(level Approval) bool {
	at := slices.Index(Approvals(), cmp.Or(a, ApproveNone))
	return at < 0 || at >= slices.Index(Approvals(), level)
}

// Agrees reports whether what a person answered is a yes. Anything that is
// not plainly one is a no.
func Agrees(answer string) bool {
	return slices.Contains([]string{"y", "yes", "ok", "approve", "approved"}, strings.ToLower(strings.TrimSpace(answer)))
}

// Consent says whether a person has to agree to the plan before anything of it
// starts. The zero Consent is that of runs that policy lets start; a level of
// approval that holds the plan wants it all the same.
type Consent struct {
	Wanted bool   `json:"wanted,omitzero"`
	Given  string `json:"given,omitzero"` // who agreed beforehand to whatever plan there will be
}

// PlanTrigger is the trigger of the question whether a plan may be carried out.
const PlanTrigger = "plan"

// Objection returns what somebody who does not agree wants instead: what
// follows a no and a punctuation mark, or all of an answer that is not one. It
// is empty for a plain no.
func Objection(answer string) string {
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

// Unapproved is the fallback of a question for approval: nobody is there, so
// it is not done.
const Unapproved = "it waits for a person"
