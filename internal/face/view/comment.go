package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Comment draws how a run stands as Markdown for everybody who reads an issue: no money, no paths of
// this machine, and of questions no more than that they wait.
func Comment(r Run) string {
	var b strings.Builder
	switch {
	case r.Status == nexus.StatusDone:
		fmt.Fprintf(&b, "Nexus has done this: %d of %s landed.\n", r.Counts.Landed, Count(r.Counts.Total, "task"))
	case r.Status.Ended():
		fmt.Fprintf(&b, "Nexus stopped working on this (%s): %d of %s landed.\n", r.Status, r.Counts.Landed, Count(r.Counts.Total, "task"))
	case len(r.Tasks) == 0:
		b.WriteString("Nexus plans how to do this.\n")
	default:
		fmt.Fprintf(&b, "Nexus works on this: %d of %s landed.\n", r.Counts.Landed, Count(r.Counts.Total, "task"))
	}
	if len(r.Tasks) > 0 {
		b.WriteString("\n| task | status |\n|---|---|\n")
	}
	for _, t := range r.Tasks {
		fmt.Fprintf(&b, "| %s %s | %s |\n", t.ID, cell(t.Title), t.status())
	}
	if n := len(r.Asks); n > 0 {
		fmt.Fprintf(&b, "\nUnanswered: %s.\n", Count(n, "question"))
	}
	if r.Commit != "" {
		fmt.Fprintf(&b, "\nThe result is commit %s on the branch `%s`.", Short(r.Commit), r.Branch)
		if r.Moved != "" {
			fmt.Fprintf(&b, " It is on `%s`.", r.Moved)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n<sub>run %s</sub>\n", r.ID)
	return b.String()
}

// cell is a text that stays in its cell of a Markdown table, and mentions and links nobody.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "@", "&#64;", "#", "&#35;", "`", "'", "[", `\[`, "]", `\]`, "!", "&#33;").
		Replace(Clean(text))
}
