package forbiddenphrases

import (
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const (
	gap   = 12 // words that "*" may match
	stars = 3  // stars that count in a phrase, so that matching is fast for every text
)

// findPhrase returns the first forbidden phrase whose words occur one after the other in a text,
// ignoring case and punctuation between them; empty for none. A "*" among them matches up to
// twelve words.
//
// It compares words, so it protects honest people from mistakes. The policy for actions, whose
// words nobody can choose, decides what a run may do.
func findPhrase(text string, phrases []string) string {
	said := lowerCaseWords(text)
	for _, p := range phrases {
		want := phrasePattern(p)
		for i := range said {
			if len(want) > 0 && beginsWith(said[i:], want) {
				return p
			}
		}
	}
	return ""
}

// beginsWith reports whether words begin with the wanted words.
func beginsWith(said, want []string) bool {
	for i, w := range want {
		if w != "*" {
			if i >= len(said) || said[i] != w {
				return false
			}
			continue
		}
		for n := range gap + 1 {
			if i+n <= len(said) && beginsWith(said[i+n:], want[i+1:]) {
				return true
			}
		}
		return false
	}
	return true
}

// phrasePattern returns the words of a phrase, without stars at its ends.
func phrasePattern(phrase string) []string {
	var all []string
	left := stars
	for _, f := range strings.Fields(phrase) {
		if f == "*" {
			if len(all) > 0 && all[len(all)-1] != "*" && left > 0 {
				all = append(all, f)
				left--
			}
			continue
		}
		all = append(all, lowerCaseWords(f)...)
	}
	for len(all) > 0 && all[len(all)-1] == "*" {
		all = all[:len(all)-1]
	}
	return all
}

// lowerCaseWords returns the words of a text in lower case. Invisible characters do not separate words.
func lowerCaseWords(text string) []string {
	text = strings.Map(func(r rune) rune {
		if sanitize.IsHiddenCharacter(r) && !unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, text)
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) })
}
