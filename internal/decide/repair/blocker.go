package repair

import (
	"regexp"
	"slices"
)

// BlockerKind says what stands in the way of a task.
type BlockerKind string

// The kinds.
const (
	External    BlockerKind = "external"            // something outside: a key, an account, a service, a device, somebody's consent
	Unclear     BlockerKind = "unclear_requirement" // what is wanted is not said, or contradicts itself
	Dependency  BlockerKind = "dependency"          // other work, a library or a version that is not there
	Knowledge   BlockerKind = "knowledge_gap"       // how it works is not known
	Technical   BlockerKind = "technical"           // anything else
	longestText             = 2_000                 // bytes of a text that are looked at
)

// Blocker is one thing that stands in the way.
type Blocker struct {
	Kind   BlockerKind `json:"kind"`
	Person bool        `json:"person,omitzero"` // its agent submitted that only a person can take it away
	Text   string      `json:"text"`
}

// blockerSign is how agents speak of a kind of blocker.
type blockerSign struct {
	kind BlockerKind
	says *regexp.Regexp
}

// blockerSigns returns the signs, the most specific first. They only sort what is
// shown to people: ordinary text reads like them ("the parser requires
// passwords"), so nothing is decided by words.
func blockerSigns() []blockerSign {
	lack := `(?:no|not (?:have|given|set|available|configured|provided)|lacks?|missing|without|needs?|requires?|cannot (?:get|access|reach)|don't have|do not have|waiting for|must (?:be )?(?:given|provide[ds]?))`
	thing := `(?:api[- ]?keys?|access keys?|credentials?|passwords?|secrets?|access tokens?|auth(?:entication|orization)? tokens?|accounts?|licen[cs]es?|subscriptions?|payments?|certificates?|production access|permissions?|approvals?|sign-?off|consent|hardware|devices?|vpn)`
	re := func(text string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + text) }
	return []blockerSign{
		{External, re(`\b` + lack + `\b[^.;\n]{0,40}\b` + thing + `\b`)},
		{External, re(`\b` + thing + `\b[^.;\n]{0,30}\b(?:is|are|was|were)\b[^.;\n]{0,20}\b(?:missing|required|not (?:set|given|available|provided|configured)|revoked|expired)\b`)},
		{External, re(`\b(?:an?|the|some) (?:person|human|maintainer|owner|legal)\b[^.;\n]{0,20}\b(?:must|has to|needs? to|should) (?:decide|approve|agree|confirm|choose|sign)\b`)},
		{Unclear, re(`\b(?:unclear|ambiguous|contradict(?:s|ory|ion)?|underspecified|not specified|conflicting requirements?|two readings)\b`)},
		{Dependency, re(`\b(?:depends? on|needs?|requires?|waits? for)\b[^.;\n]{0,40}\b(?:task|[A-Z][0-9]+|other (?:work|change)|package|librar(?:y|ies)|module|version)\b`)},
		{Dependency, re(`\b(?:package|librar(?:y|ies)|module|dependenc(?:y|ies))\b[^.;\n]{0,30}\b(?:not (?:found|installed|there|available)|missing)\b`)},
		{Knowledge, re(`\b(?:do(?:es)? not know|don't know|cannot (?:find|tell)|no documentation|undocumented|not documented|unfamiliar)\b`)},
	}
}

// Blockers returns what texts of agents say stands in the way, each text once,
// as the first sign of the catalogue that it shows. What they say is a claim.
func Blockers(texts ...string) []Blocker {
	var all []Blocker
	for _, text := range texts {
		if text == "" || slices.ContainsFunc(all, func(b Blocker) bool { return b.Text == text }) {
			continue
		}
		b := Blocker{Kind: Technical, Text: text}
		head := text[:min(len(text), longestText)]
		for _, s := range blockerSigns() {
			if s.says.MatchString(head) {
				b.Kind = s.kind
				break
			}
		}
		all = append(all, b)
	}
	return all
}
