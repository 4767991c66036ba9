package foreign

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/spelling"
)

const maxDepth = 64 // of JSON

// node is a value of a JSON file, with the line that it ends or, if it has
// others in it, starts on.
type node struct {
	line   int
	kind   byte   // one of { [ s n b 0
	text   string // of a string, a number, true or false
	fields []field
	items  []*node
}

type field struct {
	name  string
	line  int
	value *node
}

// get returns the value of a field, nil where it is missing or null.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	for _, f := range n.fields {
		if f.name == name && f.value.kind != '0' {
			return f.value
		}
	}
	return nil
}

// empty reports whether a value says nothing: it is what a tool writes where
// there is nothing to say.
func (n *node) empty() bool {
	switch n.kind {
	case '{':
		return len(n.fields) == 0
	case '[':
		return len(n.items) == 0
	case 's':
		return strings.TrimSpace(n.text) == ""
	case 'n':
		return n.text == "0"
	case 'b':
		return n.text == "false"
	default:
		return true
	}
}

// tree reads JSON. Keys that are there twice are mistakes.
func (d *draft) tree(text, file string) (*node, bool) {
	data := bytes.TrimPrefix([]byte(text), []byte("\ufeff"))
	if !utf8.Valid(data) {
		d.wrong(place{file: file}, "it is not UTF-8; save it as UTF-8")
		return nil, false
	}
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		at, what := brokenJSON(data, err)
		d.wrong(place{file, at}, "%s", what)
		return nil, false
	}
	r := treeReader{d: d, file: file, data: data, in: json.NewDecoder(bytes.NewReader(data)), line: 1}
	r.in.UseNumber()
	n := r.value(0)
	return n, n != nil
}

// brokenJSON says what is wrong with text that is no JSON, and on which line.
func brokenJSON(data []byte, err error) (line int, what string) {
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
		return 1 + bytes.Count(bytes.TrimRight(data, " \t\r\n"), []byte("\n")), "the file ends too early; close what is open with }, ] or \""
	case bytes.HasSuffix(before, []byte(",")) && end < len(data) && (data[end] == ']' || data[end] == '}'):
		return 1 + bytes.Count(before, []byte("\n")), "there is a comma before " + string(data[end]) + "; remove the comma"
	case strings.Contains(says, "after array element") || strings.Contains(says, "after object key:value pair"):
		return 1 + bytes.Count(before, []byte("\n")), "a comma is missing at the end of this line, or a bracket or quote is one too many"
	case end < len(data) && (data[end] == '/' || data[end] == '#'):
		return line, "JSON has no comments; remove it"
	case end < len(data) && data[end] == '\'':
		return line, `JSON has " and not ' around texts; change the quotes`
	default:
		return line, "it is no JSON: " + says + "; correct this line"
	}
}

// treeReader reads JSON that is known to be well-formed.
type treeReader struct {
	d      *draft
	file   string
	data   []byte
	in     *json.Decoder
	offset int64
	line   int // of offset
}

// at returns the line of what was read last.
func (r *treeReader) at() int {
	end := r.in.InputOffset()
	r.line += bytes.Count(r.data[r.offset:end], []byte("\n"))
	r.offset = end
	return r.line
}

func (r *treeReader) value(depth int) *node {
	t, err := r.in.Token()
	if err != nil || depth > maxDepth {
		r.d.wrong(place{r.file, r.at()}, "it is nested too deeply; a plan has at most %d levels", maxDepth)
		return nil
	}
	n := &node{line: r.at()}
	switch v := t.(type) {
	case json.Delim:
		if v == '{' {
			return r.object(n, depth)
		}
		n.kind = '['
		for r.in.More() {
			item := r.value(depth + 1)
			if item == nil {
				return nil
			}
			n.items = append(n.items, item)
		}
		_, _ = r.in.Token() // its end, which is there
	case string:
		n.kind, n.text = 's', v
	case json.Number:
		n.kind, n.text = 'n', v.String()
	case bool:
		n.kind, n.text = 'b', strconv.FormatBool(v)
	default:
		n.kind = '0'
	}
	return n
}

func (r *treeReader) object(n *node, depth int) *node {
	n.kind = '{'
	seen := map[string]bool{}
	for r.in.More() {
		t, err := r.in.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return nil // it is well-formed
		}
		f := field{name: name, line: r.at()}
		if seen[name] {
			r.d.wrong(place{r.file, f.line}, "%q is there twice in one object; remove one", name)
		}
		seen[name] = true
		if f.value = r.value(depth + 1); f.value == nil {
			return nil
		}
		n.fields = append(n.fields, f)
	}
	_, _ = r.in.Token() // its end, which is there
	return n
}

// object reads the fields of a JSON object that is a task or a file. What a
// field may be is said where it is asked for.
type object struct {
	d    *draft
	n    *node
	file string
	name string // of the task; empty for the file
	seen []string
}

// object returns the fields of a value, which must be an object.
func (d *draft) object(n *node, file, what string) (*object, bool) {
	if n.kind != '{' {
		d.wrong(place{file, n.line}, "%s is %s, not an object in { }", what, n.is())
		return nil, false
	}
	return &object{d: d, n: n, file: file}, true
}

// is says what a value is, for people.
func (n *node) is() string {
	switch n.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case 's':
		return "a text"
	case 'n':
		return "a number"
	case 'b':
		return n.text
	default:
		return "null"
	}
}

func (o *object) at() place { return place{o.file, o.n.line} }

// get returns the first of some fields that is there; they are one under several names.
func (o *object) get(names ...string) *node {
	o.seen = append(o.seen, names...)
	for _, name := range names {
		if v := o.n.get(name); v != nil {
			return v
		}
	}
	return nil
}

// want notes that a field is not what it must be.
func (o *object) want(n *node, name, what string) {
	of := ""
	if o.name != "" {
		of = " of " + o.name
	}
	o.d.wrong(place{o.file, n.line}, "%q%s is %s; write %s", name, of, n.is(), what)
}

// text returns a text; a number is one as well.
func (o *object) text(names ...string) string {
	n := o.get(names...)
	switch {
	case n == nil:
		return ""
	case n.kind != 's' && n.kind != 'n':
		o.want(n, names[0], "a text in quotes")
		return ""
	default:
		return strings.TrimSpace(n.text)
	}
}

// flag returns whether a field is true.
func (o *object) flag(names ...string) bool {
	n := o.get(names...)
	switch {
	case n == nil:
		return false
	case n.kind != 'b':
		o.want(n, names[0], "true or false, without quotes")
		return false
	default:
		return n.text == "true"
	}
}

// number returns a whole number that is not negative.
func (o *object) number(names ...string) int {
	n := o.get(names...)
	if n == nil {
		return 0
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if n.kind != 'n' || err != nil || f < 0 || f > 1e9 {
		o.want(n, names[0], "a number from 0, without quotes")
		return 0
	}
	return int(f)
}

// list returns the items of a list; a text alone is a list of its lines.
func (o *object) list(names ...string) []*node {
	n := o.get(names...)
	switch {
	case n == nil:
		return nil
	case n.kind == 's':
		var out []*node
		for line := range strings.Lines(n.text) {
			if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*")); line != "" {
				out = append(out, &node{line: n.line, kind: 's', text: line})
			}
		}
		return out
	case n.kind != '[':
		o.want(n, names[0], "a list in [ ]")
		return nil
	default:
		return n.items
	}
}

// texts returns the texts of a list. An item that is an object says what it
// is in one of its fields.
func (o *object) texts(names ...string) []string {
	var out []string
	for _, n := range o.list(names...) {
		if n.kind == '{' {
			for _, name := range []string{"text", "description", "criterion", "title", "path", "name"} {
				if v := n.get(name); v != nil && v.kind == 's' {
					n = v
					break
				}
			}
		}
		if n.kind != 's' && n.kind != 'n' {
			o.want(n, names[0], "a list of texts in quotes")
			continue
		}
		if text := strings.TrimSpace(n.text); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// refs returns the needs of a list: names, or objects with a name and a type,
// of which soft ones are not waited for.
func (o *object) refs(names ...string) []ref {
	var out []ref
	for _, n := range o.list(names...) {
		r := ref{place: place{o.file, n.line}}
		if n.kind == '{' {
			for _, kind := range []string{"type", "kind"} {
				if v := n.get(kind); v != nil && strings.EqualFold(v.text, "soft") {
					r.soft = true
				}
			}
			for _, name := range []string{"id", "task", "taskId", "title"} {
				if v := n.get(name); v != nil {
					n = v
					break
				}
			}
		}
		if n.kind != 's' && n.kind != 'n' {
			o.want(n, names[0], "a list of ids or titles")
			continue
		}
		if r.name = strings.TrimSpace(n.text); r.name != "" {
			out = append(out, r)
		}
	}
	return out
}

// criteria returns the criteria of a list.
func (o *object) criteria(names ...string) []nexus.Criterion {
	var out []nexus.Criterion
	for _, text := range o.texts(names...) {
		out = append(out, checked(text))
	}
	return out
}

// state are the fields of a task that say what an earlier run did: they are
// named in one remark.
func (o *object) state(names ...string) {
	var found []string
	for _, f := range o.n.fields {
		if slices.Contains(names, f.name) && !f.value.empty() {
			found = append(found, f.name)
		}
	}
	o.seen = append(o.seen, names...)
	if len(found) > 0 {
		o.d.remark(Lost, o.at(), o.name, strings.Join(found, ", "), "it is about an earlier run")
	}
}

// lose says that fields have no place in a plan, for a reason.
func (o *object) lose(why string, names ...string) {
	o.seen = append(o.seen, names...)
	for _, f := range o.n.fields {
		if slices.Contains(names, f.name) && !f.value.empty() {
			o.d.remark(Lost, place{o.file, f.line}, o.name, f.name, why)
		}
	}
}

// rest says what nobody asked for. A field that is almost the name of one that
// is missing is a mistake.
func (o *object) rest() {
	for _, f := range o.n.fields {
		if slices.Contains(o.seen, f.name) {
			continue
		}
		if meant := o.meant(f.name); meant != "" {
			o.d.wrong(place{o.file, f.line}, "%q is unknown; did you mean %q?", f.name, meant)
			continue
		}
		if !f.value.empty() {
			o.d.remark(Lost, place{o.file, f.line}, o.name, cmp.Or(f.name, `""`), "a plan has no such field")
		}
	}
}

// meant returns the missing field that a name is almost.
func (o *object) meant(name string) string {
	const shortest, most = 5, 2
	for _, known := range o.seen {
		if len(name) >= shortest && len(known) >= shortest && o.n.get(known) == nil && spelling.Distance(strings.ToLower(name), strings.ToLower(known)) <= most {
			return known
		}
	}
	return ""
}

// meant suggests an item for a name that none has.
func (d *draft) meant(name string) string {
	best, least := "", 3
	for _, it := range d.items {
		for _, known := range []string{it.name, it.task.Title} {
			if n := spelling.Distance(strings.ToLower(name), strings.ToLower(known)); known != "" && n < least && n < len(known)/2+1 {
				best, least = known, n
			}
		}
	}
	if best == "" {
		return "; correct it or remove the need"
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
