package land

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Message returns the commit message of a task: its title, its brief wrapped
// for reading, and where it comes from.
func Message(run nexus.RunID, t nexus.Task, a nexus.AttemptID) string {
	parts := []string{subject(t.Title)}
	if body := strings.TrimSpace(t.Brief); body != "" && body != t.Title {
		parts = append(parts, wrap(body, 72))
	}
	last := trailer(run, a)
	if t.ID != "" {
		last = "Nexus-Task: " + string(t.ID) + "\n" + last
	}
	return strings.Join(append(parts, last), "\n\n") + "\n"
}

// trailer tells a commit of an attempt from all others.
func trailer(run nexus.RunID, a nexus.AttemptID) string {
	return "Nexus-Attempt: " + string(run) + "/" + string(a)
}

// subject is a title on one line of at most 72 characters.
func subject(title string) string {
	line := strings.Join(strings.Fields(title), " ")
	if runes := []rune(line); len(runes) > 72 {
		line = strings.TrimSpace(string(runes[:71])) + "~"
	}
	return line
}

// wrap breaks paragraphs into lines of at most width characters where words
// allow it.
func wrap(text string, width int) string {
	var b strings.Builder
	for i, paragraph := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		column := 0
		for _, word := range strings.Fields(paragraph) {
			n := len([]rune(word))
			switch {
			case column == 0:
			case column+1+n > width:
				b.WriteByte('\n')
				column = 0
			default:
				b.WriteByte(' ')
				column++
			}
			b.WriteString(word)
			column += n
		}
	}
	return b.String()
}
