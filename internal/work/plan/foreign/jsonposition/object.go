package jsonposition

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/spelling"
)

// JSONObjectReader reads the fields of a JSON object that is a task or a file. The callers of its
// methods define the type of each field.
type JSONObjectReader struct {
	*JSONNode

	Name  string // name of the task; empty for the file
	notes FieldRemarkReceiver
	known []string // fields that were requested
}

// FieldRemarkReceiver receives the remarks about a file.
type FieldRemarkReceiver interface {
	AddMistake(line int, text string)             // a mistake, with its correction
	AddLostData(line int, item, what, why string) // data that has no field
}

// NewObjectReader returns the fields of a value, which must be an object.
func NewObjectReader(n *JSONNode, what string, notes FieldRemarkReceiver) (*JSONObjectReader, bool) {
	if n.Kind != '{' {
		notes.AddMistake(n.Line, what+" is "+n.kindName()+", not an object in { }")
		return nil, false
	}
	return &JSONObjectReader{JSONNode: n, notes: notes}, true
}

// MarkKnown marks fields as known, so that there is no remark about them.
func (o *JSONObjectReader) MarkKnown(names ...string) { o.known = append(o.known, names...) }

// kindName returns the type of a value, for people.
func (n *JSONNode) kindName() string {
	switch n.Kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 's':
		return "a text"
	case 'n':
		return "a number"
	case 'b':
		return n.Text
	default:
		return "null"
	}
}

// FirstField returns the first existing field of some names; they are alternative names of one
// field.
func (o *JSONObjectReader) FirstField(names ...string) *JSONNode {
	o.known = append(o.known, names...)
	for _, name := range names {
		if v := o.Get(name); v != nil {
			return v
		}
	}
	return nil
}

// NoteWrongType records that a field has the wrong type.
func (o *JSONObjectReader) NoteWrongType(n *JSONNode, name, what string) {
	of := ""
	if o.Name != "" {
		of = " of " + o.Name
	}
	o.notes.AddMistake(n.Line, fmt.Sprintf("%q%s is %s; write %s", name, of, n.kindName(), what))
}

// TextField returns a text; a number is converted to a text.
func (o *JSONObjectReader) TextField(names ...string) string {
	n := o.FirstField(names...)
	switch {
	case n == nil:
		return ""
	case n.Kind != 's' && n.Kind != 'n':
		o.NoteWrongType(n, names[0], "a text in quotes")
		return ""
	default:
		return strings.TrimSpace(n.Text)
	}
}

// BoolField returns whether a field is true.
func (o *JSONObjectReader) BoolField(names ...string) bool {
	n := o.FirstField(names...)
	switch {
	case n == nil:
		return false
	case n.Kind != 'b':
		o.NoteWrongType(n, names[0], "true or false, without quotes")
		return false
	default:
		return n.Text == "true"
	}
}

// NumberField returns a non-negative integer.
func (o *JSONObjectReader) NumberField(names ...string) int {
	n := o.FirstField(names...)
	if n == nil {
		return 0
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != 'n' || err != nil || f < 0 || f > 1e9 {
		o.NoteWrongType(n, names[0], "a number from 0, without quotes")
		return 0
	}
	return int(f)
}

// ListField returns the items of a list; a single text is a list of its lines.
func (o *JSONObjectReader) ListField(names ...string) []*JSONNode {
	n := o.FirstField(names...)
	switch {
	case n == nil:
		return nil
	case n.Kind == 's':
		var out []*JSONNode
		for line := range strings.Lines(n.Text) {
			if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*")); line != "" {
				out = append(out, &JSONNode{Line: n.Line, Kind: 's', Text: line})
			}
		}
		return out
	case n.Kind != '[':
		o.NoteWrongType(n, names[0], "a list in [ ]")
		return nil
	default:
		return n.Items
	}
}

// TextList returns the texts of a list. An item that is an object has its text in one of its
// fields.
func (o *JSONObjectReader) TextList(names ...string) []string {
	var out []string
	for _, n := range o.ListField(names...) {
		if n.Kind == '{' {
			for _, name := range []string{"text", "description", "criterion", "title", "path", "name"} {
				if v := n.Get(name); v != nil && v.Kind == 's' {
					n = v
					break
				}
			}
		}
		if n.Kind != 's' && n.Kind != 'n' {
			o.NoteWrongType(n, names[0], "a list of texts in quotes")
			continue
		}
		if text := strings.TrimSpace(n.Text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// NoteUnknownFields adds remarks about unknown fields. A field whose name is similar to a missing one is a
// mistake.
func (o *JSONObjectReader) NoteUnknownFields() {
	for _, f := range o.Fields {
		if slices.Contains(o.known, f.Name) {
			continue
		}
		if meant := o.similarMissingField(f.Name); meant != "" {
			o.notes.AddMistake(f.Line, fmt.Sprintf("%q is unknown; did you mean %q?", f.Name, meant))
			continue
		}
		if !f.Value.IsEmpty() {
			o.notes.AddLostData(f.Line, o.Name, cmp.Or(f.Name, `""`), "a plan has no such field")
		}
	}
}

// similarMissingField returns the missing field whose name is similar.
func (o *JSONObjectReader) similarMissingField(name string) string {
	const shortest, farthest = 5, 2
	for _, known := range o.known {
		if len(name) >= shortest && len(known) >= shortest && o.Get(known) == nil &&
			spelling.EditDistance(strings.ToLower(name), strings.ToLower(known)) <= farthest {
			return known
		}
	}
	return ""
}
