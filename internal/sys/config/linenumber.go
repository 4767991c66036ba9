package config

import (
	"slices"
	"strings"
)

// findSettingLine returns the line on which a file sets path, or 0 if unknown. It reads only headers and
// keys, so a text of several lines may mislead it.
func findSettingLine(data []byte, path []string) int {
	var table []string
	n := 0
	for text := range strings.Lines(string(data)) {
		n++
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "[") {
			table = splitKey(strings.Trim(text, "[]"))
			if slices.Equal(table, path) {
				return n
			}
			continue
		}
		name, _, ok := strings.Cut(text, "=")
		if !ok || strings.HasPrefix(text, "#") {
			continue
		}
		full := slices.Concat(table, splitKey(name))
		if len(full) <= len(path) && slices.Equal(full, path[:len(full)]) {
			return n
		}
	}
	return 0
}

// splitKey splits a TOML key at the dots outside quotes.
func splitKey(key string) []string {
	var all []string
	var b strings.Builder
	var quote rune
	for _, r := range key {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote = r
		case quote == 0 && r == '.':
			all = append(all, b.String())
			b.Reset()
		case quote == 0 && (r == ' ' || r == '\t'):
		case quote == 0 && (r == ']' || r == '#'):
			return append(all, b.String())
		default:
			b.WriteRune(r)
		}
	}
	return append(all, b.String())
}
