package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonlines"
)

// readPRD reads the prd.json of nax or Ralph: a list of stories. The additions of nax are read
// in both, as there are many tools in between.
func (d *planDraft) readPRD() error {
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
	whole, _ := d.newObject(&jsonlines.JSONNode{Line: 1, Kind: '{'}, file, "the file")
	if root.Kind != '[' {
		if whole, ok = d.newObject(root, file, "the file"); !ok {
			return nil
		}
		if stories = whole.FirstField("userStories", "stories", "features"); stories == nil || stories.Kind != '[' {
			d.addProblem(filePosition{file: file, line: root.Line}, `it has no list "userStories"; write the stories in it`)
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
func (d *planDraft) readStory(n *jsonlines.JSONNode, file string, i int) {
	o, ok := d.newObject(n, file, fmt.Sprintf("story %d", i+1))
	if !ok {
		return
	}
	id, title, description := o.TextField("id", "storyId"), o.TextField("title"), o.TextField("description", "userStory")
	o.Name = cmp.Or(id, fmt.Sprintf("T%d", i+1))
	if title == "" && id == "" { // a list of features: a category, a sentence and steps
		title, description = description, ""
	}
	it := &importItem{filePosition: o.position(), name: o.Name, brief: []string{description}}
	it.task.Title, it.task.Group = title, o.TextField("category", "group")
	parent := o.TextField("parentStoryId")
	it.task.Criteria = o.parseCriteria("acceptanceCriteria", "steps", "criteria")
	it.task.Tags = o.TextList("tags", "labels")
	it.task.Files = slices.Concat(o.TextList("expectedFiles"), o.TextList("contextFiles", "relevantFiles", "files"))
	it.needs = o.needReferences("dependencies", "dependsOn", "depends_on")
	o.readPriority(it)
	it.brief = append(it.brief, o.TextList("customContext")...)
	if notes := o.TextField("notes"); notes != "" {
		it.brief = append(it.brief, "Notes: "+notes)
	}
	if dir := o.TextField("workdir"); dir != "" && dir != "." {
		it.brief = append(it.brief, "Work in the directory "+dir+".")
	}
	o.readRouting(it)
	o.readStoryStatus(it)
	if it.out == "" {
		o.remarkRunState("attempts", "escalations", "priorErrors", "priorFailures", "failureCategory", "failureStage", "worktreePath",
			"outputFiles", "diffSummary", "storyGitRef", "started", "retries", "lastResult", "blocked", "completedAt", "startedAt")
		o.remarkLostFields("only what is asked for is a criterion", "suggestedCriteria")
		if points := o.NumberField("storyPoints"); points > 1 {
			o.d.addRemark(Lost, o.position(), o.Name, "storyPoints", "a plan has minutes, not points")
		}
		o.NoteUnknownFields()
		if whole := d.names[foldName(parent)]; parent != "" && whole != nil && whole.out == Changed {
			whole.parts = append(whole.parts, it.name)
			it.task.Group = cmp.Or(it.task.Group, whole.task.Title)
		}
	}
	d.addItem(it)
}

// readPriority parses a priority: a word, or a number from 1, by which items are sorted.
func (o *fileObject) readPriority(it *importItem) {
	n := o.FirstField("priority")
	if n == nil {
		return
	}
	if n.Kind == 'n' {
		it.rank = o.NumberField("priority")
		return
	}
	if word := o.TextField("priority"); !it.setNumericPriority(word) {
		o.d.readWordPriority(it, filePosition{file: o.file, line: n.Line}, word, "a number, or one of ")
	}
}

// setNumericPriority parses a numeric priority, including one such as P7.
func (it *importItem) setNumericPriority(word string) bool {
	word = strings.ToLower(strings.TrimSpace(word))
	if _, ok := parsePriority(word); ok {
		return false
	}
	n, err := strconv.Atoi(strings.TrimPrefix(word, "p"))
	if err == nil {
		it.rank = n
	}
	return err == nil
}

// parsePriority parses a priority in words, including one of other tools that [nexus.ParsePriority]
// does not know.
func parsePriority(word string) (nexus.Priority, bool) {
	if strings.EqualFold(strings.TrimSpace(word), "p4") {
		return nexus.PriorityTrivial, true
	}
	return nexus.ParsePriority(word)
}

// readWordPriority sets a priority in words. An empty word sets none.
func (d *planDraft) readWordPriority(it *importItem, at filePosition, word, or string) {
	if strings.TrimSpace(word) == "" {
		return
	}
	p, ok := parsePriority(word)
	if !ok {
		d.addProblem(at, "the priority %q of %s is unknown; use %s%s", word, it.name, or, nexus.JoinWords(nexus.Priorities()))
		return
	}
	it.task.Priority = p
}

// readStoryStatus sets whether a story is still open.
func (o *fileObject) readStoryStatus(it *importItem) {
	n := o.FirstField("status")
	passes := o.BoolField("passes", "passed", "complete", "completed")
	status := strings.ReplaceAll(strings.ToLower(o.TextField("status")), "_", "-")
	switch status {
	case "":
	case "passed", "done", "completed", "complete":
		passes = true
	case "decomposed":
		it.out, it.why = Changed, "its status is decomposed: its parts replace it"
	case "skipped", "cancelled":
		it.out, it.why = Lost, "its status is "+status
	case "pending", "open", "todo", "not-started":
	case "in-progress", "failed", "blocked", "paused", "regression-failed":
		o.d.addRemark(Changed, o.position(), o.Name, "the status "+status, "it starts from the beginning")
	default:
		o.d.addProblem(filePosition{file: o.file, line: n.Line}, "the status %q of %s is unknown; use one of "+
			"pending, in-progress, passed, failed, skipped, blocked, paused, regression-failed, decomposed", status, o.Name)
	}
	if passes && it.out == "" {
		it.out, it.why = Done, "it is done"
	}
}

// readRouting parses nax's method for a story.
func (o *fileObject) readRouting(it *importItem) {
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
	t.Complexity = nexus.Complexity(r.TextField("complexity"))
	switch tier := r.TextField("modelTier"); tier {
	case "powerful":
		t.Tier = nexus.Strong
	default:
		t.Tier = nexus.Tier(tier)
	}
	t.Strategy, t.Reason = nexus.Strategy(r.TextField("testStrategy")), r.TextField("noTestJustification")
	if t.Strategy == "three-session-tdd-lite" { // nax's name of the strategy
		t.Strategy = nexus.TDDLite
	}
	for _, f := range []struct {
		name, value string
		known       bool
		among       string
	}{
		{"complexity", string(t.Complexity), t.Complexity.IsKnown(), "simple, medium, complex, expert"},
		{"modelTier", string(t.Tier), t.Tier.IsKnown(), "fast, balanced, powerful"},
		{"testStrategy", string(t.Strategy), t.Strategy.IsKnown(), nexus.JoinWords(nexus.Strategies())},
	} {
		if f.value != "" && !f.known {
			o.d.addProblem(filePosition{file: o.file, line: n.Get(f.name).Line}, "the %s %q of %s is unknown; use one of %s", f.name, f.value, o.Name, f.among)
		}
	}
	if t.Strategy == nexus.NoTest && t.Reason == "" {
		t.Reason = cmp.Or(r.TextField("reasoning"), "its routing says so")
	}
	if t.Strategy != nexus.NoTest {
		t.Reason = ""
	}
	r.MarkKnown("reasoning", "initialComplexity", "contentHash", "strategy", "llmModel", "agent", "estimatedCostUsd",
		"noTestJustification")
	if it.out == "" {
		r.remarkLostFields("a plan has no place for it", "risks")
		r.MarkKnown("estimatedLOC")
		r.NoteUnknownFields()
	}
}

// addPriorityOrderNeeds adds needs to the stories of a file without needs, in Ralph's order: each waits for
// those with a smaller priority.
func (d *planDraft) addPriorityOrderNeeds(stories *jsonlines.JSONNode) {
	if d.format == Nax || slices.ContainsFunc(d.items, func(it *importItem) bool { return len(it.needs) > 0 }) {
		return
	}
	open := d.openItems()
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
		d.addRemark(Changed, filePosition{file: open[0].file, line: stories.Line}, "", "the order of the stories became needs",
			"this tool does one after another, by priority")
	}
}
