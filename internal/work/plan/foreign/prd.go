package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// readPRD reads the prd.json of nax or Ralph: a list of stories. What nax adds
// is read in both, as there are many tools in between.
func (d *draft) readPRD() error {
	text, name, err := d.main("prd.json")
	if err != nil {
		return err
	}
	file := d.source.shown(name)
	root, ok := d.tree(text, file)
	if !ok {
		return nil
	}
	stories, whole := root, &object{d: d, n: &node{line: 1}, file: file}
	if root.kind != '[' {
		if whole, ok = d.object(root, file, "the file"); !ok {
			return nil
		}
		if stories = whole.get("userStories", "stories", "features"); stories == nil || stories.kind != '[' {
			d.wrong(place{file, root.line}, `it has no list "userStories"; write the stories in it`)
			whole.rest()
			return nil
		}
	}
	feature := whole.text("feature", "title")
	project := whole.text("project", "projectName", "name")
	d.goal = cmp.Or(whole.text("description", "goal"), feature, project)
	whole.lose("Nexus names its branches itself", "branchName")
	whole.lose("it belongs to the other tool", "project", "projectName", "name", "createdAt", "created", "updatedAt", "analyzeConfig", "acceptanceOverrides", "version", "$schema")
	whole.lose("agents read the repository", "analysis")
	whole.rest()
	for i, n := range stories.items {
		d.story(n, file, i)
	}
	d.follow(stories)
	return nil
}

// story reads one story.
func (d *draft) story(n *node, file string, i int) {
	o, ok := d.object(n, file, fmt.Sprintf("story %d", i+1))
	if !ok {
		return
	}
	id, title, description := o.text("id", "storyId"), o.text("title"), o.text("description", "userStory")
	o.name = cmp.Or(id, fmt.Sprintf("T%d", i+1))
	if title == "" && id == "" { // a list of features: a category, a sentence and steps
		title, description = description, ""
	}
	it := &item{place: o.at(), name: o.name, brief: []string{description}}
	it.task.Title, it.task.Group = title, o.text("category", "group")
	parent := o.text("parentStoryId")
	it.task.Criteria = o.criteria("acceptanceCriteria", "steps", "criteria")
	it.task.Tags = o.texts("tags", "labels")
	it.task.Files = slices.Concat(o.texts("expectedFiles"), o.texts("contextFiles", "relevantFiles", "files"))
	it.needs = o.refs("dependencies", "dependsOn", "depends_on")
	it.rank = o.priority()
	it.brief = append(it.brief, o.texts("customContext")...)
	if notes := o.text("notes"); notes != "" {
		it.brief = append(it.brief, "Notes: "+notes)
	}
	if dir := o.text("workdir"); dir != "" && dir != "." {
		it.brief = append(it.brief, "Work in the directory "+dir+".")
	}
	o.routing(it)
	o.storyStatus(it)
	if it.out == "" {
		o.state("attempts", "escalations", "priorErrors", "priorFailures", "failureCategory", "failureStage", "worktreePath", "outputFiles", "diffSummary", "storyGitRef", "started", "retries", "lastResult", "blocked", "completedAt", "startedAt")
		o.lose("only what is asked for is a criterion", "suggestedCriteria")
		if points := o.number("storyPoints"); points > 1 {
			o.d.remark(Lost, o.at(), o.name, "storyPoints", "a plan has minutes, and points are none")
		}
		o.rest()
		if whole := d.names[folded(parent)]; parent != "" && whole != nil && whole.out == Changed {
			whole.parts = append(whole.parts, it.name)
			it.task.Group = cmp.Or(it.task.Group, whole.task.Title)
		}
	}
	d.add(it)
}

// priority is a number from 1, or a word; what has none comes last.
func (o *object) priority() int {
	n := o.get("priority")
	if n == nil {
		return 0
	}
	if n.kind == 'n' {
		return o.number("priority")
	}
	word := strings.ToLower(o.text("priority"))
	if number, err := strconv.Atoi(strings.TrimPrefix(word, "p")); err == nil {
		return number
	}
	if rank := slices.Index(priorities(), word); rank >= 0 {
		return rank + 1
	}
	o.d.wrong(place{o.file, n.line}, "the priority %q of %s is unknown; use a number, or one of %s", word, o.name, strings.Join(priorities(), ", "))
	return 0
}

func priorities() []string { return []string{"critical", "high", "medium", "low", "trivial"} }

// storyStatus says whether a story is still to be done.
func (o *object) storyStatus(it *item) {
	n := o.get("status")
	passes := o.flag("passes", "passed", "complete", "completed")
	status := strings.ReplaceAll(strings.ToLower(o.text("status")), "_", "-")
	switch status {
	case "":
	case "passed", "done", "completed", "complete":
		passes = true
	case "decomposed":
		it.out, it.why = Changed, "its status is decomposed: its parts stand in its place"
	case "skipped", "cancelled":
		it.out, it.why = Lost, "its status is "+status
	case "pending", "open", "todo", "not-started":
	case "in-progress", "failed", "blocked", "paused", "regression-failed":
		o.d.remark(Changed, o.at(), o.name, "the status "+status, "it starts from the beginning")
	default:
		o.d.wrong(place{o.file, n.line}, "the status %q of %s is unknown; use one of pending, in-progress, passed, failed, skipped, blocked, paused, regression-failed, decomposed", status, o.name)
	}
	if passes && it.out == "" {
		it.out, it.why = Done, "it is done"
	}
}

// routing reads how nax would do a story.
func (o *object) routing(it *item) {
	n := o.get("routing")
	if n == nil {
		return
	}
	r, ok := o.d.object(n, o.file, "the routing of "+o.name)
	if !ok {
		return
	}
	r.name = o.name
	t := &it.task
	t.Complexity = nexus.Complexity(r.text("complexity"))
	switch tier := r.text("modelTier"); tier {
	case "powerful":
		t.Tier = nexus.Strong
	default:
		t.Tier = nexus.Tier(tier)
	}
	t.Strategy, t.Reason = nexus.Strategy(r.text("testStrategy")), r.text("noTestJustification")
	for _, f := range []struct {
		name, value string
		known       bool
		among       string
	}{
		{"complexity", string(t.Complexity), t.Complexity.Known(), "simple, medium, complex, expert"},
		{"modelTier", string(t.Tier), t.Tier.Known(), "fast, balanced, powerful"},
		{"testStrategy", string(t.Strategy), t.Strategy.Known(), nexus.Join(nexus.Strategies())},
	} {
		if f.value != "" && !f.known {
			o.d.wrong(place{o.file, n.get(f.name).line}, "the %s %q of %s is unknown; use one of %s", f.name, f.value, o.name, f.among)
		}
	}
	if t.Strategy == nexus.NoTest && t.Reason == "" {
		t.Reason = cmp.Or(r.text("reasoning"), "its routing says so")
	}
	if t.Strategy != nexus.NoTest {
		t.Reason = ""
	}
	r.seen = append(r.seen, "reasoning", "initialComplexity", "contentHash", "strategy", "llmModel", "agent", "estimatedCostUsd", "noTestJustification")
	if it.out == "" {
		r.lose("a plan has no place for it", "risks")
		r.seen = append(r.seen, "estimatedLOC")
		r.rest()
	}
}

// follow gives the stories of a file without needs those that Ralph's order
// means: each waits for those with a smaller priority.
func (d *draft) follow(stories *node) {
	if d.format == Nax || slices.ContainsFunc(d.items, func(it *item) bool { return len(it.needs) > 0 }) {
		return
	}
	open := d.open()
	if !slices.ContainsFunc(open, func(it *item) bool { return it.rank > 0 }) {
		for i, it := range open {
			it.rank = i + 1
		}
	}
	last := 0
	for _, it := range open {
		last = max(last, it.rank)
	}
	levels := map[int][]*item{}
	for _, it := range open {
		if it.rank == 0 { // whoever forgot one
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
		for _, it := range levels[rank] {
			for _, before := range levels[ranks[i]] {
				it.needs = append(it.needs, ref{place: it.place, name: before.name})
			}
		}
	}
	if len(ranks) > 1 {
		d.remark(Changed, place{open[0].file, stories.line}, "", "the order of the stories became needs", "this tool does one after another, by priority")
	}
}
