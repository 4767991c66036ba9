package route

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Numbers of criteria from which a task is more than simple, and more than medium.
const (
	mediumCriteria  = 4
	complexCriteria = 8
)

// expertWords and complexWords are those of nax. A word matches the start of a word in the
// text, so that "refactor" finds "refactoring"; short words match only whole words, so that
// "auth" does not match "author" and "saga" not a name.
func expertWords() []string {
	return []string{
		"cryptograph", "zero-knowledge", "distributed consensus", "real-time", "websocket", "streaming", "performance critical",
	}
}

func complexWords() []string {
	return []string{
		"refactor", "redesign", "architecture", "migration", "breaking change", "public api", "security", "auth", "authentic", "authoriz",
		"oauth", "encryption", "permission", "rbac", "casl", "jwt", "grpc", "microservice", "event-driven", "saga",
	}
}

// whole is the length up to which a word matches only whole words.
const whole = 5

// keywordTier estimates a task by its words and its number of criteria. It always has a result.
func keywordTier(t nexus.Task) (nexus.StartTierChosen, bool) {
	text := wordsOf(t)
	n := len(t.Criteria)
	f := nexus.StartTierChosen{Complexity: nexus.Simple, Why: "no keyword says otherwise"}
	if w := firstWordIn(text, expertWords()); w != "" {
		f = nexus.StartTierChosen{Complexity: nexus.Expert, Why: fmt.Sprintf("it says %q", w)}
	} else if w := firstWordIn(text, complexWords()); w != "" {
		f = nexus.StartTierChosen{Complexity: nexus.Complex, Why: fmt.Sprintf("it says %q", w)}
	} else if n > complexCriteria {
		f = nexus.StartTierChosen{Complexity: nexus.Complex, Why: fmt.Sprintf("it has %d criteria", n)}
	} else if n > mediumCriteria {
		f = nexus.StartTierChosen{Complexity: nexus.Medium, Why: fmt.Sprintf("it has %d criteria", n)}
	}
	return f, true
}

// riskWords are words about security and public interfaces. Words with other frequent
// meanings, such as token and release, are excluded.
func riskWords() []string {
	return []string{
		"security", "auth", "authentic", "authoriz", "oauth", "encryption", "cryptograph", "permission", "rbac", "casl", "jwt", "credential", "password", "secret",
		"access token", "api key", "public api", "public interface", "public function", "public method", "public type", "exported function", "exported method",
		"exported type", "breaking change", "backward compatib", "backwards compatib", "sdk", "endpoint",
	}
}

// RiskWord returns the word that relates a task to security or a public interface, or "".
func RiskWord(t nexus.Task) string { return firstWordIn(wordsOf(t), riskWords()) }

// wordsOf returns a task's texts in lower case, with one space around each word. A hyphen
// stays part of its word.
func wordsOf(t nexus.Task) string {
	var all strings.Builder
	for _, s := range []string{t.Title, t.Brief} {
		all.WriteString(s + "\n")
	}
	for _, c := range t.Criteria {
		all.WriteString(c.Text + "\n")
	}
	fields := strings.FieldsFunc(strings.ToLower(all.String()), func(r rune) bool {
		return r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	return " " + strings.Join(fields, " ") + " "
}

// firstWordIn returns the first of the words that the text contains.
func firstWordIn(text string, words []string) string {
	for _, w := range words {
		look := " " + w
		if len(w) <= whole {
			look += " "
		}
		if strings.Contains(text, look) {
			return w
		}
	}
	return ""
}
