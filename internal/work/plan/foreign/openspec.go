package foreign

import (
	"context"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

var openNumber = pattern.LazyRegexp(`^\**(\d+(?:\.\d+)+[a-z]?)\**[.:)]?\**\s+(.*)$`)

// readOpenSpec reads a change: its tasks.md, one task after another, and the reason for the
// proposal.
func (d *planDraft) readOpenSpec(ctx context.Context) error {
	text, name, err := d.readMainFile("tasks.md")
	if err != nil {
		return err
	}
	d.readOpenSpecTasks(text, d.source.displayPath(name))
	d.goal = d.sourceBaseName()
	if why, ok, err := d.source.read("proposal.md"); err != nil {
		return err
	} else if ok {
		if reason := textBelowHeading(why, "why"); reason != "" {
			d.goal += "\n\n" + reason
		}
	}
	return d.remarkOtherArtifacts(ctx)
}

// textBelowHeading returns the text below the heading of that title.
func textBelowHeading(text, title string) string {
	var b strings.Builder
	in := false
	for _, l := range scanMarkdownLines(text) {
		if level, t, ok := l.parseHeading(); ok && level <= 2 {
			in = strings.EqualFold(t, title)
			continue
		}
		if in {
			b.WriteString(l.text + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

func (d *planDraft) readOpenSpecTasks(text, file string) {
	section, sections, tasks, indent := "", 0, 0, 0
	var current, last *importItem
	for _, l := range scanMarkdownLines(text) {
		at := filePosition{file, l.no}
		if level, title, ok := l.parseHeading(); ok {
			current = nil
			if level >= 2 {
				section, tasks = title, 0
				sections++
			}
			continue
		}
		body, done, ok := l.parseCheckbox()
		switch m := openNumber().FindStringSubmatch(body); {
		case ok && (current == nil || l.indent <= indent || m != nil):
			tasks++
			it := &importItem{filePosition: at, name: fmt.Sprintf("%d.%d", max(sections, 1), tasks)}
			if it.task.Title = body; m != nil {
				it.name, it.task.Title = m[1], m[2]
			}
			it.task.Group, it.task.Files = section, namedPaths(it.task.Title)
			if done {
				it.out, it.why = Done, "its box is checked"
			} else {
				if last != nil {
					it.needs = []needReference{{filePosition: at, name: last.name}}
				}
				last = it
			}
			d.addItem(it)
			current, indent = it, l.indent
		case l.isMalformedCheckbox():
			d.addProblem(at, "the checkbox of this task cannot be read; write - [ ] before a task to do, or - [x] before one that is done")
		case current != nil && (l.indent > indent || l.text == ""):
			c := checklistReader{d: d, file: file, current: current}
			c.readTaskDetail(l)
		default:
			current = nil
		}
	}
	if len(d.openItems()) > 1 {
		d.addRemark(Changed, filePosition{file, 1}, "", "the order of the tasks became needs",
			"a change is worked through from first to last")
	}
}

// remarkOtherArtifacts adds remarks about the other files of a change.
func (d *planDraft) remarkOtherArtifacts(ctx context.Context) error {
	specs, err := d.source.listPatterns("specs/*/spec.md", "specs/*/*/spec.md")
	if err != nil {
		return err
	}
	for _, name := range specs {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		text, _, err := d.source.read(name)
		if err != nil {
			return err
		}
		requirements, scenarios := 0, 0
		for _, l := range scanMarkdownLines(text) {
			switch _, title, _ := l.parseHeading(); {
			case strings.HasPrefix(title, "Requirement:"):
				requirements++
			case strings.HasPrefix(title, "Scenario:"):
				scenarios++
			}
		}
		d.addRemark(Lost, filePosition{file: d.source.displayPath(name)}, path.Base(path.Dir(name)),
			count(requirements, "requirement")+" with "+count(scenarios,
				"scenario"), "they are not linked to tasks; agents can read the file")
	}
	text, ok, err := d.source.read(".openspec.yaml")
	if err != nil || !ok {
		return err
	}
	var meta struct {
		DependsOn []string `yaml:"dependsOn"`
		Touches   []string `yaml:"touches"`
	}
	at := filePosition{file: d.source.displayPath(".openspec.yaml")}
	if err := yaml.Unmarshal([]byte(text), &meta); err != nil {
		d.addRemark(Lost, at, "", "all that is in it", "it is not YAML: "+err.Error())
	}
	if len(meta.DependsOn) > 0 {
		d.addRemark(Lost, at, "", "dependsOn: "+strings.Join(meta.DependsOn, ", "), "these are other changes; run them before")
	}
	if len(meta.Touches) > 0 {
		d.addRemark(Lost, at, "", "touches: "+strings.Join(meta.Touches, ", "), "they are not linked to tasks")
	}
	return nil
}
