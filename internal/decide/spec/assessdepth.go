package spec

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Thresholds from which a goal needs a spec, and one that criticizes itself.
const (
	fewWords, fewStatements   = 40, 2
	manyWords, manyStatements = 300, 10
	bigTree                   = 1_000 // files of a repository that is too large to remember
	severalHard               = 2
)

// AssessDepth returns the appropriate depth of a spec for a goal, with reasons: the length of the
// goal, its subjects, and the number of files in the repository.
func AssessDepth(goal string, files int) (SpecDepth, []string) {
	said, words, hard := len(StatementsOf(goal)), len(strings.Fields(goal)), hardSubjects(goal)
	about := "the goal is about " + strings.Join(hard, ", ")
	var deep []string
	if said >= manyStatements {
		deep = append(deep, fmt.Sprintf("the goal has %d statements", said))
	}
	if words >= manyWords {
		deep = append(deep, fmt.Sprintf("the goal has %d words", words))
	}
	if len(hard) >= severalHard {
		deep = append(deep, about)
	}
	if len(hard) > 0 && files >= bigTree {
		deep = append(deep, fmt.Sprintf("%s, in a repository of %d files", about, files))
	}
	switch {
	case len(deep) > 0:
		return Deep, deep
	case said <= fewStatements && words <= fewWords && len(hard) == 0:
		return Quick, []string{fmt.Sprintf("the goal is short: %s, %s", countText(said, "statement"), countText(words, "word"))}
	case len(hard) > 0:
		return Standard, []string{about}
	default:
		return Standard, []string{fmt.Sprintf("the goal has %s and %s", countText(said, "statement"), countText(words, "word"))}
	}
}

func countText(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// hardSubjects returns subjects of a goal that are hard to get right or to undo.
func hardSubjects(goal string) (all []string) {
	words := strings.FieldsFunc(strings.ToLower(goal), func(c rune) bool { return !unicode.IsLetter(c) })
	for _, h := range []struct {
		name  string
		stems []string
	}{
		{"access rights", []string{"authenticat", "authoriz", "permission", "login", "oauth", "password"}},
		{"security", []string{"security", "encrypt", "cryptograph", "secret"}},
		{"a migration", []string{"migrat", "upgrad"}},
		{"money", []string{"payment", "billing", "invoice", "checkout"}},
		{"concurrency", []string{"concurren", "distributed", "transaction", "realtime"}},
		{"a rewrite", []string{"rewrit", "redesign", "rearchitect"}},
		{"several clients", []string{"multitenan", "tenant"}},
	} {
		if slices.ContainsFunc(words, func(w string) bool {
			return slices.ContainsFunc(h.stems, func(s string) bool { return strings.HasPrefix(w, s) })
		}) {
			all = append(all, h.name)
		}
	}
	return all
}

// SpecFileName derives the name of a spec's file from a text: its first words.
func SpecFileName(text string) string {
	var words []string
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	}) {
		if len(words) < 6 && len(strings.Join(words, "-"))+len(w) < 50 {
			words = append(words, w)
		}
	}
	if len(words) == 0 {
		return "spec"
	}
	return strings.Join(words, "-")
}
