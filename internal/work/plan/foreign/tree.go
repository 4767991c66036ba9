package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/spelling"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonlines"
)

// notes records remarks about one file.
type notes struct {
	d    *draft
	file string
}

// Wrong implements [jsonlines.Notes].
func (n notes) Wrong(line int, text string) { n.d.wrong(place{n.file, line}, "%s", text) }

// Lost implements [jsonlines.Notes].
func (n notes) Lost(line int, item, what, why string) {
	n.d.remark(Lost, place{n.file, line}, item, what, why)
}

// tree parses a JSON file.
func (d *draft) tree(text, file string) (*jsonlines.Node, bool) {
	n, mistakes := jsonlines.Parse(text)
	for _, m := range mistakes {
		d.wrong(place{file, m.Line}, "%s", m.Text)
	}
	return n, n != nil
}

// object is a JSON object that is a task or a file.
type object struct {
	*jsonlines.Object

	d    *draft
	file string
}

// object returns the fields of a value, which must be an object.
func (d *draft) object(n *jsonlines.Node, file, what string) (*object, bool) {
	o, ok := jsonlines.NewObject(n, what, notes{d, file})
	return &object{o, d, file}, ok
}

func (o *object) at() place { return place{o.file, o.Line} }

// refs returns the needs of a list: names, or objects with a name and a type, of which soft
// ones are optional.
func (o *object) refs(names ...string) []ref {
	var out []ref
	for _, n := range o.List(names...) {
		r := ref{place: place{o.file, n.Line}}
		if n.Kind == '{' {
			for _, kind := range []string{"type", "kind"} {
				if v := n.Get(kind); v != nil && strings.EqualFold(v.Text, "soft") {
					r.soft = true
				}
			}
			for _, name := range []string{"id", "task", "taskId", "title"} {
				if v := n.Get(name); v != nil {
					n = v
					break
				}
			}
		}
		if n.Kind != 's' && n.Kind != 'n' {
			o.Want(n, names[0], "a list of ids or titles")
			continue
		}
		if r.name = strings.TrimSpace(n.Text); r.name != "" {
			out = append(out, r)
		}
	}
	return out
}

// criteria returns the criteria of a list.
func (o *object) criteria(names ...string) []nexus.Criterion {
	var out []nexus.Criterion
	for _, text := range o.Texts(names...) {
		out = append(out, checked(text))
	}
	return out
}

// state reads the fields of a task about the result of an earlier run: they are named in one
// remark.
func (o *object) state(names ...string) {
	var found []string
	for _, f := range o.Fields {
		if slices.Contains(names, f.Name) && !f.Value.Empty() {
			found = append(found, f.Name)
		}
	}
	o.Known(names...)
	if len(found) > 0 {
		o.d.remark(Lost, o.at(), o.Name, strings.Join(found, ", "), "it is about an earlier run")
	}
}

// lose adds a remark that a plan has no field for some data, with the reason.
func (o *object) lose(why string, names ...string) {
	o.Known(names...)
	for _, f := range o.Fields {
		if slices.Contains(names, f.Name) && !f.Value.Empty() {
			o.d.remark(Lost, place{o.file, f.Line}, o.Name, f.Name, why)
		}
	}
}

// meant returns a similar item for a name that does not exist.
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
