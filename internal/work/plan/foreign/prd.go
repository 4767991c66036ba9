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
	stories := root
	whole, _ := d.object(&jsonlines.Node{Line: 1, Kind: '{'}, file, "the file")
	if root.Kind != '[' {
		if whole, ok = d.object(root, file, "the file"); !ok {
			return nil
		}
		if stories = whole.Field("userStories", "stories", "features"); stories == nil || stories.Kind != '[' {
			d.wrong(place{file, root.Line}, `it has no list "userStories"; write the stories in it`)
			whole.Rest()
			return nil
		}
	}
	feature := whole.Text("feature", "title")
	project := whole.Text("project", "projectName", "name")
	d.goal = cmp.Or(whole.Text("description", "goal"), feature, project)
	whole.lose("Nexus names its branches itself", "branchName")
	whole.lose("it belongs to the other tool", "project", "projectName", "name", "createdAt", "created", "updatedAt",
		"analyzeConfig", "acceptanceOverrides", "version", "$schema")
	whole.lose("agents read the repository", "analysis")
	whole.Rest()
	for i, n := range stories.Items {
		d.story(n, file, i)
	}
	d.follow(stories)
	return nil
}

// story reads one story.
func (d *draft) story(n *jsonlines.Node, file string, i int) {
	o, ok := d.object(n, file, fmt.Sprintf("story %d", i+1))
	if !ok {
		return
	}
	id, title, description := o.Text("id", "storyId"), o.Text("title"), o.Text("description", "userStory")
	o.Name = cmp.Or(id, fmt.Sprintf("T%d", i+1))
	if title == "" && id == "" { // a list of features: a category, a sentence and steps
		title, description = description, ""
	}
	it := &item{place: o.at(), name: o.Name, brief: []string{description}}
	it.task.Title, it.task.Group = title, o.Text("category", "group")
	parent := o.Text("parentStoryId")
	it.task.Criteria = o.criteria("acceptanceCriteria", "steps", "criteria")
	it.task.Tags = o.Texts("tags", "labels")
	it.task.Files = slices.Concat(o.Texts("expectedFiles"), o.Texts("contextFiles", "relevantFiles", "files"))
	it.needs = o.refs("dependencies", "dependsOn", "depends_on")
	o.priority(it)
	it.brief = append(it.brief, o.Texts("customContext")...)
	if notes := o.Text("notes"); notes != "" {
		it.brief = append(it.brief, "Notes: "+notes)
	}
	if dir := o.Text("workdir"); dir != "" && dir != "." {
		it.brief = append(it.brief, "Work in the directory "+dir+".")
	}
	o.routing(it)
	o.storyStatus(it)
	if it.out == "" {
		o.state("attempts", "escalations", "priorErrors", "priorFailures", "failureCategory", "failureStage", "worktreePath",
			"outputFiles", "diffSummary", "storyGitRef", "started", "retries", "lastResult", "blocked", "completedAt", "startedAt")
		o.lose("only what is asked for is a criterion", "suggestedCriteria")
		if points := o.Number("storyPoints"); points > 1 {
			o.d.remark(Lost, o.at(), o.Name, "storyPoints", "a plan has minutes, not points")
		}
		o.Rest()
		if whole := d.names[folded(parent)]; parent != "" && whole != nil && whole.out == Changed {
			whole.parts = append(whole.parts, it.name)
			it.task.Group = cmp.Or(it.task.Group, whole.task.Title)
		}
	}
	d.add(it)
}

// priority parses a priority: a word, or a number from 1, by which items are sorted.
func (o *object) priority(it *item) {
	n := o.Field("priority")
	if n == nil {
		return
	}
	if n.Kind == 'n' {
		it.rank = o.Number("priority")
		return
	}
	if word := o.Text("priority"); !it.ranked(word) {
		o.d.rate(it, place{o.file, n.Line}, word, "a number, or one of ")
	}
}

// ranked parses a numeric priority, including one such as P7.
func (it *item) ranked(word string) bool {
	word = strings.ToLower(strings.TrimSpace(word))
	if _, ok := rated(word); ok {
		return false
	}
	n, err := strconv.Atoi(strings.TrimPrefix(word, "p"))
	if err == nil {
		it.rank = n
	}
	return err == nil
}

// rated parses a priority in words, including one of other tools that [nexus.ParsePriority]
// does not know.
func rated(word string) (nexus.Priority, bool) {
	if strings.EqualFold(strings.TrimSpace(word), "p4") {
		return nexus.PriorityTrivial, true
	}
	return nexus.ParsePriority(word)
}

// rate sets a priority in words. An empty word sets none.
func (d *draft) rate(it *item, at place, word, or string) {
	if strings.TrimSpace(word) == "" {
		return
	}
	p, ok := rated(word)
	if !ok {
		d.wrong(at, "the priority %q of %s is unknown; use %s%s", word, it.name, or, nexus.Join(nexus.Priorities()))
		return
	}
	it.task.Priority = p
}

// storyStatus sets whether a story is still open.
func (o *object) storyStatus(it *item) {
	n := o.Field("status")
	passes := o.Flag("passes", "passed", "complete", "completed")
	status := strings.ReplaceAll(strings.ToLower(o.Text("status")), "_", "-")
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
		o.d.remark(Changed, o.at(), o.Name, "the status "+status, "it starts from the beginning")
	default:
		o.d.wrong(place{o.file, n.Line}, "the status %q of %s is unknown; use one of "+
			"pending, in-progress, passed, failed, skipped, blocked, paused, regression-failed, decomposed", status, o.Name)
	}
	if passes && it.out == "" {
		it.out, it.why = Done, "it is done"
	}
}

// routing parses nax's method for a story.
func (o *object) routing(it *item) {
	n := o.Field("routing")
	if n == nil {
		return
	}
	r, ok := o.d.object(n, o.file, "the routing of "+o.Name)
	if !ok {
		return
	}
	r.Name = o.Name
	t := &it.task
	t.Complexity = nexus.Complexity(r.Text("complexity"))
	switch tier := r.Text("modelTier"); tier {
	case "powerful":
		t.Tier = nexus.Strong
	default:
		t.Tier = nexus.Tier(tier)
	}
	t.Strategy, t.Reason = nexus.Strategy(r.Text("testStrategy")), r.Text("noTestJustification")
	if t.Strategy == "three-session-tdd-lite" { // nax's name of the strategy
		t.Strategy = nexus.TDDLite
	}
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
			o.d.wrong(place{o.file, n.Get(f.name).Line}, "the %s %q of %s is unknown; use one of %s", f.name, f.value, o.Name, f.among)
		}
	}
	if t.Strategy == nexus.NoTest && t.Reason == "" {
		t.Reason = cmp.Or(r.Text("reasoning"), "its routing says so")
	}
	if t.Strategy != nexus.NoTest {
		t.Reason = ""
	}
	r.Known("reasoning", "initialComplexity", "contentHash", "strategy", "llmModel", "agent", "estimatedCostUsd",
		"noTestJustification")
	if it.out == "" {
		r.lose("a plan has no place for it", "risks")
		r.Known("estimatedLOC")
		r.Rest()
	}
}

// follow adds needs to the stories of a file without needs, in Ralph's order: each waits for
// those with a smaller priority.
func (d *draft) follow(stories *jsonlines.Node) {
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
		d.after(levels[ranks[i]], levels[rank])
	}
	if len(ranks) > 1 {
		d.remark(Changed, place{open[0].file, stories.Line}, "", "the order of the stories became needs",
			"this tool does one after another, by priority")
	}
}
