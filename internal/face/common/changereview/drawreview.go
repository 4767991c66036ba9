package changereview

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// DrawReview draws a task's change for a terminal or a pipe, with the comments below their lines.
// Viewed and generated files are only named, unless all is set.
func DrawReview(s view.OutputStyle, r TaskChangeReview, all bool) string {
	var b strings.Builder
	b.WriteString(s.Bold(fmt.Sprintf("%s %s", r.Task, view.EscapeForTerminal(r.Title))) + "\n")
	fmt.Fprintf(&b, "%s, round %d of %s, commit %.12s, %s, +%d -%d, %d viewed\n", r.Status, r.Round, r.Attempt, r.Commit,
		view.CountWithNoun(len(r.Files), "file"), r.Added, r.Deleted, r.Seen)
	for _, line := range StatusLines(r) {
		b.WriteString(line + "\n")
	}
	if r.Cut {
		b.WriteString("The diff is too long: its end is left out.\n")
	}
	for _, c := range r.Comments {
		if c.File == "" || !inFiles(r, c) {
			b.WriteString("\n" + drawComment(s, c))
		}
	}
	for _, f := range r.Files {
		b.WriteString("\n" + drawFile(s, f, r.Comments, all))
	}
	return s.Sanitize(b.String())
}

// StatusLines returns what prevents the change from landing, and other facts about it.
func StatusLines(r TaskChangeReview) []string {
	var all []string
	if len(r.Must) > 0 {
		all = append(all, "does not land before these are resolved: "+strings.Join(r.Must, ", "))
	}
	switch {
	case r.Landed != "":
		all = append(all, fmt.Sprintf("landed as %.12s", r.Landed))
	case r.Approved != "":
		all = append(all, "approved by "+view.EscapeForTerminal(r.Approved))
	case r.Wanted != "":
		all = append(all, "waits for a person: "+view.EscapeForTerminal(r.Wanted))
	}
	if r.Question != "" {
		all = append(all, fmt.Sprintf("the inbox asks whether it may land: %s", r.Question))
	}
	for _, c := range r.Drafts {
		all = append(all, view.EscapeForTerminal(fmt.Sprintf("not sent: %s %s on %s: %s", c.ID, c.Kind, c.LocationText(), nexus.OneLine(c.Body))))
	}
	if r.Since != nil && r.Since.Commit != r.Commit {
		all = append(all, fmt.Sprintf("%s changed since your last review: --since-last shows them", view.CountWithNoun(len(r.Since.Files), "file")))
	}
	return all
}

func inFiles(r TaskChangeReview, c ShownComment) bool {
	for _, f := range r.Files {
		if f.Path == c.File || f.Old == c.File {
			return true
		}
	}
	return false
}

// drawHead describes a file in one line.
func drawHead(s view.OutputStyle, f ReviewedFile, hidden bool) string {
	var b strings.Builder
	name := view.EscapeForTerminal(f.Path)
	if f.Old != "" && f.Old != f.Path {
		name = view.EscapeForTerminal(f.Old) + " -> " + name
	}
	line := fmt.Sprintf("%s, %s, +%d -%d", name, f.Status, f.Added, f.Deleted)
	b.WriteString(s.Bold(line))
	if f.Risk != diffreview.NormalRisk {
		fmt.Fprintf(&b, ", %s risk", f.Risk)
	}
	if len(f.Reasons) > 0 {
		b.WriteString(": " + view.EscapeForTerminal(strings.Join(f.Reasons, "; ")))
	}
	switch {
	case f.Viewed:
		b.WriteString(" [viewed]")
	case f.Reopened:
		b.WriteString(" [changed since you viewed it]")
	}
	if hidden {
		b.WriteString(" [not shown; --all shows it]")
	}
	return b.String() + "\n"
}

func drawFile(s view.OutputStyle, f ReviewedFile, comments []ShownComment, all bool) string {
	hidden := !all && (f.Viewed || f.Collapsed)
	var b strings.Builder
	b.WriteString(drawHead(s, f, hidden))
	mine := func(c ShownComment) bool { return c.File != "" && (c.File == f.Path || c.File == f.Old) }
	drawn := map[int]bool{}
	for i, c := range comments {
		if mine(c) && (c.Start == 0 || hidden) {
			drawn[i] = true
			b.WriteString(drawComment(s, c))
		}
	}
	if hidden {
		return b.String()
	}
	if f.Binary {
		b.WriteString("  it is not text\n")
	}
	for _, h := range f.Hunks {
		b.WriteString(drawHunk(s, h, func(l diffreview.DiffLine) string {
			text := ""
			for i, c := range comments {
				if mine(c) && !drawn[i] && IsBelow(c, l) {
					drawn[i] = true
					text += drawComment(s, c)
				}
			}
			return text
		}))
	}
	for i, c := range comments {
		if mine(c) && !drawn[i] {
			b.WriteString(drawComment(s, c))
		}
	}
	return b.String()
}

// IsBelow reports whether a comment belongs below a line.
func IsBelow(c ShownComment, l diffreview.DiffLine) bool {
	if c.Side == nexus.OldSide {
		return l.Kind == "-" && l.Old == c.LastLine()
	}
	return c.Line > 0 && l.New == c.Line+c.LastLine()-c.Start
}

func drawHunk(s view.OutputStyle, h diffreview.DiffHunk, below func(diffreview.DiffLine) string) string {
	var b strings.Builder
	b.WriteString(s.Busy(strings.TrimSpace(fmt.Sprintf("@@ -%d,%d +%d,%d @@ %s", h.Old, h.OldLen, h.New, h.NewLen,
		view.EscapeForTerminal(h.Section)))) + "\n")
	for _, l := range h.Lines {
		text, returns := strings.CutSuffix(l.Text, "\r")
		if text = view.EscapeLinesForTerminal(l.Kind + text); returns {
			text += `\r`
		}
		switch l.Kind {
		case "+":
			text = s.Good(text)
		case "-":
			text = s.Bad(text)
		}
		number := l.New
		if l.Kind == "-" {
			number = l.Old
		}
		fmt.Fprintf(&b, "%5d %s\n", number, text)
		b.WriteString(below(l))
	}
	return b.String()
}

// drawComment draws a comment and its answers.
func drawComment(s view.OutputStyle, c ShownComment) string {
	var b strings.Builder
	name := c.ID
	if name == "" {
		name = "(not taken yet)"
	}
	head := fmt.Sprintf("  > %s %s by %s on %s, %s", name, c.Kind, view.EscapeForTerminal(c.By), view.EscapeForTerminal(c.LocationText()), c.State)
	if c.Resolved != "" && c.State == "resolved" {
		head += " by " + view.EscapeForTerminal(c.Resolved)
	}
	b.WriteString(s.Bold(head) + "\n")
	for line := range strings.Lines(c.Body) {
		b.WriteString("  >   " + view.EscapeLinesForTerminal(strings.TrimRight(line, "\r\n")) + "\n")
	}
	if c.Replace != nil {
		b.WriteString("  >   suggests instead:\n")
		for line := range strings.Lines(c.Replace.Text) {
			b.WriteString("  >   | " + view.EscapeLinesForTerminal(strings.TrimRight(line, "\r\n")) + "\n")
		}
	}
	for _, a := range c.Answers {
		text := view.WithReason(view.ReplyText(a.CommentAnswer), view.EscapeForTerminal(nexus.OneLine(a.Why)))
		fmt.Fprintf(&b, "  >   %s, round %d, commit %.12s: %s\n", a.Attempt, a.Round, a.Commit, text)
	}
	if c.Refused != "" {
		b.WriteString("  >   not applied: " + view.EscapeForTerminal(c.Refused) + "\n")
	}
	return b.String()
}

// DrawChangesSinceReview draws the changes since a person's last review.
func DrawChangesSinceReview(s view.OutputStyle, r TaskChangeReview) string {
	var b strings.Builder
	w := r.Since
	fmt.Fprintf(&b, "%s since your review of commit %.12s: %s\n", r.Task, w.Commit, view.CountWithNoun(len(w.Files), "file"))
	if w.Rebased {
		b.WriteString("The base moved meanwhile; what came with it is left out.\n")
	}
	if w.Why != "" {
		b.WriteString(view.EscapeForTerminal(w.Why) + "\n")
	}
	for _, f := range w.Files {
		fmt.Fprintf(&b, "\n%s\n", s.Bold(fmt.Sprintf("%s, %s, +%d -%d", view.EscapeForTerminal(f.Path), f.Status, f.Added, f.Deleted)))
		for _, h := range f.Hunks {
			b.WriteString(drawHunk(s, h, func(diffreview.DiffLine) string { return "" }))
		}
	}
	for _, c := range r.Comments {
		if len(c.Answers) > 0 {
			b.WriteString("\n" + drawComment(s, c))
		}
	}
	return s.Sanitize(b.String())
}
