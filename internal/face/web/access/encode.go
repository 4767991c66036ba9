package access

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

// Encode writes a value as JSON that is harmless wherever it is shown: what a
// screen would not show as it is, or that a browser could read as HTML, is
// escaped. It stays the same value.
func Encode(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return plain(data), nil
}

// plain escapes the runes of JSON that are not seen.
func plain(data []byte) []byte {
	text := string(data)
	if strings.IndexFunc(text, legible.Hidden) < 0 {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for _, r := range text {
		switch {
		case !legible.Hidden(r) || r == utf8.RuneError:
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
