package clarify

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
)

// InterviewMode is the rule when a goal leads to an interview before a run.
type InterviewMode string

// The zero value is [WhenVague].
const (
	WhenVague  InterviewMode = "vague"
	WhenNever  InterviewMode = "never"
	WhenAlways InterviewMode = "always"
)

// Numbers of words: a goal with at least the first number is specific; one with fewer than
// the second is vague.
const (
	manyWords = 40
	fewWords  = 4
)

// concrete matches the name of a thing in the repository or the result: code, a file, a flag,
// a call, a quoted text, an address, a number, a name in code.
var concrete = regexp.MustCompile("`[^`]+`" +
	`|"[^"]{2,}"|(?:^|\s)'[^']{3,}'|\B--?[a-z][\w-]*|\b\w+\(\)|\b[\w-]+\.[a-z]{1,5}\b|\b[\w.-]+/[\w.-]+|\b[a-z]+[A-Z]\w*|\b[A-Za-z]+_\w+|#\d+|\b\d+\b`)

// maintenanceVerbs returns verbs that start a goal about existing things, which the repository explains.
func maintenanceVerbs() []string {
	return []string{
		"fix", "repair", "rename", "remove", "delete", "revert", "bump", "upgrade", "update", "document",
		"translate", "deprecate", "reproduce", "undo", "format", "lint",
	}
}

// vagueWords returns words for a wish without any details.
func vagueWords() []string {
	return []string{
		"better", "nice", "nicer", "good", "great", "modern", "cool", "awesome", "somehow", "something",
		"stuff", "things", "etc", "improve", "enhance", "optimize", "optimise", "polish", "cleaner",
		"app", "application", "website",
		"site", "tool", "system", "platform", "service", "product", "dashboard", "game", "bot",
		"program", "project", "solution", "feature", "features", "software",
	}
}

// IsVague reports whether a goal does not define the result, and why. It is a rule on the text
// alone: in doubt the interviewer is asked, who may still find the goal clear.
func IsVague(goal string) (why string, vague bool) {
	words := strings.FieldsFunc(strings.ToLower(goal), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\''
	})
	listed := 0
	for l := range strings.Lines(goal) {
		l = strings.TrimSpace(l)
		if strings.HasPrefix(l, "- ") || strings.HasPrefix(l, "* ") || len(l) > 2 && unicode.IsDigit(rune(l[0])) && (l[1] == '.' || l[1] == ')') {
			listed++
		}
	}
	switch {
	case spec.LooksLikeSpec(goal) || len(words) == 0 || len(words) >= manyWords || listed >= 2 || concrete.MatchString(goal):
		return "", false
	case slices.Contains(maintenanceVerbs(), words[0]) && len(words) >= fewWords-1:
		return "", false
	case len(words) < fewWords:
		return "it has very few words", true
	}
	for _, w := range words {
		if slices.Contains(vagueWords(), w) {
			return "it names no more than " + w, true
		}
	}
	return "", false
}
