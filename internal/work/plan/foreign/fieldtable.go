package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// fieldTable maps the fields of a task in a JSON format to those of a plan. A field that has
// several names is the first of them that is present.
type fieldTable struct {
	id, title, description, group []string
	descriptionIsTitle            bool // of a task without an id and a title
	criteria, tags, needs         []string
	files                         [][]string   // lists that are joined
	paragraphs                    []paragraph  // of the brief, after the description
	minutes                       []string     // a number
	complexity                    []enumWords  // fields with a word for it
	priority                      priorityRule // of the field priority
	kind                          kindTable
	status                        statusTable
	lost                          []lostFields
	runState                      []string // results of an earlier run
	ignored                       []string // without a meaning here, or read by the format's own code
}

// paragraph is a text that becomes a paragraph of a brief.
type paragraph struct {
	names []string
	text  string // format, with the field's text
	list  bool   // each item of the field is a paragraph
}

// lostFields are fields that a plan has no place for.
type lostFields struct {
	why   string
	names []string
}

// enumWords are the words that a field may have, with ours, and the words that an error names.
type enumWords struct {
	name     string
	ours     map[string]string
	expected string
}

// priorityRule is the meaning of a priority that is a number.
type priorityRule int

const (
	smallerFirst priorityRule = iota // the order of the tasks
	largerFirst                      // a score
)

// kindTable maps the types of tasks.
type kindTable struct {
	kinds    map[string]nexus.TaskKind
	tags     []string // types that become tags
	omitted  []string // types whose tasks are left out
	expected string
}

// statusTable maps the words for the status of a task.
type statusTable struct {
	open, restart, done, omitted []string
	replaced                     []string // by its parts
	flags                        []string // fields that are true if the task is done
	expected                     string
}

// readScenarios returns the task of an object, named by its number if it has no id. What belongs to a task that is left out is not
// readScenarios.
func (t *fieldTable) read(o *planFileObject, number string) *importItem {
	id, title, description := o.TextField(t.id...), o.TextField(t.title...), o.TextField(t.description...)
	o.Name = cmp.Or(id, number)
	if t.descriptionIsTitle && title == "" && id == "" {
		title, description = description, ""
	}
	it := &importItem{importFilePosition: o.position(), name: o.Name, brief: []string{description}}
	it.task.Title, it.needs = title, o.needReferences(t.needs...)
	t.kind.apply(o.d, it, o.fieldPosition("type"), o.kindField(t.kind))
	t.status.readFlags(o, it)
	t.readPriority(o, it)
	if it.out != "" {
		return it
	}
	it.task.Group, it.task.Tags = o.TextField(t.group...), slices.Concat(it.task.Tags, o.TextList(t.tags...))
	it.task.Criteria, it.task.Minutes = o.parseCriteria(t.criteria...), o.NumberField(t.minutes...)
	for _, names := range t.files {
		it.task.Files = append(it.task.Files, o.TextList(names...)...)
	}
	for _, c := range t.complexity {
		it.task.Complexity = nexus.Complexity(o.enumField(c))
	}
	for _, p := range t.paragraphs {
		it.brief = append(it.brief, o.paragraphs(p)...)
	}
	o.remarkRunState(t.runState...)
	for _, l := range t.lost {
		o.remarkLostFields(l.why, l.names...)
	}
	o.MarkKnown(t.ignored...)
	o.NoteUnknownFields()
	return it
}

// fieldPosition returns the position of a field, or of the object without it.
func (o *planFileObject) fieldPosition(name string) importFilePosition {
	if n := o.Get(name); n != nil {
		return importFilePosition{file: o.file, line: n.Line}
	}
	return o.position()
}

func (o *planFileObject) paragraphs(p paragraph) []string {
	if p.list {
		return o.TextList(p.names...)
	}
	text := o.TextField(p.names...)
	if text == "" || p.text == "" {
		return []string{text}
	}
	return []string{fmt.Sprintf(p.text, text)}
}

// kindField returns the type of a task, if the format has types.
func (o *planFileObject) kindField(t kindTable) string {
	if t.expected == "" {
		return ""
	}
	return o.TextField("type")
}

// enumField returns our word for the one of a field.
func (o *planFileObject) enumField(e enumWords) string {
	word := o.TextField(e.name)
	ours, ok := e.ours[strings.ToLower(word)]
	if !ok && word != "" {
		o.d.addProblem(o.fieldPosition(e.name), "the %s %q of %s is unknown; use one of %s", e.name, word, o.Name, e.expected)
	}
	return ours
}

// apply sets the kind of a task, a tag, or that the task is left out.
func (t kindTable) apply(d *importedPlanDraft, it *importItem, at importFilePosition, word string) {
	word = strings.ToLower(word)
	kind, known := t.kinds[word]
	switch {
	case word == "":
	case known:
		it.task.Kind = kind
	case slices.Contains(t.tags, word):
		it.task.Tags = append(it.task.Tags, word)
	case slices.Contains(t.omitted, word):
		it.out, it.why = Lost, "Nexus does that itself, or leaves it to a person: its type is "+word
	default:
		d.addProblem(at, "the type %q of %s is unknown; use one of %s", word, it.name, t.expected)
	}
}

// readFlags applies the status of an object, and its flags.
func (t statusTable) readFlags(o *planFileObject, it *importItem) {
	done := o.BoolField(t.flags...)
	t.apply(o.d, it, o.fieldPosition("status"), o.TextField("status"))
	if done && it.out == "" {
		it.out, it.why = Done, "it is done"
	}
}

// apply sets whether a task is still open.
func (t statusTable) apply(d *importedPlanDraft, it *importItem, at importFilePosition, word string) {
	switch status := strings.ReplaceAll(strings.ToLower(word), "_", "-"); {
	case status == "" || it.out != "" || slices.Contains(t.open, status):
	case slices.Contains(t.done, status):
		it.out, it.why = Done, "it is done"
	case slices.Contains(t.omitted, status):
		it.out, it.why = Lost, "its status is "+status
	case slices.Contains(t.replaced, status):
		it.out, it.why = Changed, "its status is "+status+": its parts replace it"
	case slices.Contains(t.restart, status):
		d.addRemark(Changed, at, it.name, "the status "+status, "it starts from the beginning")
	default:
		d.addProblem(at, "the status %q of %s is unknown; use one of %s", status, it.name, t.expected)
	}
}

// readPriority parses a priority: a word or a number.
func (t *fieldTable) readPriority(o *planFileObject, it *importItem) {
	n := o.FirstField("priority")
	if n == nil {
		return
	}
	if t.priority == smallerFirst && n.Kind == 'n' {
		it.rank = o.NumberField("priority")
		return
	}
	t.priority.apply(o.d, it, o.fieldPosition("priority"), o.TextField("priority"))
}

// apply sets a priority of a task. An empty word sets none.
func (r priorityRule) apply(d *importedPlanDraft, it *importItem, at importFilePosition, word string) {
	priority, number, ok := parsePriority(word)
	score, err := strconv.Atoi(strings.TrimSpace(word))
	switch {
	case r == largerFirst && err == nil:
		it.task.Priority = scoredPriority(score)
	case ok && (r == smallerFirst || priority != ""):
		it.task.Priority, it.rank = priority, number
	case strings.TrimSpace(word) != "":
		expected := nexus.JoinWords(nexus.Priorities())
		if r == smallerFirst {
			expected = "a number, or one of " + expected
		} else {
			expected = "one of " + expected
		}
		d.addProblem(at, "the priority %q of %s is unknown; use %s", word, it.name, expected)
	}
}

// parsePriority parses a priority in words, including one of other tools that [nexus.ParsePriority] does
// not know, or one that is a number, such as P7.
func parsePriority(word string) (p nexus.Priority, number int, ok bool) {
	word = strings.ToLower(strings.TrimSpace(word))
	if word == "p4" {
		return nexus.PriorityTrivial, 0, true
	}
	if p, ok := nexus.ParsePriority(word); ok {
		return p, 0, true
	}
	number, err := strconv.Atoi(strings.TrimPrefix(word, "p"))
	return "", number, err == nil
}

// scoredPriority returns the priority whose score is nearest to a number.
func scoredPriority(n int) nexus.Priority {
	for _, p := range nexus.Priorities() {
		if n > p.NumericScore()-100 {
			return p
		}
	}
	return nexus.PriorityTrivial
}
