package export

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// writeTaskDetails writes a task's brief and criteria as lines below it.
func (w *planExporter) writeTaskDetails(b *strings.Builder, t nexus.Task, indent string) {
	for line := range strings.SplitSeq(t.Brief, "\n") {
		if t.Brief != "" {
			b.WriteString(strings.TrimRight(indent+strings.TrimSpace(line), " ") + "\n")
		}
	}
	files := "none" // otherwise the files named in the title are read
	if len(t.Files) > 0 {
		files = strings.Join(t.Files, ", ")
	}
	b.WriteString(indent + "- Files: " + files + "\n")
	for _, text := range criterionTexts(t.Criteria) {
		b.WriteString(indent + "- " + foreign.Mark + " " + text + "\n")
	}
}

func (w *planExporter) writeSpecKit() []byte {
	w.remarkUnsupportedFields("files", "group", "tags")
	w.remarkLayeredNeeds("a phase waits for the one before it")
	w.numberTasks("T%03d", regexp.MustCompile(`^T\d+[A-Za-z]?$`).MatchString)
	var b strings.Builder
	b.WriteString("# Tasks: " + strings.Join(strings.Fields(w.plan.Goal), " ") + "\n")
	for i, wave := range w.waves {
		group := wave[0].Group
		if slices.ContainsFunc(wave, func(t nexus.Task) bool { return t.Group != group }) {
			group = ""
			w.addRemark(foreign.Lost, "", fmt.Sprintf("the groups in phase %d", i+1), "its tasks are in several groups")
		}
		if group == "" {
			group = fmt.Sprintf("Phase %d", i+1)
		}
		b.WriteString("\n## " + group + "\n\n")
		for _, t := range wave {
			b.WriteString("- [ ] " + w.ids[t.ID] + " ")
			if len(wave) > 1 {
				b.WriteString("[P] ")
			}
			var lost []string
			for k, tag := range t.Tags {
				if n, err := strconv.Atoi(strings.TrimPrefix(tag, "US")); k == 0 && err == nil && tag == fmt.Sprintf("US%d", n) {
					b.WriteString("[" + tag + "] ")
				} else {
					lost = append(lost, tag)
				}
			}
			if len(lost) > 0 {
				w.addRemark(foreign.Lost, string(t.ID), "the tags "+strings.Join(lost, ", "), "this format has labels such as US1 only")
			}
			b.WriteString(t.Title + "\n")
			w.writeTaskDetails(&b, t, "  ")
		}
	}
	return []byte(b.String())
}

func (w *planExporter) writeStories() []byte {
	w.remarkUnsupportedFields("kind", "group", "files", "minutes", "complexity", "tags", "priority", "wants")
	w.numberTasks("US-%d", regexp.MustCompile(`^(?:US|STORY|TASK|T)-?\d+(?:[.-]\d+)*$`).MatchString)
	label := regexp.MustCompile(`^\s*(?:[-*+] )?\**[A-Z][A-Za-z /&-]*\**:`)
	var b strings.Builder
	b.WriteString("# " + strings.Join(strings.Fields(w.plan.Goal), " ") + "\n")
	for _, t := range w.plan.Tasks {
		b.WriteString("\n## " + w.ids[t.ID] + ": " + t.Title + "\n")
		if t.Brief != "" {
			b.WriteString("\n### Description\n\n")
		}
		for line := range strings.SplitSeq(t.Brief, "\n") {
			if label.MatchString(line) || strings.HasPrefix(strings.TrimSpace(line), "#") {
				line = "    " + line // indented, so that it is no heading or label of the story
			}
			if t.Brief != "" {
				b.WriteString(line + "\n")
			}
		}
		b.WriteString("\n### Acceptance Criteria\n\n")
		for _, text := range criterionTexts(t.Criteria) {
			b.WriteString("- [ ] " + text + "\n")
		}
		var labels []string
		add := func(name, value string) {
			if value != "" {
				labels = append(labels, name+": "+value)
			}
		}
		add("Tags", strings.Join(t.Tags, ", "))
		after := w.exportedNeeds(t)
		for _, id := range t.Wants {
			after = append(after, w.ids[id]+" (soft)")
		}
		add("Dependencies", strings.Join(after, ", "))
		add("Priority", string(t.Priority))
		add("Files", strings.Join(t.Files, ", "))
		add("Group", t.Group)
		add("Kind", string(t.Kind))
		add("Complexity", string(t.Complexity))
		if t.Minutes > 0 {
			add("Minutes", strconv.Itoa(t.Minutes))
		}
		if len(labels) > 0 {
			b.WriteString("\n" + strings.Join(labels, "\n") + "\n")
		}
	}
	return []byte(b.String())
}
