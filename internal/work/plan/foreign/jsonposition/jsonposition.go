// Package jsonposition parses JSON with the line of each value, so that a person's mistakes are
// reported with their line.
package jsonposition

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

// JSONNode is a value of a JSON file. Its line is the one on which it ends or, for an array or
// object, starts.
type JSONNode struct {
	Line   int
	Kind   byte   // one of { [ s n b 0
	Text   string // text of a string or a number, or true or false
	Fields []JSONField
	Items  []*JSONNode
}

// JSONField is a field of an object.
type JSONField struct {
	Name  string
	Line  int
	Value *JSONNode
}

// Get returns the value of a field, nil if it is missing or null.
func (n *JSONNode) Get(name string) *JSONNode {
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

// IsEmpty reports whether a value is empty, as tools write it for missing data.
func (n *JSONNode) IsEmpty() bool {
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

// JSONMistake is a mistake in a file.
type JSONMistake struct {
	Line   int // 0 if unknown
	Column int // in characters, from 1; 0 if unknown
	Text   string
}

// ParseJSON parses JSON. Duplicate keys are mistakes. Without a value, there is at least one
// mistake.
func ParseJSON(text string) (*JSONNode, []JSONMistake) {
	data := bytes.TrimPrefix([]byte(text), []byte("\ufeff"))
	if !utf8.Valid(data) {
		return nil, []JSONMistake{{Text: "it is not UTF-8; save it as UTF-8"}}
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, []JSONMistake{syntaxMistake(data, err)}
	}
	r := jsonNodeReader{data: data, in: json.NewDecoder(bytes.NewReader(data)), line: 1}
	r.in.UseNumber()
	n := r.readValue(0)
	return n, r.mistakes
}

// syntaxMistake returns the mistake in invalid JSON, at the character where it cannot go on.
func syntaxMistake(data []byte, err error) JSONMistake {
	if len(bytes.TrimSpace(data)) == 0 {
		return JSONMistake{Text: "the file is empty"}
	}
	e, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return JSONMistake{Text: err.Error()}
	}
	end := min(max(int(e.Offset)-1, 0), len(data))
	if strings.HasPrefix(e.Error(), "unexpected end") {
		end = len(bytes.TrimRight(data, " \t\r\n"))
	}
	start := bytes.LastIndexByte(data[:end], '\n') + 1
	return JSONMistake{
		Line: 1 + bytes.Count(data[:end], []byte("\n")), Column: 1 + utf8.RuneCount(data[start:end]),
		Text: "it is not JSON: " + e.Error(),
	}
}

// jsonNodeReader reads valid JSON.
type jsonNodeReader struct {
	data     []byte
	in       *json.Decoder
	offset   int64
	line     int // line at offset
	mistakes []JSONMistake
}

// currentLine returns the line of the last token.
func (r *jsonNodeReader) currentLine() int {
	end := r.in.InputOffset()
	r.line += bytes.Count(r.data[r.offset:end], []byte("\n"))
	r.offset = end
	return r.line
}

func (r *jsonNodeReader) readValue(depth int) *JSONNode {
	t, err := r.in.Token()
	if err != nil || depth > maxDepth {
		r.mistakes = append(r.mistakes, JSONMistake{Line: r.currentLine(), Text: fmt.Sprintf("it is nested too deeply; a plan has at most %d levels", maxDepth)})
		return nil
	}
	n := &JSONNode{Line: r.currentLine()}
	switch v := t.(type) {
	case json.Delim:
		if v == '{' {
			return r.readObject(n, depth)
		}
		n.Kind = '['
		for r.in.More() {
			item := r.readValue(depth + 1)
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

func (r *jsonNodeReader) readObject(n *JSONNode, depth int) *JSONNode {
	n.Kind = '{'
	seen := map[string]bool{}
	for r.in.More() {
		t, err := r.in.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil // it is valid
		}
		f := JSONField{Name: name, Line: r.currentLine()}
		if seen[name] {
			r.mistakes = append(r.mistakes, JSONMistake{Line: f.Line, Text: fmt.Sprintf("%q is in one object twice; remove one", name)})
		}
		seen[name] = true
		if f.Value = r.readValue(depth + 1); f.Value == nil {
			return nil
		}
		n.Fields = append(n.Fields, f)
	}
	_, _ = r.in.Token() // its end, which exists
	return n
}

// WrapNode returns an object with n as its only field.
func WrapNode(name string, n *JSONNode) *JSONNode {
	return &JSONNode{Line: n.Line, Kind: '{', Fields: []JSONField{{name, n.Line, n}}}
}
