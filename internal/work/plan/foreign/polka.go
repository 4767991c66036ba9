package foreign

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign/jsonposition"
)

// readPolka reads the tasks of the polka agent: JSON, one task as Markdown, or the folder with
// the pending and completed tasks.
func (d *importedPlanDraft) readPolka(ctx context.Context) error {
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
		root = jsonposition.WrapNode("tasks", root)
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
			d.addItem(polkaTask.read(o, fmt.Sprintf("T%d", i+1)))
		}
	}
	return nil
}

// readPolkaFolder reads a workspace: tasks/pending and tasks/completed.
func (d *importedPlanDraft) readPolkaFolder(ctx context.Context) error {
	found, err := d.source.filesMatchingPatterns("tasks/pending/*.md", "tasks/completed/*.md")
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
		text, ok, err := d.source.readFile(name)
		if err != nil {
			return err
		}
		if ok {
			d.readPolkaMarkdown(text, d.source.displayPath(name), strings.TrimSuffix(path.Base(name), ".md"))
		}
	}
	plans, err := d.source.filesMatchingPattern("plans/*.md")
	for _, name := range plans {
		d.addRemark(Lost, importFilePosition{file: d.source.displayPath(name)}, "", "the plan's text", "the tasks say what to do")
	}
	return err
}

// readPolkaMarkdown reads one task: a heading, lines of the form **Field:** value,
// and sections.
func (d *importedPlanDraft) readPolkaMarkdown(text, file, base string) {
	it := &importItem{importFilePosition: importFilePosition{file: file, line: 1}, name: base}
	section := ""
	var description []string
	for _, l := range scanMarkdownLines(text) {
		at := importFilePosition{file: file, line: l.no}
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
				polkaTask.kind.apply(d, it, at, value)
			case "priority":
				polkaTask.priority.apply(d, it, at, value)
			case "status":
				polkaTask.status.apply(d, it, at, value)
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
			it.needs = append(it.needs, foreignNeed{importFilePosition: at, name: strings.Trim(bullet, "`")})
		case section == "files" && isBullet:
			it.task.Files = append(it.task.Files, strings.Trim(bullet, "`"))
		case (section == "acceptance criteria" || section == "criteria") && isBullet:
			it.task.Criteria = append(it.task.Criteria, parseCriterion(bullet))
		}
	}
	it.brief = []string{strings.Join(description, "\n")}
	d.addItem(it)
}
