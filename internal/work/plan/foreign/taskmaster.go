package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonlines"
)

// readTaskMaster reads a tasks.json: a list of tasks, or one list for each tag.
func (d *draft) readTaskMaster(tag string) error {
	text, name, err := d.main(".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json")
	if err != nil {
		return err
	}
	file := d.source.shown(name)
	root, ok := d.tree(text, file)
	if !ok {
		return nil
	}
	if root.Kind == '[' {
		root = jsonlines.In("tasks", root)
	}
	whole, ok := d.object(root, file, "the file")
	if !ok {
		return nil
	}
	if root.Get("tasks") == nil || root.Get("tasks").Kind != '[' {
		if whole, ok = d.tag(whole, tag); !ok {
			return nil
		}
	}
	meta := whole.Field("metadata", "meta")
	if meta != nil && meta.Kind == '{' {
		m, _ := d.object(meta, file, "the tag")
		d.goal = m.Text("description", "goal", "projectName", "prdSource")
		if d.goal == "" || strings.HasPrefix(d.goal, "Tasks for ") {
			d.goal = cmp.Or(m.Text("projectName"), d.base())
		}
	}
	tasks := whole.List("tasks")
	whole.lose("it belongs to the other tool", "projectName", "projectVersion", "version", "generatedAt")
	whole.Rest()
	for i, n := range tasks {
		d.masterTask(n, file, i)
	}
	return nil
}

// tag selects the list of one tag: the requested one, the current one, the one with the name
// master, or the only one.
func (d *draft) tag(whole *object, tag string) (*object, bool) {
	lists := map[string]*jsonlines.Node{}
	var names []string
	for _, f := range whole.Fields {
		if list := f.Value.Get("tasks"); list != nil && list.Kind == '[' {
			lists[f.Name] = f.Value
			names = append(names, f.Name)
		}
	}
	asked := tag
	if tag == "" {
		tag = d.currentTag()
	}
	if lists[tag] == nil && asked == "" {
		if tag = "master"; lists[tag] == nil && len(names) == 1 {
			tag = names[0]
		}
	}
	switch {
	case len(names) == 0:
		d.wrong(whole.at(), `it has no list "tasks", and none below a tag; write the tasks in it`)
		return nil, false
	case lists[tag] == nil:
		what := "it has several tags"
		if asked != "" {
			what = fmt.Sprintf("it has no tag %q", asked)
		}
		d.wrong(whole.at(), "%s; choose one with --format taskmaster:TAG, among %s", what, strings.Join(names, ", "))
		return nil, false
	}
	for _, f := range whole.Fields {
		if f.Name != tag && lists[f.Name] != nil && len(lists[f.Name].Get("tasks").Items) > 0 {
			d.remark(Lost, place{whole.file, f.Line}, "", count(len(lists[f.Name].Get("tasks").Items),
				"task")+" of the tag "+f.Name, "the tag "+tag+" is read; --format taskmaster:"+f.Name+" reads it")
		}
	}
	return d.object(lists[tag], whole.file, "the tag")
}

// currentTag returns the tag that Task Master works on, empty if unknown.
func (d *draft) currentTag() string {
	for _, name := range []string{".taskmaster/state.json", "state.json"} {
		text, ok, err := d.source.read(name)
		if err != nil {
			d.wrong(place{file: d.source.shown(name)}, "it says which tag is current, and cannot be read: %v", err)
		}
		var state struct {
			CurrentTag string `json:"currentTag"`
		}
		if ok && json.Unmarshal([]byte(text), &state) == nil && state.CurrentTag != "" {
			return state.CurrentTag
		}
	}
	return ""
}

// masterTask reads one task and its subtasks. Open subtasks replace it.
func (d *draft) masterTask(n *jsonlines.Node, file string, i int) {
	o, ok := d.object(n, file, fmt.Sprintf("task %d", i+1))
	if !ok {
		return
	}
	it := d.masterItem(o, fmt.Sprintf("%d", i+1))
	it.needs = o.refs("dependencies", "dependsOn")
	subs := o.List("subtasks")
	if it.out != "" {
		d.add(it)
		return
	}
	o.Rest()
	d.add(it)
	var parts []*item
	siblings := map[string]bool{}
	for k, sub := range subs {
		if s, ok := d.object(sub, file, fmt.Sprintf("subtask %d of %s", k+1, it.name)); ok {
			part := d.masterItem(s, fmt.Sprintf("%d", k+1))
			if siblings[part.name] { // Task Master itself writes such files
				d.remark(Changed, part.place, subName(it.name, part.name), "another subtask has the same id", "a need of this id means the first")
				part.name = fmt.Sprintf("%s-%d", part.name, k+1)
			}
			siblings[part.name] = true
			part.needs = s.refs("dependencies", "dependsOn")
			if part.out == "" {
				s.Rest()
			}
			part.name = subName(it.name, part.name)
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		for k, r := range part.needs { // a bare number is a sibling, if there is one
			if siblings[r.name] {
				part.needs[k].name = subName(it.name, r.name)
			}
		}
		d.add(part)
	}
	d.standIn(it, parts)
}

// subName returns the name of a subtask outside of its task.
func subName(parent, name string) string {
	if strings.HasPrefix(name, parent+".") {
		return name
	}
	return parent + "." + name
}

// standIn replaces a task by its open parts: they need what it needs, and the last of them
// have its test.
func (d *draft) standIn(it *item, parts []*item) {
	open := slices.DeleteFunc(slices.Clone(parts), func(p *item) bool { return p.out != "" })
	if len(open) == 0 {
		if len(parts) > 0 {
			d.remark(Changed, it.place, it.name, "its subtasks are done", "what is left of it is a task")
		}
		return
	}
	it.out = Changed
	needed := map[string]bool{}
	for _, p := range open {
		for _, r := range p.needs {
			needed[r.name] = true
		}
		it.parts = append(it.parts, p.name)
	}
	for _, p := range open {
		if !d.fits(p.place, 0, len(it.needs)) {
			return
		}
		p.needs = slices.Concat(p.needs, it.needs)
		p.task.Group = it.task.Title
		p.rank = it.rank
		p.brief = append(p.brief, "It is a part of: "+it.task.Title)
		if !needed[p.name] {
			p.task.Criteria = slices.Concat(p.task.Criteria, it.task.Criteria)
		}
	}
	if len(it.brief) > 1 && it.brief[1] != "" {
		d.remark(Lost, it.place, it.name, "details", "its subtasks say what to do")
	}
	d.remark(Changed, it.place, it.name, "the task became "+count(len(open), "open subtask"), "a plan has no tasks within tasks")
}

// masterItem reads the common fields of tasks and subtasks.
func (d *draft) masterItem(o *object, number string) *item {
	o.Name = cmp.Or(o.Text("id"), number)
	it := &item{place: o.at(), name: o.Name}
	it.task.Title = o.Text("title", "name")
	it.brief = []string{o.Text("description"), o.Text("details")}
	it.task.Tags = o.Texts("tags", "labels")
	it.task.Criteria = o.criteria("acceptanceCriteria")
	if test := o.Text("testStrategy"); test != "" {
		it.task.Criteria = append(it.task.Criteria, testStrategy(test)...)
	}
	o.priority(it)
	d.masterStatus(o, it)
	o.Known("dependencies", "dependsOn", "subtasks", "parentTaskId", "parentTask", "parentId", "isSubtask",
		"previousStatus", "updatedAt", "createdAt", "complexity", "complexityScore",
		"recommendedSubtasks", "expansionPrompt", "complexityReasoning", "effort", "metadata", "relevantFiles")
	if it.out == "" {
		it.task.Complexity = scored(o)
		it.task.Files = o.Texts("relevantFiles", "files")
		o.lose("a plan has no place for it", "metadata", "effort")
	}
	return it
}

// testStrategy parses criteria: one for each line if all are items of a list, or else one.
func testStrategy(text string) []nexus.Criterion {
	list := strings.Split(strings.TrimPrefix("\n"+text, "\n- "), "\n- ")
	if !strings.HasPrefix(text, "- ") || strings.Contains(strings.Join(list, ""), "\n") {
		list = []string{text}
	}
	var out []nexus.Criterion
	for _, line := range list {
		out = append(out, checked(strings.Join(strings.Fields(line), " ")))
	}
	return out
}

// scored converts Task Master's complexity, from 1 to 10, into ours.
func scored(o *object) nexus.Complexity {
	n := o.Field("complexity", "complexityScore")
	if n == nil || n.Kind != 'n' {
		return ""
	}
	switch score := o.Number("complexity", "complexityScore"); {
	case score <= 3:
		return nexus.Simple
	case score <= 6:
		return nexus.Medium
	default:
		return nexus.Complex
	}
}

// masterStatus sets whether a task is still open.
func (d *draft) masterStatus(o *object, it *item) {
	n := o.Field("status")
	switch status := strings.ReplaceAll(strings.ToLower(o.Text("status")), "_", "-"); status {
	case "", "pending", "todo", "open", "not-started":
	case "done", "completed", "complete":
		it.out, it.why = Done, "it is done"
	case "cancelled", "canceled", "deferred":
		it.out, it.why = Lost, "its status is "+status
	case "in-progress", "review", "blocked", "failed":
		d.remark(Changed, o.at(), o.Name, "the status "+status, "it starts from the beginning")
	default:
		d.wrong(place{o.file, n.Line}, "the status %q of %s is unknown; use one of "+
			"pending, in-progress, done, review, deferred, cancelled, blocked", status, o.Name)
	}
}
