package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// IssueComment draws the status of a run as Markdown for all readers of an issue: no money, no
// local paths, and of questions only that they wait.
func IssueComment(r RunView) string {
	var b strings.Builder
	switch {
	case r.Status == nexus.StatusDone:
		fmt.Fprintf(&b, "Nexus has done this: %d of %s landed.\n", r.Counts.Landed, CountWithNoun(r.Counts.Total, "task"))
	case r.Status.HasEnded():
		fmt.Fprintf(&b, "Nexus stopped working on this (%s): %d of %s landed.\n", r.Status, r.Counts.Landed, CountWithNoun(r.Counts.Total, "task"))
	case len(r.Tasks) == 0:
		b.WriteString("Nexus plans how to do this.\n")
	default:
		fmt.Fprintf(&b, "Nexus works on this: %d of %s landed.\n", r.Counts.Landed, CountWithNoun(r.Counts.Total, "task"))
	}
	writeTaskRows(&b, r.Tasks)
	if n := len(r.Asks); n > 0 {
		fmt.Fprintf(&b, "\nUnanswered: %s.\n", CountWithNoun(n, "question"))
	}
	if r.Commit != "" {
		fmt.Fprintf(&b, "\nThe result is commit %s on the branch %s.", ShortHash(r.Commit), codeSpan(r.Branch))
		if r.Moved != "" {
			fmt.Fprintf(&b, " It is on %s.", codeSpan(r.Moved))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n<sub>run %s</sub>\n", r.ID)
	return b.String()
}

const (
	maxRows  = 100    // tasks in a comment
	maxTable = 50_000 // bytes; a forge accepts comments of 65,536
	maxTitle = 200    // bytes
)

// writeTaskRows draws the tasks, as many as a comment can contain.
func writeTaskRows(b *strings.Builder, all []TaskView) {
	if len(all) > 0 {
		b.WriteString("\n| task | status |\n|---|---|\n")
	}
	for i, t := range all {
		row := fmt.Sprintf("| %s %s | %s |\n", sanitize.TruncateText(string(t.ID), maxTitle), codeSpan(t.Title), t.statusText())
		if i == maxRows || b.Len()+len(row) > maxTable {
			fmt.Fprintf(b, "\nand %d more\n", len(all)-i)
			return
		}
		b.WriteString(row)
	}
}

// codeSpan formats a text as a code span that stays in its table cell: no Markdown in it is read, and
// it mentions and links nobody. A backslash before a bar would cancel the bar's own escape.
func codeSpan(text string) string {
	text = strings.NewReplacer("`", "'", `\|`, `\ \|`, "|", `\|`).Replace(sanitize.TruncateText(EscapeForTerminal(text), maxTitle))
	return "`" + cmp.Or(strings.TrimSpace(text), "-") + "`"
}
