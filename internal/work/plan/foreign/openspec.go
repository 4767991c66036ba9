package foreign

import (
	"context"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

var openNumber = pattern.Lazy(`^\**(\d+(?:\.\d+)+[a-z]?)\**[.:)]?\**\s+(.*)$`)

// readOpenSpec reads a change: its tasks.md, one task after another, and the reason for the
// proposal.
func (d *draft) readOpenSpec(ctx context.Context) error {
	text, name, err := d.main("tasks.md")
	if err != nil {
		return err
	}
	d.openTasks(text, d.source.shown(name))
	d.goal = d.base()
	if why, ok, err := d.source.read("proposal.md"); err != nil {
		return err
	} else if ok {
		if reason := part(why, "why"); reason != "" {
			d.goal += "\n\n" + reason
		}
	}
	return d.openRest(ctx)
}

// part returns the text below the heading of that title.
func part(text, title string) string {
	var b strings.Builder
	in := false
	for _, l := range scan(text) {
		if level, t, ok := l.heading(); ok && level <= 2 {
			in = strings.EqualFold(t, title)
			continue
		}
		if in {
			b.WriteString(l.text + "\n")
		}
	}
	return strings.TrimSpace(b.String())
}

func (d *draft) openTasks(text, file string) {
	section, sections, tasks, indent := "", 0, 0, 0
	var current, last *item
	for _, l := range scan(text) {
		at := place{file, l.no}
		if level, title, ok := l.heading(); ok {
			current = nil
			if level >= 2 {
				section, tasks = title, 0
				sections++
			}
			continue
		}
		body, done, ok := l.box()
		switch m := openNumber().FindStringSubmatch(body); {
		case ok && (current == nil || l.indent <= indent || m != nil):
			tasks++
			it := &item{place: at, name: fmt.Sprintf("%d.%d", max(sections, 1), tasks)}
			if it.task.Title = body; m != nil {
				it.name, it.task.Title = m[1], m[2]
			}
			it.task.Group, it.task.Files = section, paths(it.task.Title)
			if done {
				it.out, it.why = Done, "its box is checked"
			} else {
				if last != nil {
					it.needs = []ref{{place: at, name: last.name}}
				}
				last = it
			}
			d.add(it)
			current, indent = it, l.indent
		case l.almostBox():
			d.wrong(at, "the checkbox of this task cannot be read; write - [ ] before a task to do, or - [x] before one that is done")
		case current != nil && (l.indent > indent || l.text == ""):
			c := checklist{d: d, file: file, current: current}
			c.more(l)
		default:
			current = nil
		}
	}
	if len(d.open()) > 1 {
		d.remark(Changed, place{file, 1}, "", "the order of the tasks became needs",
			"a change is worked through from first to last")
	}
}

// openRest adds remarks about the other files of a change.
func (d *draft) openRest(ctx context.Context) error {
	specs, err := d.source.lists("specs/*/spec.md", "specs/*/*/spec.md")
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
		for _, l := range scan(text) {
			switch _, title, _ := l.heading(); {
			case strings.HasPrefix(title, "Requirement:"):
				requirements++
			case strings.HasPrefix(title, "Scenario:"):
				scenarios++
			}
		}
		d.remark(Lost, place{file: d.source.shown(name)}, path.Base(path.Dir(name)),
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
	at := place{file: d.source.shown(".openspec.yaml")}
	if err := yaml.Unmarshal([]byte(text), &meta); err != nil {
		d.remark(Lost, at, "", "all that is in it", "it is not YAML: "+err.Error())
	}
	if len(meta.DependsOn) > 0 {
		d.remark(Lost, at, "", "dependsOn: "+strings.Join(meta.DependsOn, ", "), "these are other changes; run them before")
	}
	if len(meta.Touches) > 0 {
		d.remark(Lost, at, "", "touches: "+strings.Join(meta.Touches, ", "), "they are not linked to tasks")
	}
	return nil
}
