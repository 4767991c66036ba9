package repair

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const (
	near   = 2 // lines between two findings that may be the same
	shared = 2 // minimum share of common words: one in this number
)

// IsSameFinding reports whether two findings are about the same problem: close to each other
// in one file, with similar words.
func IsSameFinding(a, b nexus.Finding) bool {
	if a.File != b.File || a.Line > 0 && b.Line > 0 && max(a.Line-b.Line, b.Line-a.Line) > near {
		return false
	}
	x, y := significantWords(a.Message), significantWords(b.Message)
	both := 0
	for w := range x {
		if y[w] {
			both++
		}
	}
	return both > 0 && both*shared >= len(x)+len(y)-both
}

// significantWords returns the significant words of a text.
func significantWords(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return r < '0' || r > '9' && r < 'a' || r > 'z' && r < 0x80
	}) {
		if len(w) > 2 || w >= "0" && w <= "99" {
			all[w] = true
		}
	}
	return all
}
