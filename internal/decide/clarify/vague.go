package clarify

import (
	"slices"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// When says when a goal leads to an interview before a run.
type When string

// When there is an interview. The zero When is [WhenVague].
const (
	WhenVague  When = "vague"
	WhenNever  When = "never"
	WhenAlways When = "always"
)

// A goal of this many words says more than a wish; one of fewer than the second
// number hardly says anything.
const (
	manyWords = 40
	fewWords  = 4
)

// concrete is what names a thing of the repository or of the result: code,
// a file, a flag, a call, a quoted text, an address, a number, a name in code.
var concrete = pattern.Lazy("`[^`]+`" +
	`|"[^"]{2,}"|(?:^|\s)'[^']{3,}'|\B--?[a-z][\w-]*|\b\w+\(\)|\b[\w-]+\.[a-z]{1,5}\b|\b[\w.-]+/[\w.-]+|\b[a-z]+[A-Z]\w*|\b[A-Za-z]+_\w+|#\d+|\b\d+\b`)

// mends are verbs that begin a goal about what is there already, which the
// repository explains.
func mends() []string {
	return []string{
		"fix", "repair", "rename", "remove", "delete", "revert", "bump", "upgrade", "update", "document",
		"translate", "deprecate", "reproduce", "undo", "format", "lint",
	}
}

// wishes are words that say that something is wanted, and not what.
func wishes() []string {
	return []string{
		"better", "nice", "nicer", "good", "great", "modern", "cool", "awesome", "somehow", "something",
		"stuff", "things", "etc", "improve", "enhance", "optimize", "optimise", "polish", "cleaner",
		"app", "application", "website",
		"site", "tool", "system", "platform", "service", "product", "dashboard", "game", "bot",
		"program", "project", "solution", "feature", "features", "software",
	}
}

// Vague reports whether a goal leaves open what is to be built, and says by
// what. It is a rule on the text alone: who doubts it asks the interviewer, who
// may still say that the goal is clear.
func Vague(goal string) (why string, vague bool) {
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
	case spec.Is(goal) || len(words) == 0 || len(words) >= manyWords || listed >= 2 || concrete().MatchString(goal):
		return "", false
	case slices.Contains(mends(), words[0]) && len(words) >= fewWords-1:
		return "", false
	case len(words) < fewWords:
		return "it has very few words", true
	}
	for _, w := range words {
		if slices.Contains(wishes(), w) {
			return "it names no more than " + w, true
		}
	}
	return "", false
}
