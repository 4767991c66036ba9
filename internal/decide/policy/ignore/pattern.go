package ignore

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
)

// characterClasses returns git's character classes, as pairs of the first and the last character of a
// range.
func characterClasses() []struct{ name, ranges string } {
	return []struct{ name, ranges string }{
		{"alnum", "09AZaz"},
		{"alpha", "AZaz"},
		{"blank", "\t\t  "},
		{"cntrl", "\x00\x1f\x7f\x7f"},
		{"digit", "09"},
		{"graph", "!~"},
		{"lower", "az"},
		{"print", " ~"},
		{"punct", "!/:@[`{~"},
		{"space", "\t\r  "},
		{"upper", "AZ"},
		{"xdigit", "09AFaf"},
	}
}

// translatePattern converts a git pattern to one of the library, which has alternatives, but neither
// classes nor a literal bracket.
func translatePattern(p string) (string, error) {
	var b strings.Builder
	for p != "" {
		switch c := p[0]; {
		case c == '{' || c == '}':
			b.WriteString(`\` + p[:1])
		case c == '\\' && len(p) > 1:
			b.WriteString(p[:2])
			p = p[1:]
		case c == '[':
			set, rest, err := translateBrackets(p[1:])
			if err != nil {
				return "", err
			}
			b.WriteString(set)
			p = rest
			continue
		default:
			b.WriteByte(c)
		}
		p = p[1:]
	}
	if !doublestar.ValidatePattern(b.String()) {
		return "", errors.New("it is not a pattern")
	}
	return b.String(), nil
}

// translateBrackets converts the text after a bracket, and returns the text after the closing one. In
// git, brackets never match a slash; in the library, they do.
func translateBrackets(p string) (set, rest string, err error) {
	var b strings.Builder
	b.WriteByte('[')
	if p != "" && (p[0] == '!' || p[0] == '^') {
		b.WriteString(`^\/`)
		p = p[1:]
	}
	for first := true; p != ""; first = false {
		if p[0] == ']' && !first {
			return b.String() + "]", p[1:], nil
		}
		if named, ok := strings.CutPrefix(p, "[:"); ok {
			name, behind, closed := strings.Cut(named, ":]")
			i := slices.IndexFunc(characterClasses(), func(c struct{ name, ranges string }) bool { return c.name == name })
			if !closed || i < 0 {
				return "", "", fmt.Errorf("no class of characters is called %.20q", name)
			}
			for r := characterClasses()[i].ranges; r != ""; r = r[2:] {
				b.WriteString(rangeWithoutSlash(r[:1], r[1:2]))
			}
			p = behind
			continue
		}
		from, behind := firstCharacter(p)
		to := from
		if p = behind; len(p) > 1 && p[0] == '-' && p[1] != ']' {
			to, p = firstCharacter(p[1:])
		}
		b.WriteString(rangeWithoutSlash(from, to))
	}
	return "", "", errors.New("a bracket is not closed")
}

// rangeWithoutSlash returns the part of a bracket expression that matches the characters between two,
// except the slash. No character is between two in the wrong order.
func rangeWithoutSlash(from, to string) string {
	switch {
	case from > to:
		return ""
	case from <= "/" && "/" <= to:
		return rangeWithoutSlash(from, ".") + rangeWithoutSlash("0", to)
	case from == to:
		return `\` + from
	}
	return `\` + from + `-\` + to
}

// firstCharacter returns the first character of a bracket expression.
func firstCharacter(p string) (one, rest string) {
	if p[0] == '\\' && len(p) > 1 {
		p = p[1:]
	}
	_, n := utf8.DecodeRuneInString(p)
	return p[:n], p[n:]
}
