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
func (d *planDraft) readPolka(ctx context.Context) error {
	if d.source.isDir() {
		return d.readPolkaFolder(ctx)
	}
	text, name, err := d.readMainFile()
	if err != nil {
		return err
	}
	file := d.source.displayPath(name)
	if path.Ext(name) == ".md" || strings.HasPrefix(strings.TrimSpace(text), "#") {
		d.readPolkaMarkdown(text, file, strings.TrimSuffix(name, ".md"))
		return nil
	}
	root, ok := d.parseJSONTree(text, file)
	if !ok {
		return nil
	}
	if root.Kind == '[' {
		root = jsonlines.WrapNode("tasks", root)
	}
	whole, ok := d.newObject(root, file, "the file")
	if !ok {
		return nil
	}
	d.goal = whole.TextField("goal", "currentGoal", "highLevelPlan")
	tasks := slices.Concat(whole.ListField("tasks", "taskQueue"), whole.ListField("failedTasks"), whole.ListField("blockedTasks"),
		whole.ListField("completedTasks"))
	if whole.Get("tasks") == nil && whole.Get("taskQueue") == nil {
		d.addProblem(whole.position(), `it has no list "tasks"; write the tasks in it`)
	}
	whole.remarkLostFields("the tasks say what to do", "highLevelPlan", "requirements", "summary", "overview")
	whole.remarkLostFields("a plan has no place for it", "risks")
	whole.MarkKnown("executionOrder", "phases", "estimatedTime", "totalEstimatedTime", "estimatedComplexity",
		"dependencies", "currentTask", "config", "metrics", "timestamps", "session", "sessionId",
		"currentMode", "previousMode", "executionHistory", "errorRecovery")
	whole.NoteUnknownFields()
	for i, n := range tasks {
		if o, ok := d.newObject(n, file, fmt.Sprintf("task %d", i+1)); ok {
			d.readPolkaTask(o, i)
		}
	}
	return nil
}

func (d *planDraft) readPolkaTask(o *fileObject, i int) {
	o.Name = cmp.Or(o.TextField("id"), fmt.Sprintf("T%d", i+1))
	it := &importItem{filePosition: o.position(), name: o.Name, brief: []string{o.TextField("description")}, needs: o.needReferences("dependencies", "needs")}
	it.task.Title, it.task.Files = o.TextField("title"), o.TextList("files")
	it.task.Criteria = o.parseCriteria("acceptanceCriteria", "criteria")
	it.task.Minutes = o.NumberField("estimatedTime")
	at := func(name string) filePosition {
		if n := o.Get(name); n != nil {
			return filePosition{file: o.file, line: n.Line}
		}
		return o.position()
	}
	d.readPolkaType(it, at("type"), o.TextField("type"))
	d.parsePolkaPriority(it, at("priority"), o.TextField("priority"))
	switch c := strings.ToLower(o.TextField("complexity")); c {
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
		d.addProblem(at("complexity"), "the complexity %q of %s is unknown; use one of low, medium, high", c, it.name)
	}
	d.readPolkaStatus(it, at("status"), o.TextField("status"))
	o.MarkKnown("workflow", "workflowInput", "createdAt", "startedAt", "completedAt", "retryCount")
	if it.out == "" {
		o.remarkRunState("result", "error", "branch")
		o.remarkLostFields("a plan has no place for it", "metadata")
		o.NoteUnknownFields()
	}
	d.addItem(it)
}

// readPolkaType parses the type of a task.
func (d *planDraft) readPolkaType(it *importItem, at filePosition, word string) {
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
		d.addProblem(at, "the type %q of %s is unknown; use one of feature, bugfix, refactor, test, docs, other", word, it.name)
	}
}

// parsePolkaPriority parses a priority: a word, or a number of which a larger one is more urgent.
func (d *planDraft) parsePolkaPriority(it *importItem, at filePosition, word string) {
	if n, err := strconv.Atoi(word); err == nil {
		it.task.Priority = scoredPriority(n)
		return
	}
	d.readWordPriority(it, at, word, "one of ")
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

func (d *planDraft) readPolkaStatus(it *importItem, at filePosition, status string) {
	switch status = strings.ReplaceAll(strings.ToLower(status), "_", "-"); status {
	case "", "pending", "todo":
	case "completed", "done":
		it.out, it.why = Done, "it is done"
	case "skipped", "cancelled":
		it.out, it.why = Lost, "its status is "+status
	case "in-progress", "failed", "blocked":
		if it.out == "" {
			d.addRemark(Changed, at, it.name, "the status "+status, "it starts from the beginning")
		}
	default:
		d.addProblem(at, "the status %q of %s is unknown; use one of pending, in-progress, completed, failed, blocked, skipped", status, it.name)
	}
}

// readPolkaFolder reads a workspace: tasks/pending and tasks/completed.
func (d *planDraft) readPolkaFolder(ctx context.Context) error {
	found, err := d.source.listPatterns("tasks/pending/*.md", "tasks/completed/*.md")
	if err != nil {
		return err
	}
	if len(found) == 0 {
		_, _, err := d.readMainFile("tasks/pending/*.md")
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
			d.readPolkaMarkdown(text, d.source.displayPath(name), strings.TrimSuffix(path.Base(name), ".md"))
		}
	}
	plans, err := d.source.listPattern("plans/*.md")
	for _, name := range plans {
		d.addRemark(Lost, filePosition{file: d.source.displayPath(name)}, "", "the plan's text", "the tasks say what to do")
	}
	return err
}

// readPolkaMarkdown reads one task: a heading, lines of the form **Field:** value,
// and sections.
func (d *planDraft) readPolkaMarkdown(text, file, base string) {
	it := &importItem{filePosition: filePosition{file: file, line: 1}, name: base}
	section := ""
	var description []string
	for _, l := range scanMarkdownLines(text) {
		at := filePosition{file: file, line: l.no}
		if level, title, ok := l.parseHeading(); ok {
			section = strings.ToLower(title)
			if rest, found := cutPrefixFold(title, "task:"); found && level == 1 {
				it.line, it.task.Title, section = l.no, rest, ""
			}
			continue
		}
		if name, value, ok := l.parseLabel(); ok && section == "" {
			value = strings.Trim(value, "`")
			switch strings.ToLower(name) {
			case "id":
				it.name = value
			case "type":
				d.readPolkaType(it, at, value)
			case "priority":
				d.parsePolkaPriority(it, at, value)
			case "status":
				d.readPolkaStatus(it, at, value)
			case "estimated time":
				n, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(value, "s"), "minute")))
				if err != nil || n < 0 {
					d.addProblem(at, "the estimated time %q is not a number of minutes; write 15 minutes", value)
				}
				it.task.Minutes = max(n, 0)
			}
			continue
		}
		switch bullet, isBullet := l.parseBullet(); {
		case section == "description":
			description = append(description, l.text)
		case section == "dependencies" && isBullet:
			it.needs = append(it.needs, needReference{filePosition: at, name: strings.Trim(bullet, "`")})
		case section == "files" && isBullet:
			it.task.Files = append(it.task.Files, strings.Trim(bullet, "`"))
		case (section == "acceptance criteria" || section == "criteria") && isBullet:
			it.task.Criteria = append(it.task.Criteria, parseCriterion(bullet))
		}
	}
	it.brief = []string{strings.Join(description, "\n")}
	d.addItem(it)
}
