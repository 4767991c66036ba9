package rules

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/frontmatter"
)

// maxFront limits the lines of front matter.
const maxFront = 100

// ruleFrontMatter is the front matter of a file: keys with one or more values each.
type ruleFrontMatter map[string][]string

// singleValue returns a single value, or "".
func (f ruleFrontMatter) singleValue(key string) string { return strings.Join(f[key], " ") }

// isEnabled reports whether a switch is on.
func (f ruleFrontMatter) isEnabled(key string) bool {
	return strings.EqualFold(f.singleValue(key), "true")
}

// listValues returns the values of a list, which may also be separated by commas. A comma in braces
// belongs to a pattern.
func (f ruleFrontMatter) listValues(keys ...string) []string {
	var all []string
	for _, k := range keys {
		for _, v := range f[k] {
			all = append(all, splitList(v)...)
		}
	}
	return all
}

// splitFrontMatter splits a file into its front matter and its body. Front matter is parsed leniently, as
// other tools write it: a value may begin with a star or contain a colon, neither of which
// YAML accepts. A file without any, or whose front matter does not end, is all body.
func splitFrontMatter(text string) (ruleFrontMatter, string) {
	d := frontmatter.SplitHead(text)
	if !d.Closed || strings.Count(d.Head, "\n") >= maxFront {
		return nil, text
	}
	f, key, block := ruleFrontMatter{}, "", false
	for line := range strings.Lines(d.Head) {
		line = strings.TrimSuffix(line, "\n")
		bare := strings.TrimSpace(line)
		switch indented := line != strings.TrimLeft(line, " \t"); {
		case bare == "" || !block && strings.HasPrefix(bare, "#"):
		case block && indented: // part of a text over several lines
			f[key] = append(f[key], bare)
		case key != "" && (bare == "-" || strings.HasPrefix(bare, "- ")):
			f.addValue(key, strings.TrimPrefix(bare, "-"))
		case indented: // part of a table, or a continued value
			if len(f[key]) > 0 && !strings.Contains(bare, ": ") {
				f[key] = append(f[key], bare)
			}
		default:
			if name, value, set := strings.Cut(line, ":"); set {
				key = strings.TrimSpace(name)
				block = f.setValue(key, strings.TrimSpace(value))
			}
		}
	}
	return f, d.Body
}

// setValue sets a key, replacing an earlier value, and reports whether the value is a text over
// several lines, which follows.
func (f ruleFrontMatter) setValue(key, value string) (block bool) {
	delete(f, key)
	if list, open := strings.CutPrefix(value, "["); open && strings.HasSuffix(list, "]") {
		for _, v := range splitList(strings.TrimSuffix(list, "]")) {
			f.addValue(key, v)
		}
		return false
	}
	block = value != "" && strings.Trim(value, "|>+-0123456789") == "" && strings.ContainsAny(value[:1], "|>")
	if !block {
		f.addValue(key, value)
	}
	return block
}

func (f ruleFrontMatter) addValue(key, value string) {
	value = strings.TrimSpace(value)
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	if value != "" {
		f[key] = append(f[key], value)
	}
}

// splitList splits a list at its commas outside of braces.
func splitList(text string) []string {
	var all []string
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		switch {
		case i == len(text) || text[i] == ',' && depth <= 0:
			if v := strings.Trim(strings.TrimSpace(text[from:i]), `"'`); v != "" {
				all = append(all, v)
			}
			from = i + 1
		case text[i] == '{':
			depth++
		case text[i] == '}':
			depth--
		}
	}
	return all
}
