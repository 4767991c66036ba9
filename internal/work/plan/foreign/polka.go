package foreign

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonlines"
)

// readPolka reads the tasks of the polka agent: JSON, one task as Markdown, or the folder with
// the pending and completed tasks.
func (d *draft) readPolka(ctx context.Context) error {
	if d.source.isDir() {
		return d.polkaFolder(ctx)
	}
	text, name, err := d.main()
	if err != nil {
		return err
	}
	file := d.source.shown(name)
	if path.Ext(name) == ".md" || strings.HasPrefix(strings.TrimSpace(text), "#") {
		d.polkaMarkdown(text, file, strings.TrimSuffix(name, ".md"))
		return nil
	}
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
	d.goal = whole.Text("goal", "currentGoal", "highLevelPlan")
	tasks := slices.Concat(whole.List("tasks", "taskQueue"), whole.List("failedTasks"), whole.List("blockedTasks"),
		whole.List("completedTasks"))
	if whole.Get("tasks") == nil && whole.Get("taskQueue") == nil {
		d.wrong(whole.at(), `it has no list "tasks"; write the tasks in it`)
	}
	whole.lose("the tasks say what to do", "highLevelPlan", "requirements", "summary", "overview")
	whole.lose("a plan has no place for it", "risks")
	whole.Known("executionOrder", "phases", "estimatedTime", "totalEstimatedTime", "estimatedComplexity",
		"dependencies", "currentTask", "config", "metrics", "timestamps", "session", "sessionId",
		"currentMode", "previousMode", "executionHistory", "errorRecovery")
	whole.Rest()
	for i, n := range tasks {
		if o, ok := d.object(n, file, fmt.Sprintf("task %d", i+1)); ok {
			d.polkaTask(o, i)
		}
	}
	return nil
}

func (d *draft) polkaTask(o *object, i int) {
	o.Name = cmp.Or(o.Text("id"), fmt.Sprintf("T%d", i+1))
	it := &item{place: o.at(), name: o.Name, brief: []string{o.Text("description")}, needs: o.refs("dependencies", "needs")}
	it.task.Title, it.task.Files = o.Text("title"), o.Texts("files")
	it.task.Criteria = o.criteria("acceptanceCriteria", "criteria")
	it.task.Minutes = o.Number("estimatedTime")
	at := func(name string) place {
		if n := o.Get(name); n != nil {
			return place{o.file, n.Line}
		}
		return o.at()
	}
	d.polkaType(it, at("type"), o.Text("type"))
	d.polkaPriority(it, at("priority"), o.Text("priority"))
	switch c := strings.ToLower(o.Text("complexity")); c {
	case "":
	case "low", "simple":
		it.task.Complexity = nexus.Simple
	case "medium":
		it.task.Complexity = nexus.Medium
	case "high", "complex":
		it.task.Complexity = nexus.Complex
	case "expert":
		it.task.Complexity = nexus.Expert
	default:
		d.wrong(at("complexity"), "the complexity %q of %s is unknown; use one of low, medium, high", c, it.name)
	}
	d.polkaStatus(it, at("status"), o.Text("status"))
	o.Known("workflow", "workflowInput", "createdAt", "startedAt", "completedAt", "retryCount")
	if it.out == "" {
		o.state("result", "error", "branch")
		o.lose("a plan has no place for it", "metadata")
		o.Rest()
	}
	d.add(it)
}

// polkaType parses the type of a task.
func (d *draft) polkaType(it *item, at place, word string) {
	switch word = strings.ToLower(word); word {
	case "", "other", "task":
	case "test", "testing":
		it.task.Kind = nexus.TestTask
	case "docs", "documentation":
		it.task.Kind = nexus.DocsTask
	case "feature", "bugfix", "refactor", "refactoring", "security", "optimization", "analysis", "plan":
		it.task.Tags = append(it.task.Tags, word)
	case "review", "commit", "delete", "force-push", "reset":
		it.out, it.why = Lost, "Nexus does that itself, or leaves it to a person: its type is "+word
	default:
		d.wrong(at, "the type %q of %s is unknown; use one of feature, bugfix, refactor, test, docs, other", word, it.name)
	}
}

// polkaPriority parses a priority: a word, or a number of which a larger one is more urgent.
func (d *draft) polkaPriority(it *item, at place, word string) {
	if n, err := strconv.Atoi(word); err == nil {
		it.task.Priority = scoredPriority(n)
		return
	}
	d.rate(it, at, word, "one of ")
}

// scoredPriority returns the priority whose score is nearest to a number.
func scoredPriority(n int) nexus.Priority {
	for _, p := range nexus.Priorities() {
		if n > p.Score()-100 {
			return p
		}
	}
	return nexus.PriorityTrivial
}

func (d *draft) polkaStatus(it *item, at place, status string) {
	switch status = strings.ReplaceAll(strings.ToLower(status), "_", "-"); status {
	case "", "pending", "todo":
	case "completed", "done":
		it.out, it.why = Done, "it is done"
	case "skipped", "cancelled":
		it.out, it.why = Lost, "its status is "+status
	case "in-progress", "failed", "blocked":
		if it.out == "" {
			d.remark(Changed, at, it.name, "the status "+status, "it starts from the beginning")
		}
	default:
		d.wrong(at, "the status %q of %s is unknown; use one of pending, in-progress, completed, failed, blocked, skipped", status, it.name)
	}
}

// polkaFolder reads a workspace: tasks/pending and tasks/completed.
func (d *draft) polkaFolder(ctx context.Context) error {
	found, err := d.source.lists("tasks/pending/*.md", "tasks/completed/*.md")
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, _, err := d.main("tasks/pending/*.md")
		return err
	}
	for _, name := range found {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		text, ok, err := d.source.read(name)
		if err != nil {
			return err
		}
		if ok {
			d.polkaMarkdown(text, d.source.shown(name), strings.TrimSuffix(path.Base(name), ".md"))
		}
	}
	plans, err := d.source.list("plans/*.md")
	for _, name := range plans {
		d.remark(Lost, place{file: d.source.shown(name)}, "", "the plan's text", "the tasks say what to do")
	}
	return err
}

// polkaMarkdown reads one task: a heading, lines of the form **Field:** value,
// and sections.
func (d *draft) polkaMarkdown(text, file, base string) {
	it := &item{place: place{file, 1}, name: base}
	section := ""
	var description []string
	for _, l := range scan(text) {
		at := place{file, l.no}
		if level, title, ok := l.heading(); ok {
			section = strings.ToLower(title)
			if rest, found := cutFold(title, "task:"); found && level == 1 {
				it.line, it.task.Title, section = l.no, rest, ""
			}
			continue
		}
		if name, value, ok := l.label(); ok && section == "" {
			value = strings.Trim(value, "`")
			switch strings.ToLower(name) {
			case "id":
				it.name = value
			case "type":
				d.polkaType(it, at, value)
			case "priority":
				d.polkaPriority(it, at, value)
			case "status":
				d.polkaStatus(it, at, value)
			case "estimated time":
				n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(value, "s"), "minute")))
				if err != nil || n < 0 {
					d.wrong(at, "the estimated time %q is not a number of minutes; write 15 minutes", value)
				}
				it.task.Minutes = max(n, 0)
			}
			continue
		}
		switch bullet, isBullet := l.bullet(); {
		case section == "description":
			description = append(description, l.text)
		case section == "dependencies" && isBullet:
			it.needs = append(it.needs, ref{place: at, name: strings.Trim(bullet, "`")})
		case section == "files" && isBullet:
			it.task.Files = append(it.task.Files, strings.Trim(bullet, "`"))
		case (section == "acceptance criteria" || section == "criteria") && isBullet:
			it.task.Criteria = append(it.task.Criteria, checked(bullet))
		}
	}
	it.brief = []string{strings.Join(description, "\n")}
	d.add(it)
}
