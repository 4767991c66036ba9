package foreign

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonposition"
)

// readPRDStories reads the prd.json of nax or Ralph: a list of stories. The additions of nax are read
// in both, as there are many tools in between.
func (d *importedPlanDraft) readPRDStories() error {
	text, name, err := d.readMainFile("prd.json")
	if err != nil {
		return err
	}
	file := d.source.displayPath(name)
	root, ok := d.parseJSONTree(text, file)
	if !ok {
		return nil
	}
	stories := root
	whole, _ := d.newObject(&jsonposition.JSONNode{Line: 1, Kind: '{'}, file, "the file")
	if root.Kind != '[' {
		if whole, ok = d.newObject(root, file, "the file"); !ok {
			return nil
		}
		if stories = whole.FirstField("userStories", "stories", "features"); stories == nil || stories.Kind != '[' {
			d.addProblem(importFilePosition{file: file, line: root.Line}, `it has no list "userStories"; write the stories in it`)
			whole.NoteUnknownFields()
			return nil
		}
	}
	feature := whole.TextField("feature", "title")
	project := whole.TextField("project", "projectName", "name")
	d.goal = cmp.Or(whole.TextField("description", "goal"), feature, project)
	whole.remarkLostFields("Nexus names its branches itself", "branchName")
	whole.remarkLostFields("it belongs to the other tool", "project", "projectName", "name", "createdAt", "created", "updatedAt",
		"analyzeConfig", "acceptanceOverrides", "version", "$schema")
	whole.remarkLostFields("agents read the repository", "analysis")
	whole.NoteUnknownFields()
	for i, n := range stories.Items {
		d.readStory(n, file, i)
	}
	d.addPriorityOrderNeeds(stories)
	return nil
}

// readStory reads one story.
func (d *importedPlanDraft) readStory(n *jsonposition.JSONNode, file string, i int) {
	o, ok := d.newObject(n, file, fmt.Sprintf("story %d", i+1))
	if !ok {
		return
	}
	it := prdStory.read(o, fmt.Sprintf("T%d", i+1))
	if it.out == "" {
		if dir := o.TextField("workdir"); dir != "" && dir != "." {
			it.brief = append(it.brief, "Work in the directory "+dir+".")
		}
		o.readNaxMethod(it)
		if points := o.NumberField("storyPoints"); points > 1 {
			o.d.addRemark(Lost, o.position(), o.Name, "storyPoints", "a plan has minutes, not points")
		}
		parent := o.TextField("parentStoryId")
		if whole := d.names[foldName(parent)]; parent != "" && whole != nil && whole.out == Changed {
			whole.parts = append(whole.parts, it.name)
			it.task.Group = cmp.Or(it.task.Group, whole.task.Title)
		}
	}
	d.addItem(it)
}

// readNaxMethod parses nax's method for a story.
func (o *planFileObject) readNaxMethod(it *importItem) {
	n := o.FirstField("routing")
	if n == nil {
		return
	}
	r, ok := o.d.newObject(n, o.file, "the routing of "+o.Name)
	if !ok {
		return
	}
	r.Name = o.Name
	t := &it.task
	t.Complexity, t.Tier = nexus.Complexity(r.enumField(naxRouting.complexity)), nexus.Tier(r.enumField(naxRouting.tier))
	t.Strategy, t.Reason = nexus.WritingStrategy(r.enumField(naxRouting.strategy)), r.TextField("noTestJustification")
	if t.Strategy == nexus.NoTest && t.Reason == "" {
		t.Reason = cmp.Or(r.TextField("reasoning"), "its routing says so")
	}
	if t.Strategy != nexus.NoTest {
		t.Reason = ""
	}
	r.MarkKnown("reasoning", "initialComplexity", "contentHash", "strategy", "llmModel", "agent", "estimatedCostUsd",
		"noTestJustification", "estimatedLOC")
	r.remarkLostFields("a plan has no place for it", "risks")
	r.NoteUnknownFields()
}

// addPriorityOrderNeeds adds needs to the stories of a file without needs, in Ralph's order: each waits for
// those with a smaller priority.
func (d *importedPlanDraft) addPriorityOrderNeeds(stories *jsonposition.JSONNode) {
	if d.format == Nax || slices.ContainsFunc(d.items, func(it *importItem) bool { return len(it.needs) > 0 }) {
		return
	}
	open := d.itemsThatBecomeTasks()
	if !slices.ContainsFunc(open, func(it *importItem) bool { return it.rank > 0 }) {
		for i, it := range open {
			it.rank = i + 1
		}
	}
	last := 0
	for _, it := range open {
		last = max(last, it.rank)
	}
	levels := map[int][]*importItem{}
	for _, it := range open {
		if it.rank == 0 { // the priority was forgotten
			it.rank = last + 1
		}
		levels[it.rank] = append(levels[it.rank], it)
	}
	ranks := make([]int, 0, len(levels))
	for rank := range levels {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	for i, rank := range ranks[min(1, len(ranks)):] {
		d.addGroupNeeds(levels[ranks[i]], levels[rank])
	}
	if len(ranks) > 1 {
		d.addRemark(Changed, importFilePosition{file: open[0].file, line: stories.Line}, "", "the order of the stories became needs",
			"this tool does one after another, by priority")
	}
}
