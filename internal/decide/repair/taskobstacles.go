package repair

import (
	"regexp"
	"slices"
)

// ObstacleKind is the kind of an obstacle to a task.
type ObstacleKind string

// Values of ObstacleKind.
const (
	// something outside: a key, an account, a service, a device, somebody's consent.
	External    ObstacleKind = "external"
	Unclear     ObstacleKind = "unclear_requirement" // the requirement is missing or contradictory
	Dependency  ObstacleKind = "dependency"          // missing other work, or a missing library or version
	Knowledge   ObstacleKind = "knowledge_gap"       // missing knowledge
	Technical   ObstacleKind = "technical"           // anything else
	longestText              = 2_000                 // bytes of a text that are searched
)

// TaskObstacle is an obstacle.
type TaskObstacle struct {
	Kind   ObstacleKind `json:"kind"`
	Person bool         `json:"person,omitzero"` // its agent submitted that only a person can remove it
	Text   string       `json:"text"`
}

// obstaclePattern is a pattern for agents' statements about one kind of obstacle.
type obstaclePattern struct {
	kind ObstacleKind
	says *regexp.Regexp
}

// obstaclePatterns returns the patterns, the most specific first. They only classify text for
// people: ordinary text can match them ("the parser requires passwords"), so no decision
// depends on them.
func obstaclePatterns() []obstaclePattern {
	lack := `(?:no|not (?:have|given|set|available|configured|provided)|lacks?|missing|without|needs?|requires?|cannot (?:get|access|reach)|don't have|do not have|waiting for|must (?:be )?(?:given|provide[ds]?))`
	thing := `(?:api[- ]?keys?|access keys?|credentials?|passwords?|secrets?|access tokens?|auth(?:entication|orization)? tokens?|accounts?|licen[cs]es?|subscriptions?|payments?|certificates?|production access|permissions?|approvals?|sign-?off|consent|hardware|devices?|vpn)`
	re := func(text string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + text) }
	return []obstaclePattern{
		{External, re(`\b` + lack + `\b[^.;\n]{0,40}\b` + thing + `\b`)},
		{External, re(`\b` + thing + `\b[^.;\n]{0,30}\b(?:is|are|was|were)\b[^.;\n]{0,20}\b(?:missing|required|not (?:set|given|available|provided|configured)|revoked|expired)\b`)},
		{External, re(`\b(?:an?|the|some) (?:person|human|maintainer|owner|legal)\b[^.;\n]{0,20}\b(?:must|has to|needs? to|should) (?:decide|approve|agree|confirm|choose|sign)\b`)},
		{Unclear, re(`\b(?:unclear|ambiguous|contradict(?:s|ory|ion)?|underspecified|not specified|conflicting requirements?|two readings)\b`)},
		{Dependency, re(`\b(?:depends? on|needs?|requires?|waits? for)\b[^.;\n]{0,40}\b(?:task|[A-Z][0-9]+|other (?:work|change)|package|librar(?:y|ies)|module|version)\b`)},
		{Dependency, re(`\b(?:package|librar(?:y|ies)|module|dependenc(?:y|ies))\b[^.;\n]{0,30}\b(?:not (?:found|installed|there|available)|missing)\b`)},
		{Knowledge, re(`\b(?:do(?:es)? not know|don't know|cannot (?:find|tell)|no documentation|undocumented|not documented|unfamiliar)\b`)},
	}
}

// FindObstacles returns the obstacles in agents' texts, one per text, classified by the first
// matching pattern. They are agents' claims.
func FindObstacles(texts ...string) []TaskObstacle {
	var all []TaskObstacle
	for _, text := range texts {
		if text == "" || slices.ContainsFunc(all, func(b TaskObstacle) bool { return b.Text == text }) {
			continue
		}
		b := TaskObstacle{Kind: Technical, Text: text}
		head := text[:min(len(text), longestText)]
		for _, s := range obstaclePatterns() {
			if s.says.MatchString(head) {
				b.Kind = s.kind
				break
			}
		}
		all = append(all, b)
	}
	return all
}
