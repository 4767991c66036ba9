// Package sanitize makes untrusted text safe to display: it writes out characters that are
// invisible, that change how others are shown, or that control a terminal. See Unicode TR 36
// (security), TR 9 (bidi) and CVE-2021-42574 for attacks that use them.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsHiddenCharacter reports whether a character is always invisible or changes how others are shown:
// control characters, format characters (bidi, zero width, tags), fillers, variation
// selectors of the supplement, and line separators other than line ends. Line ends and tabs
// are not hidden, and neither are the joiner and the selectors that emoji and scripts need.
func IsHiddenCharacter(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\u200d' || r == '\u200c':
		return false
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case r == '\u115f', r == '\u1160', r == '\u3164', r == '\uffa0', r == '\u034f', r == '\u17b4', r == '\u17b5':
		return true // fillers and joiners without a shape
	default:
		return r >= 0xe0000 && r <= 0xe0fff // tags and selectors, assigned or not
	}
}

// RevealHidden returns text with hidden characters written as <U+202E>, without carriage returns
// before line ends, and with bytes that are not UTF-8 replaced. It is idempotent. Text
// without such characters is returned unchanged.
func RevealHidden(text string) string {
	if isPlainText(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	for i, r := range text {
		switch {
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
		case IsInvisibleAt(text, i):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isPlainText reports whether text needs no change, as most text does.
func isPlainText(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return !strings.ContainsFunc(text, func(r rune) bool {
				return IsHiddenCharacter(r) || isJoiner(r) || isVariationSelector(r) || r == utf8.RuneError
			})
		}
	}
	return true
}

// IsInvisibleAt reports whether the character at i of a text is invisible there: it is [IsHiddenCharacter], or
// a joiner or selector that has nothing to join or to select.
func IsInvisibleAt(text string, i int) bool {
	r, _ := utf8.DecodeRuneInString(text[i:])
	return IsHiddenCharacter(r) || (isJoiner(r) || isVariationSelector(r)) && isBareJoiner(text, i)
}

// TruncateText returns a text of at most the given number of bytes, with three dots at the cut.
func TruncateText(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "..."
}

// isVariationSelector reports whether a character only selects the shape of the one before.
func isVariationSelector(r rune) bool { return r >= 0xfe00 && r <= 0xfe0f }

func isJoiner(r rune) bool { return r == '\u200d' || r == '\u200c' }

// isBareJoiner reports whether the joiner at i has nothing to join, or the selector nothing to
// select: its neighbor is not written with joiners, such as Latin letters and digits, or has
// only one shape. Keys such as 1 have two.
func isBareJoiner(text string, i int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+3:])
	switch r, _ := utf8.DecodeRuneInString(text[i:]); {
	case before == utf8.RuneError, IsHiddenCharacter(before), isVariationSelector(before) && (isVariationSelector(r) || isBareJoiner(text, i-size)):
		return true
	case isVariationSelector(r):
		return isJoiner(before) || before < 0x300 && !strings.ContainsRune("0123456789#*\u00a9\u00ae", before)
	default:
		return before < 0x300 || after < 0x300 || after == utf8.RuneError || IsHiddenCharacter(after) || isVariationSelector(after) || isJoiner(before)
	}
}

// StripTerminalControls returns the text that a terminal would show of a program's output: without escape
// sequences, and with only the last version of lines that carriage returns overwrote.
func StripTerminalControls(text string) string {
	if !strings.ContainsAny(text, "\x1b\r\u009b\u009d\u0090") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for line := range strings.Lines(stripEscapeSequences(text)) {
		body := strings.TrimRight(line, "\r\n")
		if i := strings.LastIndexByte(body, '\r'); i >= 0 {
			body = body[i+1:]
		}
		b.WriteString(body)
		if strings.HasSuffix(line, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// stripEscapeSequences removes the sequences of ECMA-48: control sequences, strings for devices and the
// operating system, and the short ones.
func stripEscapeSequences(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch r {
		case 0x1b:
			i += 1 + escapeSequenceLength(text[i+1:])
		case 0x9b:
			i += size + controlSequenceLength(text[i+size:])
		case 0x9d, 0x90:
			i += size + terminatedStringLength(text[i+size:])
		default:
			b.WriteString(text[i : i+size])
			i += size
		}
	}
	return b.String()
}

// escapeSequenceLength returns the number of bytes of a sequence after its escape character.
func escapeSequenceLength(rest string) int {
	if rest == "" {
		return 0
	}
	switch c := rest[0]; {
	case c == '[':
		return 1 + controlSequenceLength(rest[1:])
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		return 1 + terminatedStringLength(rest[1:])
	case c >= 0x20 && c <= 0x2f: // with intermediate bytes
		n := 1
		for n < len(rest) && rest[n] >= 0x20 && rest[n] <= 0x2f {
			n++
		}
		return min(n+1, len(rest))
	case c >= 0x30 && c <= 0x7e:
		return 1
	default:
		return 0
	}
}

// controlSequenceLength returns the length of the parameters, intermediate bytes and final byte of a
// control sequence. A truncated sequence ends at the truncation.
func controlSequenceLength(rest string) int {
	for n := range len(rest) {
		switch c := rest[n]; {
		case c >= 0x40 && c <= 0x7e:
			return n + 1
		case c < 0x20 || c > 0x3f:
			return n
		}
	}
	return len(rest)
}

// longString is the maximum length of a device string that is removed: an unterminated one
// must not remove the text after it.
const longString = 64 << 10

// terminatedStringLength returns the length of a string that a bell or a string terminator ends, or 0 for a
// string without an end.
func terminatedStringLength(rest string) int {
	part := rest[:min(len(rest), longString)]
	for i := range len(part) {
		switch {
		case part[i] == 0x07:
			return i + 1
		case part[i] == 0x1b && strings.HasPrefix(part[i+1:], `\`):
			return i + 2
		case strings.HasPrefix(part[i:], "\u009c"):
			return i + 2
		case part[i] == '\n', part[i] == 0x1b, strings.HasPrefix(part[i:], "\u009d"), strings.HasPrefix(part[i:], "\u0090"):
			return 0 // another one begins
		}
	}
	return 0
}

// FenceUntrustedText puts text that somebody else wrote between two fences that it cannot close: they are
// longer than any row of backticks in it (CommonMark 0.31, 4.5). Info is the label of the
// fence, for example a language.
func FenceUntrustedText(info, text string) string {
	text = RevealHidden(text)
	longest, row := 2, 0
	for i := range len(text) {
		if text[i] != '`' {
			row = 0
			continue
		}
		row++
		longest = max(longest, row)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + info + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
