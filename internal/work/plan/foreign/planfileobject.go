package foreign

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/spelling"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonposition"
)

// fileRemarkRecorder records remarks about one file.
type fileRemarkRecorder struct {
	d    *importedPlanDraft
	file string
}

// AddMistake implements [jsonposition.FieldRemarkReceiver].
func (n fileRemarkRecorder) AddMistake(line int, text string) {
	n.d.addProblem(importFilePosition{file: n.file, line: line}, "%s", text)
}

// AddLostData implements [jsonposition.FieldRemarkReceiver].
func (n fileRemarkRecorder) AddLostData(line int, item, what, why string) {
	n.d.addRemark(Lost, importFilePosition{file: n.file, line: line}, item, what, why)
}

// parseJSONTree parses a JSON file.
func (d *importedPlanDraft) parseJSONTree(text, file string) (*jsonposition.JSONNode, bool) {
	n, mistakes := jsonposition.ParseJSON(text)
	for _, m := range mistakes {
		d.addProblem(importFilePosition{file, m.Line, m.Column}, "%s", m.Text)
	}
	return n, n != nil
}

// planFileObject is a JSON object that is a task or a file.
type planFileObject struct {
	*jsonposition.JSONObjectReader

	d    *importedPlanDraft
	file string
}

// newObject returns the fields of a value, which must be an object.
func (d *importedPlanDraft) newObject(n *jsonposition.JSONNode, file, what string) (*planFileObject, bool) {
	o, ok := jsonposition.NewObjectReader(n, what, fileRemarkRecorder{d, file})
	return &planFileObject{o, d, file}, ok
}

func (o *planFileObject) position() importFilePosition {
	return importFilePosition{file: o.file, line: o.Line}
}

// needReferences returns the needs of a list: names, or objects with a name and a type, of which soft
// ones are optional.
func (o *planFileObject) needReferences(names ...string) []foreignNeed {
	var out []foreignNeed
	for _, n := range o.ListField(names...) {
		r := foreignNeed{importFilePosition: importFilePosition{file: o.file, line: n.Line}}
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
			o.NoteWrongType(n, names[0], "a list of ids or titles")
			continue
		}
		if r.name = strings.TrimSpace(n.Text); r.name != "" {
			out = append(out, r)
		}
	}
	return out
}

// parseCriteria returns the criteria of a list.
func (o *planFileObject) parseCriteria(names ...string) []nexus.Criterion {
	var out []nexus.Criterion
	for _, text := range o.TextList(names...) {
		out = append(out, parseCriterion(text))
	}
	return out
}

// remarkRunState reads the fields of a task about the result of an earlier run: they are named in one
// remark.
func (o *planFileObject) remarkRunState(names ...string) {
	var found []string
	for _, f := range o.Fields {
		if slices.Contains(names, f.Name) && !f.Value.IsEmpty() {
			found = append(found, f.Name)
		}
	}
	o.MarkKnown(names...)
	if len(found) > 0 {
		o.d.addRemark(Lost, o.position(), o.Name, strings.Join(found, ", "), "it is about an earlier run")
	}
}

// remarkLostFields adds a remark that a plan has no field for some data, with the reason.
func (o *planFileObject) remarkLostFields(why string, names ...string) {
	o.MarkKnown(names...)
	for _, f := range o.Fields {
		if slices.Contains(names, f.Name) && !f.Value.IsEmpty() {
			o.d.addRemark(Lost, importFilePosition{file: o.file, line: f.Line}, o.Name, f.Name, why)
		}
	}
}

// suggestItemName returns a similar item for a name that does not exist.
func (d *importedPlanDraft) suggestItemName(name string) string {
	best, least := "", 3
	for _, it := range d.items {
		for _, known := range []string{it.name, it.task.Title} {
			if n := spelling.EditDistance(strings.ToLower(name), strings.ToLower(known)); known != "" && n < least && n < len(known)/2+1 {
				best, least = known, n
			}
		}
	}
	if best == "" {
		return "; correct it or remove the need"
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
