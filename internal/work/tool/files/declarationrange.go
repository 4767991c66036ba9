package files

import (
	"regexp"
	"strings"
)

// DeclarationRange returns the lines of the declaration at a line, counted from 0: from the first line of
// the comment above it to the line after its last, according to indentation. Last is the last
// line if known, else -1.
func DeclarationRange(lines []string, at, last int) (from, to int) {
	comment := regexp.MustCompile(`^\s*(?://|#|/\*|\*|--|;;|@\w|""")`)
	for from = at; from > 0 && comment.MatchString(lines[from-1]); from-- {
	}
	if last >= at && last < len(lines) {
		return from, last + 1
	}
	closes := regexp.MustCompile(`^\s*(?:[)\]}]|end\b|fi\b|done\b|esac\b)`)
	deep := indentWidth(lines[at])
	for to = at + 1; to < len(lines); to++ {
		l := strings.TrimSpace(lines[to])
		if l != "" && indentWidth(lines[to]) <= deep && (indentWidth(lines[to]) < deep || !closes.MatchString(l)) {
			break
		}
	}
	for to > at+1 && strings.TrimSpace(lines[to-1]) == "" {
		to--
	}
	return from, to
}

func indentWidth(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
