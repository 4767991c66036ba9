package jsonlines

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/spelling"
)

// Object reads the fields of a JSON object that is a task or a file. The callers of its
// methods define the type of each field.
type Object struct {
	*Node

	Name  string // name of the task; empty for the file
	notes Notes
	known []string // fields that were requested
}

// Notes receives the remarks about a file.
type Notes interface {
	Wrong(line int, text string)           // a mistake, with its correction
	Lost(line int, item, what, why string) // data that has no field
}

// NewObject returns the fields of a value, which must be an object.
func NewObject(n *Node, what string, notes Notes) (*Object, bool) {
	if n.Kind != '{' {
		notes.Wrong(n.Line, what+" is "+n.is()+", not an object in { }")
		return nil, false
	}
	return &Object{Node: n, notes: notes}, true
}

// Known marks fields as known, so that there is no remark about them.
func (o *Object) Known(names ...string) { o.known = append(o.known, names...) }

// is returns the type of a value, for people.
func (n *Node) is() string {
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

// Field returns the first existing field of some names; they are alternative names of one
// field.
func (o *Object) Field(names ...string) *Node {
	o.known = append(o.known, names...)
	for _, name := range names {
		if v := o.Get(name); v != nil {
			return v
		}
	}
	return nil
}

// Want records that a field has the wrong type.
func (o *Object) Want(n *Node, name, what string) {
	of := ""
	if o.Name != "" {
		of = " of " + o.Name
	}
	o.notes.Wrong(n.Line, fmt.Sprintf("%q%s is %s; write %s", name, of, n.is(), what))
}

// Text returns a text; a number is converted to a text.
func (o *Object) Text(names ...string) string {
	n := o.Field(names...)
	switch {
	case n == nil:
		return ""
	case n.Kind != 's' && n.Kind != 'n':
		o.Want(n, names[0], "a text in quotes")
		return ""
	default:
		return strings.TrimSpace(n.Text)
	}
}

// Flag returns whether a field is true.
func (o *Object) Flag(names ...string) bool {
	n := o.Field(names...)
	switch {
	case n == nil:
		return false
	case n.Kind != 'b':
		o.Want(n, names[0], "true or false, without quotes")
		return false
	default:
		return n.Text == "true"
	}
}

// Number returns a non-negative integer.
func (o *Object) Number(names ...string) int {
	n := o.Field(names...)
	if n == nil {
		return 0
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	if n.Kind != 'n' || err != nil || f < 0 || f > 1e9 {
		o.Want(n, names[0], "a number from 0, without quotes")
		return 0
	}
	return int(f)
}

// List returns the items of a list; a single text is a list of its lines.
func (o *Object) List(names ...string) []*Node {
	n := o.Field(names...)
	switch {
	case n == nil:
		return nil
	case n.Kind == 's':
		var out []*Node
		for line := range strings.Lines(n.Text) {
			if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*")); line != "" {
				out = append(out, &Node{Line: n.Line, Kind: 's', Text: line})
			}
		}
		return out
	case n.Kind != '[':
		o.Want(n, names[0], "a list in [ ]")
		return nil
	default:
		return n.Items
	}
}

// Texts returns the texts of a list. An item that is an object has its text in one of its
// fields.
func (o *Object) Texts(names ...string) []string {
	var out []string
	for _, n := range o.List(names...) {
		if n.Kind == '{' {
			for _, name := range []string{"text", "description", "criterion", "title", "path", "name"} {
				if v := n.Get(name); v != nil && v.Kind == 's' {
					n = v
					break
				}
			}
		}
		if n.Kind != 's' && n.Kind != 'n' {
			o.Want(n, names[0], "a list of texts in quotes")
			continue
		}
		if text := strings.TrimSpace(n.Text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// Rest adds remarks about unknown fields. A field whose name is similar to a missing one is a
// mistake.
func (o *Object) Rest() {
	for _, f := range o.Fields {
		if slices.Contains(o.known, f.Name) {
			continue
		}
		if meant := o.meant(f.Name); meant != "" {
			o.notes.Wrong(f.Line, fmt.Sprintf("%q is unknown; did you mean %q?", f.Name, meant))
			continue
		}
		if !f.Value.Empty() {
			o.notes.Lost(f.Line, o.Name, cmp.Or(f.Name, `""`), "a plan has no such field")
		}
	}
}

// meant returns the missing field whose name is similar.
func (o *Object) meant(name string) string {
	const shortest, farthest = 5, 2
	for _, known := range o.known {
		if len(name) >= shortest && len(known) >= shortest && o.Get(known) == nil &&
			spelling.Distance(strings.ToLower(name), strings.ToLower(known)) <= farthest {
			return known
		}
	}
	return ""
}
