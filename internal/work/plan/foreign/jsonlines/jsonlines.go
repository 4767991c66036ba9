// Package jsonlines parses JSON with the line of each value, so that a person's mistakes are
// reported with their line and a correction.
package jsonlines

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

const maxDepth = 64 // nesting limit of JSON

// Node is a value of a JSON file. Its line is the one on which it ends or, for an array or
// object, starts.
type Node struct {
	Line   int
	Kind   byte   // one of { [ s n b 0
	Text   string // text of a string or a number, or true or false
	Fields []Field
	Items  []*Node
}

// Field is a field of an object.
type Field struct {
	Name  string
	Line  int
	Value *Node
}

// Get returns the value of a field, nil if it is missing or null.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	for _, f := range n.Fields {
		if f.Name == name && f.Value.Kind != '0' {
			return f.Value
		}
	}
	return nil
}

// Empty reports whether a value is empty, as tools write it for missing data.
func (n *Node) Empty() bool {
	switch n.Kind {
	case '{':
		return len(n.Fields) == 0
	case '[':
		return len(n.Items) == 0
	case 's':
		return strings.TrimSpace(n.Text) == ""
	case 'n':
		return n.Text == "0"
	case 'b':
		return n.Text == "false"
	default:
		return true
	}
}

// Mistake is a mistake in a file.
type Mistake struct {
	Line int // 0 if unknown
	Text string
}

// Parse parses JSON. Duplicate keys are mistakes. Without a value, there is at least one
// mistake.
func Parse(text string) (*Node, []Mistake) {
	data := bytes.TrimPrefix([]byte(text), []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, []Mistake{{0, "it is not UTF-8; save it as UTF-8"}}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		line, what := broken(data, err)
		return nil, []Mistake{{line, what}}
	}
	r := reader{data: data, in: json.NewDecoder(bytes.NewReader(data)), line: 1}
	r.in.UseNumber()
	n := r.value(0)
	return n, r.mistakes
}

// broken returns the mistake in invalid JSON, and its line.
func broken(data []byte, err error) (line int, what string) {
	e, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return 0, err.Error()
	}
	end := min(max(int(e.Offset)-1, 0), len(data))
	line = 1 + bytes.Count(data[:end], []byte("\n"))
	before := bytes.TrimRight(data[:end], " \t\r\n")
	says := e.Error()
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return 0, "the file is empty"
	case strings.HasPrefix(says, "unexpected end"):
		return 1 + bytes.Count(bytes.TrimRight(data, " \t\r\n"),
			[]byte("\n")), "the file ends too early; close what is open with }, ] or \""
	case bytes.HasSuffix(before, []byte(",")) && end < len(data) && (data[end] == ']' || data[end] == '}'):
		return 1 + bytes.Count(before, []byte("\n")), "there is a comma before " + string(data[end]) + "; remove the comma"
	case strings.Contains(says, "after array element") || strings.Contains(says, "after object key:value pair"):
		return 1 + bytes.Count(before, []byte("\n")), "a comma is missing at the end of this line, or there is a bracket or quote too many"
	case end < len(data) && (data[end] == '/' || data[end] == '#'):
		return line, "JSON has no comments; remove it"
	case end < len(data) && data[end] == '\'':
		return line, `JSON has " and not ' around strings; change the quotes`
	default:
		return line, "it is not JSON: " + says + "; correct this line"
	}
}

// reader reads valid JSON.
type reader struct {
	data     []byte
	in       *json.Decoder
	offset   int64
	line     int // line at offset
	mistakes []Mistake
}

// at returns the line of the last token.
func (r *reader) at() int {
	end := r.in.InputOffset()
	r.line += bytes.Count(r.data[r.offset:end], []byte("\n"))
	r.offset = end
	return r.line
}

func (r *reader) value(depth int) *Node {
	t, err := r.in.Token()
	if err != nil || depth > maxDepth {
		r.mistakes = append(r.mistakes, Mistake{r.at(), fmt.Sprintf("it is nested too deeply; a plan has at most %d levels", maxDepth)})
		return nil
	}
	n := &Node{Line: r.at()}
	switch v := t.(type) {
	case json.Delim:
		if v == '{' {
			return r.object(n, depth)
		}
		n.Kind = '['
		for r.in.More() {
			item := r.value(depth + 1)
			if item == nil {
				return nil
			}
			n.Items = append(n.Items, item)
		}
		_, _ = r.in.Token() // its end, which exists
	case string:
		n.Kind, n.Text = 's', v
	case json.Number:
		n.Kind, n.Text = 'n', v.String()
	case bool:
		n.Kind, n.Text = 'b', strconv.FormatBool(v)
	default:
		n.Kind = '0'
	}
	return n
}

func (r *reader) object(n *Node, depth int) *Node {
	n.Kind = '{'
	seen := map[string]bool{}
	for r.in.More() {
		t, err := r.in.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil // it is valid
		}
		f := Field{Name: name, Line: r.at()}
		if seen[name] {
			r.mistakes = append(r.mistakes, Mistake{f.Line, fmt.Sprintf("%q is in one object twice; remove one", name)})
		}
		seen[name] = true
		if f.Value = r.value(depth + 1); f.Value == nil {
			return nil
		}
		n.Fields = append(n.Fields, f)
	}
	_, _ = r.in.Token() // its end, which exists
	return n
}

// In returns an object with n as its only field.
func In(name string, n *Node) *Node {
	return &Node{Line: n.Line, Kind: '{', Fields: []Field{{name, n.Line, n}}}
}
