package sanitize

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// EscapeJSON escapes the hidden characters of JSON. The value stays the same, and the text is safe
// to display. Data without hidden characters is returned unchanged.
func EscapeJSON(data []byte) []byte {
	text := string(data)
	if strings.IndexFunc(text, IsHiddenCharacter) < 0 {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for _, r := range text {
		switch {
		case !IsHiddenCharacter(r) || r == '\r' || r == utf8.RuneError:
			out = utf8.AppendRune(out, r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
