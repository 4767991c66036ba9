// Package edit changes one setting in the text of a TOML file and keeps everything else, including
// comments and layout.
//
// It locates the setting in the text alone and then parses both texts with the parser of the rest
// of the program: unless the result differs by exactly that one value, the edit fails.
package edit

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	gotoml "github.com/pelletier/go-toml/v2"
)

// ErrShape is returned if a file has a setting in a form that this package does not edit, such as
// within an inline table.
var ErrShape = errors.New("the file has it in a way that only a person can change")

// ParseKey returns the segments of a dotted key, such as pricing."openai/x".input.
func ParseKey(name string) ([]string, error) {
	var tree map[string]any
	if strings.ContainsAny(name, "\r\n=#[]{}") || !utf8.ValidString(name) {
		return nil, errors.New("not a dotted key")
	}
	if err := parseTOML(name+" = 0\n", &tree); err != nil {
		return nil, errors.New("not a dotted key")
	}
	var path []string
	for {
		for segment, below := range tree { // exactly one
			path = append(path, segment)
			next, isTable := below.(map[string]any)
			if !isTable {
				return path, nil
			}
			tree = next
		}
	}
}

// QuoteText returns a text as a TOML string.
func QuoteText(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// ParseValue parses a value that is written on one line, in the syntax of the file.
func ParseValue(value string) (any, error) {
	var tree map[string]any
	err := parseTOML("x = ["+value+"]\n", &tree) // a comment cannot end this array
	all, _ := tree["x"].([]any)
	if err != nil || len(tree) != 1 || len(all) != 1 || strings.ContainsAny(value, "\r\n") {
		return nil, errors.New("not a value of TOML on one line")
	}
	return all[0], nil
}

// SetKey returns the text with a key set to a value in the syntax of the file.
func SetKey(text string, path []string, value string) (string, error) {
	value = strings.Trim(value, " \t,")
	is, err := ParseValue(value)
	if err != nil {
		return "", err
	}
	all, err := scanStatements(text)
	if err != nil {
		return "", err
	}
	var out string
	if i := findStatement(all, path); i >= 0 {
		out = text[:all[i].value] + value + text[all[i].end:]
	} else {
		out = addKey(text, all, path, value)
	}
	return out, checkOnlyDifference(text, out, path, is)
}

// RemoveKey returns the text without a key, and whether the text had it.
func RemoveKey(text string, path []string) (string, bool, error) {
	all, err := scanStatements(text)
	if err != nil {
		return "", false, err
	}
	i := findStatement(all, path)
	if i < 0 {
		var tree map[string]any
		if err := parseTOML(text, &tree); err != nil {
			return "", false, err
		}
		if valueAtPath(tree, path) != nil {
			return "", true, ErrShape
		}
		return text, false, nil
	}
	end := len(text)
	if n := strings.IndexByte(text[all[i].end:], '\n'); n >= 0 {
		end = all[i].end + n + 1
	}
	out := text[:all[i].start] + text[end:]
	return out, true, checkOnlyDifference(text, out, path, nil)
}

func findStatement(all []tomlStatement, path []string) int {
	return slices.IndexFunc(all, func(s tomlStatement) bool { return !s.table && slices.Equal(s.path, path) })
}

// addKey inserts a key that the text does not have.
func addKey(text string, all []tomlStatement, path []string, value string) string {
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	last := len(path) - 1
	table, name := path[:last], path[last:]
	at := -1 // end of the last line in the table
	for _, s := range all {
		switch {
		case s.table && slices.Equal(s.path, table), !s.table && slices.Equal(s.in, table):
			at, name = s.end, path[last:]
		case !s.table && len(s.in) < last && len(s.path) > last && slices.Equal(s.path[:last], table): // written as a.b = 1
			at, name = s.end, path[len(s.in):]
		}
	}
	line := formatKey(name) + " = " + value + newline
	switch {
	case at >= 0:
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			at += n + 1
			return text[:at] + line + text[at:]
		}
		return text + newline + line
	case len(table) == 0 && len(all) > 0: // before the first table
		return line + newline + text
	case len(table) == 0:
		return ensureNewline(text, newline) + line
	}
	head := "[" + formatKey(table) + "]" + newline
	if text != "" {
		head = newline + head
	}
	return ensureNewline(text, newline) + head + line
}

func ensureNewline(text, newline string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		return text + newline
	}
	return text
}

// formatKey writes a path as a dotted key.
func formatKey(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p
		if p == "" || strings.ContainsFunc(p, func(r rune) bool { return !isBareKeyRune(r) }) {
			parts[i] = QuoteText(p)
		}
	}
	return strings.Join(parts, ".")
}

func isBareKeyRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

// checkOnlyDifference returns an error unless two texts differ by exactly the value at a path; a nil value
// means that it is removed.
func checkOnlyDifference(from, to string, path []string, value any) error {
	was, is := map[string]any{}, map[string]any{}
	if err := parseTOML(from, &was); err != nil {
		return err
	}
	if err := parseTOML(to, &is); err != nil {
		return ErrShape
	}
	if !reflect.DeepEqual(valueAtPath(is, path), value) {
		return ErrShape
	}
	removeValue(was, path)
	removeValue(is, path)
	if !reflect.DeepEqual(was, is) {
		return ErrShape
	}
	return nil
}

func valueAtPath(tree map[string]any, path []string) any {
	for _, p := range path[:len(path)-1] {
		tree, _ = tree[p].(map[string]any)
	}
	return tree[path[len(path)-1]]
}

// removeValue removes a value, and the tables that are empty without it.
func removeValue(tree map[string]any, path []string) {
	if len(path) > 1 {
		below, isTable := tree[path[0]].(map[string]any)
		if !isTable {
			return
		}
		if removeValue(below, path[1:]); len(below) > 0 {
			return
		}
	}
	delete(tree, path[0])
}

// parseTOML reads TOML. The input is untrusted, so a panic in the parser is reported as a broken file.
func parseTOML(text string, to *map[string]any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("not TOML: %v", p)
		}
	}()
	return gotoml.Unmarshal([]byte(text), to)
}
