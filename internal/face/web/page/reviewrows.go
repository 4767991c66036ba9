package page

import (
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/highlight"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ReviewRow is a row of a file's table: the head of a hunk, or a line, or, in two columns, a line
// before the change beside one after it.
type ReviewRow struct {
	Head  string      // empty: it is not a head
	A, B  *ReviewLine // B is nil in the one-column form
	Note  string      // about the file, such as a missing newline at its end
	Below []ReviewPageComment
}

// ReviewLine is a line on one side of a change.
type ReviewLine struct {
	Kind     string // " ", "+" or "-"
	Old, New int
	Spans    []highlight.CodeSpan
	At       string // position of a comment on it, empty if no comment is possible
}

// layOutReviewRows lays a file out in rows, with comments below their lines; comments about lines that are
// not shown go above. Old means that lines before the change have the line numbers of the task's
// base, so that comments can be about them.
func layOutReviewRows(f diffreview.DiffFile, notes []ReviewPageComment, split, blank, old bool) (rows []ReviewRow, above []ReviewPageComment) {
	placed := map[int]bool{}
	for _, h := range f.Hunks {
		if blank {
			h.Lines = ignoreWhitespaceChanges(h.Lines)
			if !hasChanges(h.Lines) {
				continue
			}
		}
		rows = append(rows, ReviewRow{Head: strings.TrimSpace(hunkHeadText(h))})
		sides := highlightSides(f.Path, h.Lines, old)
		for _, r := range arrangeRows(sides, split) {
			for i, n := range notes {
				if !placed[i] && (isBelowLine(n, r.A, old) || isBelowLine(n, r.B, old)) {
					placed[i] = true
					r.Below = append(r.Below, n)
				}
			}
			rows = append(rows, r)
		}
	}
	for i, n := range notes {
		if !placed[i] {
			above = append(above, n)
		}
	}
	return rows, above
}

func hunkHeadText(h diffreview.DiffHunk) string {
	return "@@ -" + formatInt(h.Old) + "," + formatInt(h.OldLen) + " +" + formatInt(h.New) + "," + formatInt(h.NewLen) + " @@ " + h.Section
}

// isBelowLine reports whether a comment goes below a line.
func isBelowLine(n ReviewPageComment, s *ReviewLine, old bool) bool {
	switch {
	case s == nil || n.Start == 0:
		return false
	case n.Side == nexus.OldSide:
		return old && s.Kind == "-" && s.Old == n.LastLine()
	default:
		return n.Line > 0 && s.New == n.Line+n.LastLine()-n.Start
	}
}

// highlightSides adds colours and addresses to the lines of a hunk.
func highlightSides(path string, lines []diffreview.DiffLine, old bool) []*ReviewLine {
	sides, spans := make([]*ReviewLine, len(lines)), highlight.HighlightDiff(path, lines)
	for i, l := range lines {
		sides[i] = &ReviewLine{Kind: l.Kind, Old: l.Old, New: l.New, Spans: spans[i]}
		switch {
		case l.New > 0:
			sides[i].At = path + ":" + formatInt(l.New)
		case old:
			sides[i].At = path + ":B" + formatInt(l.Old)
		}
	}
	return sides
}

// arrangeRows puts lines below each other, or removed lines beside their replacements.
func arrangeRows(sides []*ReviewLine, split bool) []ReviewRow {
	rows := make([]ReviewRow, 0, len(sides))
	if !split {
		for _, s := range sides {
			rows = append(rows, ReviewRow{A: s})
		}
		return rows
	}
	for i := 0; i < len(sides); {
		if sides[i].Kind == " " {
			rows = append(rows, ReviewRow{A: sides[i], B: sides[i]})
			i++
			continue
		}
		gone, came := i, i
		for came < len(sides) && sides[came].Kind == "-" {
			came++
		}
		end := came
		for end < len(sides) && sides[end].Kind == "+" {
			end++
		}
		for n := range max(came-gone, end-came) {
			r := ReviewRow{A: &ReviewLine{}, B: &ReviewLine{}}
			if gone+n < came {
				r.A = sides[gone+n]
			}
			if came+n < end {
				r.B = sides[came+n]
			}
			rows = append(rows, r)
		}
		if end == i { // an unknown kind
			i++
			continue
		}
		i = end
	}
	return rows
}

// ignoreWhitespaceChanges treats lines with only white space changes as unchanged.
func ignoreWhitespaceChanges(lines []diffreview.DiffLine) []diffreview.DiffLine {
	var out []diffreview.DiffLine
	for i := 0; i < len(lines); {
		gone := i
		for i < len(lines) && lines[i].Kind == "-" {
			i++
		}
		came := i
		for i < len(lines) && lines[i].Kind == "+" {
			i++
		}
		if i == gone {
			out = append(out, lines[i])
			i++
			continue
		}
		if !equalIgnoringSpace(lines[gone:came], lines[came:i]) {
			out = append(out, lines[gone:i]...)
			continue
		}
		for n := range i - came {
			out = append(out, diffreview.DiffLine{Kind: " ", Old: lines[gone+n].Old, New: lines[came+n].New, Text: lines[came+n].Text})
		}
	}
	return out
}

// equalIgnoringSpace reports whether lines are equal apart from white space.
func equalIgnoringSpace(x, y []diffreview.DiffLine) bool {
	if len(x) != len(y) {
		return false
	}
	dense := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return r
		}, text)
	}
	for i := range x {
		if dense(x[i].Text) != dense(y[i].Text) {
			return false
		}
	}
	return true
}

func hasChanges(lines []diffreview.DiffLine) bool {
	for _, l := range lines {
		if l.Kind != " " {
			return true
		}
	}
	return false
}

// lineNumber returns the number of a line, after the change or before it.
func (s *ReviewLine) lineNumber(now bool) int {
	if now {
		return s.New
	}
	return s.Old
}

// commentSide returns the side of a row that comments are about.
func (r ReviewRow) commentSide() *ReviewLine {
	if r.B != nil && r.B.At != "" {
		return r.B
	}
	return r.A
}

// rowClass returns the CSS class of a one-column row.
func rowClass(r ReviewRow) string {
	if r.B != nil {
		return ""
	}
	return "d-" + sideClass(r.A)
}

// sideClass returns the CSS class of a line.
func sideClass(s *ReviewLine) string {
	switch s.Kind {
	case "+":
		return "added"
	case "-":
		return "deleted"
	case " ":
		return "same"
	}
	return "none"
}

// columnSpan returns the number of columns of a table, starting at one.
func columnSpan(d ReviewPage, from int) string {
	n := 3
	if d.Split {
		n = 4
	}
	if from == 1 {
		n--
	}
	return formatInt(n)
}

// countComments counts the comments below lines.
func countComments(rows []ReviewRow) int {
	n := 0
	for _, r := range rows {
		n += len(r.Below)
	}
	return n
}

func isOrAreWord(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// commentKindPurpose describes the purpose of a kind of comment.
func commentKindPurpose(k nexus.CommentKind) string {
	return map[nexus.CommentKind]string{
		nexus.MustComment: "it does not land before", nexus.ShouldComment: "done, or declined with a reason",
		nexus.QuestionComment: "to be answered", nexus.PraiseComment: "nothing to do",
	}[k]
}
