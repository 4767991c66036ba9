package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ASCIIText returns a text for a locale with ASCII only, if the style is for one: it keeps the
// width, with ? for each column of a character that cannot be shown.
func ASCIIText(s view.OutputStyle, text string) string {
	if !s.ASCII || isASCII(text) {
		return text
	}
	known := map[string]string{
		"\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "\u2212": "-", "\u2018": "'", "\u2019": "'",
		"\u201c": `"`, "\u201d": `"`, "\u00a0": " ", "\u2026": "~", "\u2022": "*", "\u00b7": "|", "\u2192": ">", "\u2713": "+", "\u2717": "X",
	}
	var b strings.Builder
	for state := byte(0); text != ""; {
		sign, width, n, next := ansi.DecodeSequence(text, state, nil)
		ascii, found := known[sign]
		switch {
		case isASCII(sign):
			b.WriteString(sign)
		case found:
			b.WriteString(ascii)
		default:
			b.WriteString(strings.Repeat("?", width))
		}
		text, state = text[n:], next
	}
	return b.String()
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
