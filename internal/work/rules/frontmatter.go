package rules

import (
	"strings"
)

// maxFront is the most lines of front matter.
const maxFront = 100

// front is the front matter of a file: what is set, one or more values each.
type front map[string][]string

// one returns a single value, empty where there is none.
func (f front) one(key string) string { return strings.Join(f[key], " ") }

// yes reports whether a switch is on.
func (f front) yes(key string) bool { return strings.EqualFold(f.one(key), "true") }

// each returns the values of a list, which may also be written with commas.
// A comma in braces belongs to a pattern.
func (f front) each(keys ...string) []string {
	var all []string
	for _, k := range keys {
		for _, v := range f[k] {
			all = append(all, split(v)...)
		}
	}
	return all
}

// parse splits a file into its front matter and its body. Front matter is
// read leniently, as other tools write it: a value may begin with a star or
// hold a colon, neither of which YAML takes. A file without any, or whose
// front matter does not end, is all body.
func parse(text string) (front, string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return nil, text
	}
	f, key, block := front{}, "", false
	for n := 0; n < maxFront; n++ {
		line, after, more := strings.Cut(rest, "\n")
		rest = after
		if strings.TrimRight(line, " \t") == "---" {
			return f, rest
		}
		if !more {
			break
		}
		bare := strings.TrimSpace(line)
		switch indented := line != strings.TrimLeft(line, " \t"); {
		case bare == "" || !block && strings.HasPrefix(bare, "#"):
		case block && indented: // of a text over several lines
			f[key] = append(f[key], bare)
		case key != "" && (bare == "-" || strings.HasPrefix(bare, "- ")):
			f.add(key, strings.TrimPrefix(bare, "-"))
		case indented: // of a table, or a value that goes on
			if len(f[key]) > 0 && !strings.Contains(bare, ": ") {
				f[key] = append(f[key], bare)
			}
		default:
			name, value, set := strings.Cut(line, ":")
			if !set {
				continue
			}
			key, value = strings.TrimSpace(name), strings.TrimSpace(value)
			delete(f, key) // the last one counts
			block = value != "" && strings.Trim(value, "|>+-0123456789") == "" && strings.ContainsAny(value[:1], "|>")
			if list, open := strings.CutPrefix(value, "["); open && strings.HasSuffix(list, "]") {
				for _, v := range split(strings.TrimSuffix(list, "]")) {
					f.add(key, v)
				}
			} else if !block {
				f.add(key, value)
			}
		}
	}
	return nil, text
}

func (f front) add(key, value string) {
	value = strings.TrimSpace(value)
	if n := len(value); n >= 2 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
		value = value[1 : n-1]
	}
	if value != "" {
		f[key] = append(f[key], value)
	}
}

// split cuts a list at its commas that stand in no braces.
func split(text string) []string {
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
