package prompt

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Code returns text as inline code.
func Code(text string) string {
	text = Line(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	mark := "``" // longer than any row of backquotes in the text
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + " " + text + " " + mark
}

// Line returns text as one line of at most 300 characters without control characters, so that
// it cannot begin a structure of its own.
func Line(text string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) || sanitize.Hidden(r) || r == utf8.RuneError {
			space = n > 0
			continue
		}
		if space {
			b.WriteByte(' ')
			n, space = n+1, false
		}
		if n++; n > lineWidth {
			return b.String() + "..."
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Head returns the beginning of text, whole lines of at most the given bytes, and adds how
// much is missing.
func Head(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	kept := text[:max(0, bytes)]
	if i := strings.LastIndexByte(kept, '\n'); i >= 0 {
		kept = kept[:i+1]
	} else {
		kept = strings.ToValidUTF8(kept, "")
	}
	return kept + left(text[len(kept):])
}

// tail returns the end of text in the same way.
func tail(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	kept := text[len(text)-max(0, bytes):]
	if i := strings.IndexByte(kept, '\n'); i >= 0 && i+1 < len(kept) {
		kept = kept[i+1:]
	} else {
		kept = strings.ToValidUTF8(kept, "")
	}
	return left(text[:len(text)-len(kept)]) + "\n" + kept
}

// left describes how much was omitted.
func left(text string) string {
	n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	if n == 1 {
		return fmt.Sprintf("[... %d bytes left out ...]", len(text))
	}
	return fmt.Sprintf("[... %d lines left out ...]", n)
}
