package tamper

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// stripInertText returns a test file without the parts that have no effect: comments, literals of
// several lines, and code between #if 0 and #endif are removed, line ends stay. So an
// assertion that was moved there counts as removed. A mark that is never closed does not
// count, and the text after it stays.
func (h *tamperPatterns) stripInertText(file, text string) string {
	s, known := stack.SyntaxOf(file)
	b := inertTextStripper{in: text, expected: h.expected, never: map[string]bool{}, long: s.Long}
	b.hash, b.slash = slices.Contains(s.Comments, "#"), !known || slices.Contains(s.Comments, "//")
	if s.Block[0] != "" && s.Block[0] != "/*" { // its marks are whole lines
		lines := regexp.MustCompile(`(?ms)^` + regexp.QuoteMeta(s.Block[0]) + `\b.*?^` + regexp.QuoteMeta(s.Block[1]) + `\b`)
		b.in = lines.ReplaceAllStringFunc(b.in, lineEndsOf)
	}
	if s.Unbuilt {
		b.in = h.removeDisabledCode(b.in)
	}
	return b.stripInertText()
}

// lineEndsOf returns only the line ends of a text.
func lineEndsOf(text string) string { return strings.Repeat("\n", strings.Count(text, "\n")) }

// removeDisabledCode removes code that the preprocessor of C always skips.
func (h *tamperPatterns) removeDisabledCode(text string) string {
	lines, depth := strings.Split(text, "\n"), 0 // depth 1: in a branch that is never taken
	for i, l := range lines {
		switch {
		case depth == 0 && h.never.MatchString(l):
			depth = 1
		case depth == 0:
			continue
		case h.opens.MatchString(l):
			depth++
		case h.closes.MatchString(l), depth == 1 && h.others.MatchString(l):
			depth--
		}
		lines[i] = ""
	}
	if depth > 0 {
		return text
	}
	return strings.Join(lines, "\n")
}

// inertTextStripper scans a text once.
type inertTextStripper struct {
	in          string
	expected    *regexp.Regexp  // comments that stay
	hash, slash bool            // marks of comments
	long        []string        // marks of literals of several lines
	never       map[string]bool // ends that do not occur any more
}

func (b *inertTextStripper) stripInertText() string {
	var out strings.Builder
	for i := 0; i < len(b.in); {
		kept, gone := b.nextKeptLength(i)
		out.WriteString(b.in[i : i+kept])
		out.WriteString(lineEndsOf(b.in[i+kept : i+kept+gone]))
		i += kept + gone
	}
	return out.String()
}

// nextKeptLength returns the number of bytes from i that stay, and the number after those that are
// removed. At least one of them is more than zero.
func (b *inertTextStripper) nextKeptLength(i int) (kept, gone int) {
	rest := b.in[i:]
	for _, mark := range b.long {
		if n := b.delimitedLength(rest, mark, mark); n > 0 {
			if strings.Contains(rest[:n], "\n") {
				return 0, n
			}
			return n, 0
		}
	}
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		return max(literalLength(rest), 1), 0
	case b.hash && c == '#' && (i == 0 || strings.IndexByte(" \t\n;", b.in[i-1]) >= 0) && !strings.HasPrefix(rest, "#["):
		return 0, len(firstLine(rest))
	case b.slash && strings.HasPrefix(rest, "//"):
		line := firstLine(rest)
		if b.expected.MatchString(line) {
			return len(line), 0
		}
		return 0, len(line)
	case b.slash && strings.HasPrefix(rest, "/*"):
		if n := b.delimitedLength(rest, "/*", "*/"); n > 0 {
			return 0, n
		}
	}
	return 1, 0
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// delimitedLength returns the length of the text between two marks including them, or 0 if it does not
// begin or end.
func (b *inertTextStripper) delimitedLength(text, begin, end string) int {
	rest, ok := strings.CutPrefix(text, begin)
	if !ok || b.never[end] {
		return 0
	}
	n := strings.Index(rest, end)
	if n < 0 {
		b.never[end] = true
		return 0
	}
	return len(begin) + n + len(end)
}

// longest limits the search for the end of a literal of one line.
const longest = 2000

// literalLength returns the length of the literal at the start of a text, or 0 if it is not closed
// on its line.
func literalLength(text string) int {
	for i := 1; i < min(len(text), longest) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 0
}
