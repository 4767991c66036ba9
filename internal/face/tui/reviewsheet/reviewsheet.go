// Package reviewsheet lays out a change under review as rows: files by risk, their lines with
// syntax colours, and below each line its comments, answers and drafts.
package reviewsheet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/highlight"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Kind is the kind of a row.
type Kind int

// The kinds of rows.
const (
	Head        Kind = iota // about the whole change
	File                    // begins a file
	Hunk                    // shows the position of the next lines
	Line                    // of a file
	CommentText             // of a comment, or of an answer to one
	Draft                   // of an unsent comment
	Blank
)

// Row is a row of a sheet. Its text is safe; its spans are not.
type Row struct {
	Kind    Kind
	Path    string               // of its file; empty: none
	Line    diffreview.DiffLine  // of a Line
	Spans   []highlight.CodeSpan // of a Line
	Text    string               // of all others
	Comment int                  // of a CommentText: the index of its comment in the review
	Draft   int                  // of a Draft: its index
	First   bool                 // the first row of its comment, draft, or of the head
	Warn    bool                 // it needs an action
	Hidden  bool                 // of a File: its lines are folded away
}

// Key identifies a row, so that it is found again in a later sheet.
func (r Row) Key() string {
	switch r.Kind {
	case File:
		return "file " + r.Path
	case Line:
		if r.Line.New > 0 {
			return fmt.Sprintf("line %s\x00new %d", r.Path, r.Line.New)
		}
		return fmt.Sprintf("line %s\x00old %d", r.Path, r.Line.Old)
	case CommentText:
		return fmt.Sprintf("said %d %v", r.Comment, r.First)
	case Draft:
		return fmt.Sprintf("draft %d %v", r.Draft, r.First)
	default:
		return ""
	}
}

// Options select the parts of a change.
type Options struct {
	Since  bool            // only the changes since the person's last review
	Turned map[string]bool // files whose folding differs from the default
}

// LayoutRows lays out a change.
func LayoutRows(r changereview.TaskChangeReview, o Options) []Row {
	l := reviewRowBuilder{review: r, o: o, said: make([]bool, len(r.Comments)), drafted: make([]bool, len(r.Drafts))}
	l.addHeader()
	files := r.Files
	if o.Since && r.Since != nil {
		files = nil
		for _, f := range r.Since.Files {
			files = append(files, changereview.ReviewedFile{DiffFile: f})
		}
	}
	head := l.rows
	l.rows = nil
	for _, f := range files {
		l.addFile(f)
	}
	body := l.rows
	l.rows = head
	l.addCommentsAt("", func(changereview.ShownComment) bool { return true }) // comments about no visible file
	return append(l.rows, body...)
}

type reviewRowBuilder struct {
	review  changereview.TaskChangeReview
	o       Options
	rows    []Row
	said    []bool // comments that are laid out
	drafted []bool
}

func (l *reviewRowBuilder) addRow(r Row) { l.rows = append(l.rows, r) }

// addHeader lays out the status of the change.
func (l *reviewRowBuilder) addHeader() {
	r := l.review
	text := fmt.Sprintf("%s, round %d of %s, commit %.12s, %s, +%d -%d, %d viewed", r.Status, r.Round, view.EscapeForTerminal(string(r.Attempt)),
		view.EscapeForTerminal(r.Commit), view.CountWithNoun(len(r.Files), "file"), r.Added, r.Deleted, r.Seen)
	l.addRow(Row{Kind: Head, Text: text, First: true})
	for i, line := range changereview.StatusLines(withoutDrafts(r)) {
		l.addRow(Row{Kind: Head, Text: line, Warn: i == 0 && len(r.Must) > 0 || r.Question != "" && strings.HasSuffix(line, r.Question)})
	}
	if w := r.Since; w != nil && !l.o.Since && w.Commit != r.Commit && len(w.Files) > 0 {
		l.addRow(Row{Kind: Head, Text: view.CountWithNoun(len(w.Files), "file") + " changed since your last review"})
	}
	if !r.Open && r.Landed == "" {
		l.addRow(Row{Kind: Head, Text: "no comments now: " + view.EscapeForTerminal(r.Why)})
	}
	if w := r.Since; l.o.Since && w != nil {
		l.addRow(Row{Kind: Head, Text: fmt.Sprintf("only the changes since your review of commit %.12s", view.EscapeForTerminal(w.Commit))})
		if w.Rebased {
			l.addRow(Row{Kind: Head, Text: "the base moved meanwhile; its changes are left out"})
		}
		if w.Why != "" {
			l.addRow(Row{Kind: Head, Text: view.EscapeForTerminal(w.Why)})
		}
		if len(w.Files) == 0 {
			l.addRow(Row{Kind: Head, Text: "nothing changed since then"})
		}
	}
	if r.Cut {
		l.addRow(Row{Kind: Head, Text: "the diff is too long: its end is left out"})
	}
}

// withoutDrafts returns a change without its drafts, which are at their lines, and without the remark
// about the last review.
func withoutDrafts(r changereview.TaskChangeReview) changereview.TaskChangeReview {
	r.Drafts, r.Since = nil, nil
	return r
}

// addFile lays out a file.
func (l *reviewRowBuilder) addFile(f changereview.ReviewedFile) {
	hidden := (f.Viewed || f.Collapsed) != l.o.Turned[f.Path]
	l.addRow(Row{Kind: Blank})
	l.addRow(Row{Kind: File, Path: f.Path, Text: fileTitle(f), Hidden: hidden, Warn: f.Risk == diffreview.HighRisk})
	mine := func(c nexus.ReviewComment) bool { return c.File != "" && (c.File == f.Path || c.File == f.Old) }
	l.addCommentsAt(f.Path, func(c changereview.ShownComment) bool { return mine(c.ReviewComment) && (c.Start == 0 || hidden) })
	if hidden {
		return
	}
	if f.Binary {
		l.addRow(Row{Kind: Hunk, Path: f.Path, Text: "it is not text"})
	}
	spans := lineSpans(f.DiffFile)
	n := 0
	for _, h := range f.Hunks {
		text := fmt.Sprintf("@@ -%d,%d +%d,%d @@ %s", h.Old, h.OldLen, h.New, h.NewLen, view.EscapeForTerminal(h.Section))
		l.addRow(Row{Kind: Hunk, Path: f.Path, Text: strings.TrimSpace(text)})
		for _, line := range h.Lines {
			l.addRow(Row{Kind: Line, Path: f.Path, Line: line, Spans: spans[n]})
			n++
			l.addCommentsAt(f.Path, func(c changereview.ShownComment) bool { return mine(c.ReviewComment) && changereview.IsBelow(c, line) })
		}
	}
	l.addCommentsAt(f.Path, func(c changereview.ShownComment) bool { return mine(c.ReviewComment) }) // their lines are gone
}

// fileTitle describes a file in one line.
func fileTitle(f changereview.ReviewedFile) string {
	name := view.EscapeForTerminal(f.Path)
	if f.Old != "" && f.Old != f.Path {
		name = view.EscapeForTerminal(f.Old) + " -> " + name
	}
	text := fmt.Sprintf("%s  %s +%d -%d", name, f.Status, f.Added, f.Deleted)
	if f.Risk != "" && f.Risk != diffreview.NormalRisk {
		text += fmt.Sprintf(", %s risk", f.Risk)
	}
	if len(f.Reasons) > 0 {
		text += ": " + view.EscapeForTerminal(strings.Join(f.Reasons, "; "))
	}
	switch {
	case f.Viewed:
		text += " [viewed]"
	case f.Reopened:
		text += " [changed since you viewed it]"
	}
	return text
}

// addCommentsAt lays out the comments and drafts of a position.
func (l *reviewRowBuilder) addCommentsAt(path string, here func(changereview.ShownComment) bool) {
	for i, c := range l.review.Comments {
		if !l.said[i] && here(c) {
			l.said[i] = true
			l.addComment(path, i, c)
		}
	}
	for i, c := range l.review.Drafts {
		if !l.drafted[i] && here(changereview.ShownComment{ReviewComment: c.ReviewComment, Line: c.Line}) {
			l.drafted[i] = true
			l.addDraft(path, i, c.ReviewComment)
		}
	}
}

func (l *reviewRowBuilder) addComment(path string, i int, c changereview.ShownComment) {
	name := c.ID
	if name == "" {
		name = "(not taken yet)"
	}
	head := fmt.Sprintf("%s %s by %s on %s, %s", view.EscapeForTerminal(name), c.Kind, view.EscapeForTerminal(c.By), view.EscapeForTerminal(c.LocationText()), c.State)
	if c.Resolved != "" && c.State == "resolved" {
		head += " by " + view.EscapeForTerminal(c.Resolved)
	}
	blocks := slices.Contains(l.review.Must, c.ID) && c.ID != ""
	if blocks {
		head += "; not resolved"
	}
	add := func(text string) {
		l.addRow(Row{Kind: CommentText, Path: path, Comment: i, Text: text, Warn: blocks, First: text == head})
	}
	add(head)
	for _, line := range commentLines(c.ReviewComment) {
		add("  " + line)
	}
	for _, a := range c.Answers {
		add(fmt.Sprintf("  %s, round %d, commit %.12s: %s", view.EscapeForTerminal(string(a.Attempt)), a.Round, view.EscapeForTerminal(a.Commit),
			view.WithReason(view.ReplyText(a.CommentAnswer), view.EscapeForTerminal(nexus.OneLine(a.Why)))))
	}
	if c.Refused != "" {
		add("  not applied: " + view.EscapeForTerminal(c.Refused))
	}
}

func (l *reviewRowBuilder) addDraft(path string, i int, c nexus.ReviewComment) {
	head := fmt.Sprintf("not sent: %s on %s", c.Kind, view.EscapeForTerminal(c.LocationText()))
	if c.Commit != "" && c.Commit != l.review.Commit {
		head += fmt.Sprintf(" as it was in commit %.12s", view.EscapeForTerminal(c.Commit))
	}
	l.addRow(Row{Kind: Draft, Path: path, Draft: i, Text: head, First: true})
	for _, line := range commentLines(c) {
		l.addRow(Row{Kind: Draft, Path: path, Draft: i, Text: "  " + line})
	}
}

// commentLines returns the text of a comment, and its suggestion.
func commentLines(c nexus.ReviewComment) []string {
	var all []string
	if c.Body != "" {
		all = strings.Split(view.EscapeLinesForTerminal(c.Body), "\n")
	}
	if c.Replace != nil {
		all = append(all, "suggests instead:")
		for _, line := range strings.Split(view.EscapeLinesForTerminal(strings.TrimSuffix(c.Replace.Text, "\n")), "\n") {
			all = append(all, "| "+line)
		}
	}
	for i, line := range all {
		all[i] = strings.ReplaceAll(line, "\t", "    ")
	}
	return all
}

// lineSpans returns the spans of the lines of a file.
func lineSpans(f diffreview.DiffFile) [][]highlight.CodeSpan {
	var all []diffreview.DiffLine
	for _, h := range f.Hunks {
		all = append(all, h.Lines...)
	}
	return highlight.HighlightDiff(f.Path, all)
}
