package view

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

// Safe is the last thing that is done to what is drawn: a terminal obeys nothing in
// it but the colours of the style. Texts are cleaned where they are put in; names
// are not, and those of a run that was imported are a stranger's.
func (s Style) Safe(text string) string {
	if !s.Color {
		return legible.Show(text)
	}
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '\x1b')
		if at < 0 {
			b.WriteString(legible.Show(text))
			return b.String()
		}
		b.WriteString(legible.Show(text[:at]))
		n := colour(text[at:])
		if n == 0 {
			n = 1
			b.WriteString(legible.Show(text[at : at+1]))
		} else {
			b.WriteString(text[at : at+n])
		}
		text = text[at+n:]
	}
}

// colour returns how long the sequence is that sets colours at the beginning of a
// text, 0 if there is none.
func colour(text string) int {
	if !strings.HasPrefix(text, "\x1b[") {
		return 0
	}
	for i := len("\x1b["); i < min(len(text), 40); i++ {
		switch c := text[i]; {
		case c == 'm':
			return i + 1
		case c < '0' || c > ';':
			return 0
		}
	}
	return 0
}
