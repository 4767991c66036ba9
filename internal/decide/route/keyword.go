package route

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Criteria from which on a task is more than simple, and than medium.
const (
	mediumCriteria  = 4
	complexCriteria = 8
)

// expertWords and complexWords are those of nax. A word matches where one of
// the text begins with it, so that "refactor" finds "refactoring"; the short
// ones match whole words alone, so that "auth" does not find "author" nor
// "saga" a name.
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

// whole is the length up to which a word matches whole words alone.
const whole = 5

// keyword judges a task by its words and by its number of criteria. It always
// answers.
func keyword(t nexus.Task) (nexus.TaskRouted, bool) {
	text := wordsOf(t)
	n := len(t.Criteria)
	f := nexus.TaskRouted{Complexity: nexus.Simple, Why: "no keyword says otherwise"}
	if w := find(text, expertWords()); w != "" {
		f = nexus.TaskRouted{Complexity: nexus.Expert, Why: fmt.Sprintf("it says %q", w)}
	} else if w := find(text, complexWords()); w != "" {
		f = nexus.TaskRouted{Complexity: nexus.Complex, Why: fmt.Sprintf("it says %q", w)}
	} else if n > complexCriteria {
		f = nexus.TaskRouted{Complexity: nexus.Complex, Why: fmt.Sprintf("it has %d criteria", n)}
	} else if n > mediumCriteria {
		f = nexus.TaskRouted{Complexity: nexus.Medium, Why: fmt.Sprintf("it has %d criteria", n)}
	}
	return f, true
}

// riskWords are those of security and of public interfaces. Words that as often
// mean something else, such as token and release, are not among them.
func riskWords() []string {
	return []string{
		"security", "auth", "authentic", "authoriz", "oauth", "encryption", "cryptograph", "permission", "rbac", "casl", "jwt", "credential", "password", "secret",
		"access token", "api key", "public api", "public interface", "public function", "public method", "public type", "exported function", "exported method",
		"exported type", "breaking change", "backward compatib", "backwards compatib", "sdk", "endpoint",
	}
}

// Risk returns the word by which a task touches security or a public
// interface, empty where it has none.
func Risk(t nexus.Task) string { return find(wordsOf(t), riskWords()) }

// wordsOf returns what a task says, in lower case, with one space around each
// word. A hyphen stays part of its word.
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

// find returns the first of the words that the text has.
func find(text string, words []string) string {
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
