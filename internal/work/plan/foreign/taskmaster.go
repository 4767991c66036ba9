package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonposition"
)

// readTaskMaster reads a tasks.json: a list of tasks, or one list for each tag.
func (d *importedPlanDraft) readTaskMaster(tag string) error {
	text, name, err := d.readMainFile(".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json")
	if err != nil {
		return err
	}
	file := d.source.displayPath(name)
	root, ok := d.parseJSONTree(text, file)
	if !ok {
		return nil
	}
	if root.Kind == '[' {
		root = jsonposition.WrapNode("tasks", root)
	}
	whole, ok := d.newObject(root, file, "the file")
	if !ok {
		return nil
	}
	if root.Get("tasks") == nil || root.Get("tasks").Kind != '[' {
		if whole, ok = d.selectTagList(whole, tag); !ok {
			return nil
		}
	}
	meta := whole.FirstField("metadata", "meta")
	if meta != nil && meta.Kind == '{' {
		m, _ := d.newObject(meta, file, "the tag")
		d.goal = m.TextField("description", "goal", "projectName", "prdSource")
		if d.goal == "" || strings.HasPrefix(d.goal, "Tasks for ") {
			d.goal = cmp.Or(m.TextField("projectName"), d.sourceBaseName())
		}
	}
	tasks := whole.ListField("tasks")
	whole.remarkLostFields("it belongs to the other tool", "projectName", "projectVersion", "version", "generatedAt")
	whole.NoteUnknownFields()
	for i, n := range tasks {
		d.readTaskMasterTask(n, file, i)
	}
	return nil
}

// selectTagList selects the list of one tag: the requested one, the current one, the one with the name
// master, or the only one.
func (d *importedPlanDraft) selectTagList(whole *planFileObject, tag string) (*planFileObject, bool) {
	lists := map[string]*jsonposition.JSONNode{}
	var names []string
	for _, f := range whole.Fields {
		if list := f.Value.Get("tasks"); list != nil && list.Kind == '[' {
			lists[f.Name] = f.Value
			names = append(names, f.Name)
		}
	}
	asked := tag
	if tag == "" {
		tag = d.readCurrentTag()
	}
	if lists[tag] == nil && asked == "" {
		if tag = "master"; lists[tag] == nil && len(names) == 1 {
			tag = names[0]
		}
	}
	switch {
	case len(names) == 0:
		d.addProblem(whole.position(), `it has no list "tasks", and none below a tag; write the tasks in it`)
		return nil, false
	case lists[tag] == nil:
		what := "it has several tags"
		if asked != "" {
			what = fmt.Sprintf("it has no tag %q", asked)
		}
		d.addProblem(whole.position(), "%s; choose one with --format taskmaster:TAG, among %s", what, strings.Join(names, ", "))
		return nil, false
	}
	for _, f := range whole.Fields {
		if f.Name != tag && lists[f.Name] != nil && len(lists[f.Name].Get("tasks").Items) > 0 {
			d.addRemark(Lost, importFilePosition{file: whole.file, line: f.Line}, "", countWithNoun(len(lists[f.Name].Get("tasks").Items),
				"task")+" of the tag "+f.Name, "the tag "+tag+" is read; --format taskmaster:"+f.Name+" reads it")
		}
	}
	return d.newObject(lists[tag], whole.file, "the tag")
}

// readCurrentTag returns the tag that Task Master works on, empty if unknown.
func (d *importedPlanDraft) readCurrentTag() string {
	for _, name := range []string{".taskmaster/state.json", "state.json"} {
		text, ok, err := d.source.readFile(name)
		if err != nil {
			d.addProblem(importFilePosition{file: d.source.displayPath(name)}, "it says which tag is current, and cannot be read: %v", err)
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

// readTaskMasterTask reads one task and its subtasks. Open subtasks replace it.
func (d *importedPlanDraft) readTaskMasterTask(n *jsonposition.JSONNode, file string, i int) {
	o, ok := d.newObject(n, file, fmt.Sprintf("task %d", i+1))
	if !ok {
		return
	}
	it := d.readTaskMasterItem(o, fmt.Sprintf("%d", i+1))
	subs := o.ListField("subtasks")
	if it.out != "" {
		d.addItem(it)
		return
	}
	d.addItem(it)
	var parts []*importItem
	siblings := map[string]bool{}
	for k, sub := range subs {
		if s, ok := d.newObject(sub, file, fmt.Sprintf("subtask %d of %s", k+1, it.name)); ok {
			part := d.readTaskMasterItem(s, fmt.Sprintf("%d", k+1))
			if siblings[part.name] { // Task Master itself writes such files
				d.addRemark(Changed, part.importFilePosition, qualifiedSubtaskName(it.name, part.name), "another subtask has the same id", "a need of this id means the first")
				part.name = fmt.Sprintf("%s-%d", part.name, k+1)
			}
			siblings[part.name] = true
			part.name = qualifiedSubtaskName(it.name, part.name)
			parts = append(parts, part)
		}
	}
	for _, part := range parts {
		for k, r := range part.needs { // a bare number is a sibling, if there is one
			if siblings[r.name] {
				part.needs[k].name = qualifiedSubtaskName(it.name, r.name)
			}
		}
		d.addItem(part)
	}
	d.replaceByParts(it, parts)
}

// qualifiedSubtaskName returns the name of a subtask outside of its task.
func qualifiedSubtaskName(parent, name string) string {
	if strings.HasPrefix(name, parent+".") {
		return name
	}
	return parent + "." + name
}

// replaceByParts replaces a task by its open parts: they need what it needs, and the last of them
// have its test.
func (d *importedPlanDraft) replaceByParts(it *importItem, parts []*importItem) {
	open := slices.DeleteFunc(slices.Clone(parts), func(p *importItem) bool { return p.out != "" })
	if len(open) == 0 {
		if len(parts) > 0 {
			d.addRemark(Changed, it.importFilePosition, it.name, "its subtasks are done", "what is left of it is a task")
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
		if !d.hasRoomFor(p.importFilePosition, 0, len(it.needs)) {
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
		d.addRemark(Lost, it.importFilePosition, it.name, "details", "its subtasks say what to do")
	}
	d.addRemark(Changed, it.importFilePosition, it.name, "the task became "+countWithNoun(len(open), "open subtask"), "a plan has no tasks within tasks")
}

// readTaskMasterItem reads the common fields of tasks and subtasks.
func (d *importedPlanDraft) readTaskMasterItem(o *planFileObject, number string) *importItem {
	it := masterTask.read(o, number)
	if it.out != "" {
		return it
	}
	it.task.Complexity = complexityFromScore(o)
	if test := o.TextField("testStrategy"); test != "" {
		it.task.Criteria = append(it.task.Criteria, parseTestStrategy(test)...)
	}
	return it
}

// parseTestStrategy parses criteria: one for each line if all are items of a list, or else one.
func parseTestStrategy(text string) []nexus.Criterion {
	list := strings.Split(strings.TrimPrefix("\n"+text, "\n- "), "\n- ")
	if !strings.HasPrefix(text, "- ") || strings.Contains(strings.Join(list, ""), "\n") {
		list = []string{text}
	}
	var out []nexus.Criterion
	for _, line := range list {
		out = append(out, parseCriterion(strings.Join(strings.Fields(line), " ")))
	}
	return out
}

// complexityFromScore converts Task Master's complexity, from 1 to 10, into ours.
func complexityFromScore(o *planFileObject) nexus.Complexity {
	n := o.FirstField("complexity", "complexityScore")
	if n == nil || n.Kind != 'n' {
		return ""
	}
	switch score := o.NumberField("complexity", "complexityScore"); {
	case score <= 3:
		return nexus.Simple
	case score <= 6:
		return nexus.Medium
	default:
		return nexus.Complex
	}
}
