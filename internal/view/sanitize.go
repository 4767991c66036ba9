package view

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Sanitize is the last step before output: it removes all terminal sequences except the colours of
// the style. Texts are cleaned when they are inserted; names are not, and the names in an
// imported run come from a stranger.
func (s OutputStyle) Sanitize(text string) string {
	if !s.Color {
		return sanitize.RevealHidden(text)
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			b.WriteString(sanitize.RevealHidden(text))
			return b.String()
		}
		b.WriteString(sanitize.RevealHidden(text[:at]))
		n := colorSequenceLength(text[at:])
		if n == 0 {
			n = 1
			b.WriteString(sanitize.RevealHidden(text[at : at+1]))
		} else {
			b.WriteString(text[at : at+n])
		}
		text = text[at+n:]
	}
}

// colorSequenceLength returns the length of the style's colour sequence at the beginning of a
// text, 0 if there is none. Other sequences do not count: a name in the background colour, or
// concealed, would be invisible.
func colorSequenceLength(text string) int {
	codes, ok := strings.CutPrefix(text, "\x1b[")
	if !ok {
		return 0
	}
	end := strings.IndexByte(codes[:min(len(codes), len("0;1;2;7;36m"))], 'm')
	if end < 0 {
		return 0
	}
	for code := range strings.SplitSeq(codes[:end], ";") {
		switch code {
		case "", "0", "1", "2", "7", "22", "27", "31", "32", "33", "34", "35", "36", "39":
		default:
			return 0
		}
	}
	return len("\x1b[") + end + len("m")
}
