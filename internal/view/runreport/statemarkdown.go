package runreport

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// stateTitle is the title of the file about the state of the work.
const stateTitle = "# State"

// stateNote is the note at the top of that file.
const stateNote = "Nexus writes the sections below. Write sections of your own under other headings: they stay."

// StateMarkdown writes the state of the work for people who continue it: the position, work in
// progress, next, blocked and done tasks, decisions, and open questions. Sections with other
// headings in an earlier version of the file follow unchanged.
func StateMarkdown(r Report, before string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", stateTitle, stateNote)
	known := r.stateSections()
	for _, s := range known {
		fmt.Fprintf(&b, "\n## %s\n\n", s.open)
		if len(s.lines) == 0 {
			b.WriteString("Nothing.\n")
			continue
		}
		b.WriteString(strings.Join(s.lines, "\n") + "\n")
	}
	if own := userSections(before, known); own != "" {
		b.WriteString("\n" + own)
	}
	return b.String()
}

func (r Report) stateSections() []reportSection {
	position := []string{
		fmt.Sprintf("- Goal: %s", escapeText(truncateText(view.GoalLine(r.Goal)))),
		fmt.Sprintf("- Run %s is %s since %s", escapeText(string(r.Run)), escapeText(string(r.Status)), formatTime(statusSince(r))),
		fmt.Sprintf("- %d of %d tasks landed", r.Metrics.Landed, r.Metrics.Tasks),
	}
	for _, line := range []string{r.Why, r.Delivered} {
		if line != "" {
			position = append(position, "- "+escapeText(truncateText(line)))
		}
	}
	all := []reportSection{
		{open: "Position", lines: position},
		{open: "Active tasks"},
		{open: "Next"},
		{open: "Blocked"},
		{open: "Done"},
		{open: "Decisions", lines: r.decisionLines()},
		{open: "Open questions"},
		{open: "Look at"},
		{open: "Metrics"},
	}
	add := func(name, line string) {
		i := slices.IndexFunc(all, func(s reportSection) bool { return s.open == name })
		all[i].lines = append(all[i].lines, line)
	}
	for _, l := range r.Left {
		line := fmt.Sprintf("- [ ] %s %s", escapeText(string(l.ID)), escapeText(truncateText(l.Title)))
		if l.Why != "" {
			line += ": " + escapeText(truncateText(l.Why))
		}
		add(sectionOf(l.Status), line)
	}
	for _, l := range r.Landed {
		add("Done", fmt.Sprintf("- [x] %s %s, commit %s, criteria met: %d of %d",
			escapeText(string(l.ID)), escapeText(truncateText(l.Title)), escapeText(view.ShortHash(l.Commit)), countMet(l.Criteria), len(l.Criteria)))
		for _, c := range l.Criteria {
			if c.State != accept.Met {
				add("Done", fmt.Sprintf("  - %s: %s", escapeText(string(c.State)), escapeText(truncateText(c.Text))))
			}
		}
	}
	for _, l := range r.LookAt {
		name := "Look at"
		if l.Kind == "question" {
			name = "Open questions"
		}
		add(name, l.listLine())
	}
	for _, f := range r.costFigures() {
		add("Metrics", fmt.Sprintf("- %s: %s", escapeText(f.name), f.value))
	}
	return all
}

// statusSince returns the time of the last change of the run's status.
func statusSince(r Report) time.Time {
	if r.Ended.IsZero() {
		return r.Started
	}
	return r.Ended
}

// sectionOf returns the section of a task that has not landed.
func sectionOf(status nexus.TaskStatus) string {
	switch status {
	case nexus.Running, nexus.Reviewing, nexus.Boarding:
		return "Active tasks"
	case nexus.Pending:
		return "Next"
	default:
		return "Blocked"
	}
}

// userSections returns the sections of a file that Nexus did not write: those of the second level
// with other headings, and the text above the first.
func userSections(before string, known []reportSection) string {
	if strings.TrimSpace(before) == "" {
		return ""
	}
	var keep []string
	mine, fenced := true, false
	for i, line := range strings.Split(strings.TrimRight(strings.ReplaceAll(before, "\r\n", "\n"), "\n"), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		switch name, ok := strings.CutPrefix(line, "## "); {
		case fenced:
		case ok:
			mine = slices.ContainsFunc(known, func(s reportSection) bool { return s.open == strings.TrimSpace(name) })
		case i == 0 && line != stateTitle:
			mine = false
		}
		if !mine {
			keep = append(keep, line)
		}
	}
	if len(keep) == 0 {
		return ""
	}
	return strings.TrimRight(strings.Join(keep, "\n"), "\n") + "\n"
}
