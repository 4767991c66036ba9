package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// InlineCode returns text as inline code.
func InlineCode(text string) string {
	text = SingleLine(text)
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	mark := "``" // longer than any row of backquotes in the text
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + " " + text + " " + mark
}

// SingleLine returns text as one line of at most 300 characters without control characters, so that
// it cannot begin a structure of its own.
func SingleLine(text string) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range text {
		if unicode.IsSpace(r) || sanitize.IsHiddenCharacter(r) || r == utf8.RuneError {
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

// TruncateToBeginning returns the beginning of text, whole lines of at most the given bytes, and adds how
// much is missing.
func TruncateToBeginning(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	kept := text[:max(0, bytes)]
	if i := strings.LastIndexByte(kept, '\n'); i >= 0 {
		kept = kept[:i+1]
	} else {
		kept = strings.ToValidUTF8(kept, "")
	}
	return kept + omissionNote(text[len(kept):])
}

// truncateToTail returns the end of text in the same way.
func truncateToTail(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	kept := text[len(text)-max(0, bytes):]
	if i := strings.IndexByte(kept, '\n'); i >= 0 && i+1 < len(kept) {
		kept = kept[i+1:]
	} else {
		kept = strings.ToValidUTF8(kept, "")
	}
	return omissionNote(text[:len(text)-len(kept)]) + "\n" + kept
}

// omissionNote describes how much was omitted.
func omissionNote(text string) string {
	n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	if n == 1 {
		return fmt.Sprintf("[... %d bytes left out ...]", len(text))
	}
	return fmt.Sprintf("[... %d lines left out ...]", n)
}

func bulletList(items []string) string {
	var b strings.Builder
	for _, s := range singleLines(items) {
		b.WriteString("- " + s + "\n")
	}
	return b.String()
}

func singleLines(items []string) []string {
	out := slices.Clone(items)
	for i := range out {
		out[i] = SingleLine(out[i])
	}
	return out
}
