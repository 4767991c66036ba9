package page

import (
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/view/highlight"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Row is a row of a file's table: the head of a hunk, or a line, or, in two columns, a line
// before the change beside one after it.
type Row struct {
	Head  string // empty: it is not a head
	A, B  *Side  // B is nil in the one-column form
	Note  string // about the file, such as a missing newline at its end
	Below []Note
}

// Side is a line on one side of a change.
type Side struct {
	Kind     string // " ", "+" or "-"
	Old, New int
	Spans    []highlight.Span
	At       string // position of a comment on it, empty if no comment is possible
}

// rowsOf lays a file out in rows, with comments below their lines; comments about lines that are
// not shown go above. Old means that lines before the change have the line numbers of the task's
// base, so that comments can be about them.
func rowsOf(f diffreview.File, notes []Note, split, blank, old bool) (rows []Row, above []Note) {
	placed := map[int]bool{}
	for _, h := range f.Hunks {
		if blank {
			h.Lines = unspaced(h.Lines)
			if !changes(h.Lines) {
				continue
			}
		}
		rows = append(rows, Row{Head: strings.TrimSpace(headOf(h))})
		sides := colored(f.Path, h.Lines, old)
		for _, r := range arranged(sides, split) {
			for i, n := range notes {
				if !placed[i] && (belongs(n, r.A, old) || belongs(n, r.B, old)) {
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

func headOf(h diffreview.Hunk) string {
	return "@@ -" + number(h.Old) + "," + number(h.OldLen) + " +" + number(h.New) + "," + number(h.NewLen) + " @@ " + h.Section
}

// belongs reports whether a comment goes below a line.
func belongs(n Note, s *Side, old bool) bool {
	switch {
	case s == nil || n.Start == 0:
		return false
	case n.Side == nexus.OldSide:
		return old && s.Kind == "-" && s.Old == n.Last()
	default:
		return n.Line > 0 && s.New == n.Line+n.Last()-n.Start
	}
}

// colored adds colours and addresses to the lines of a hunk.
func colored(path string, lines []diffreview.Line, old bool) []*Side {
	sides, spans := make([]*Side, len(lines)), highlight.Diff(path, lines)
	for i, l := range lines {
		sides[i] = &Side{Kind: l.Kind, Old: l.Old, New: l.New, Spans: spans[i]}
		switch {
		case l.New > 0:
			sides[i].At = path + ":" + number(l.New)
		case old:
			sides[i].At = path + ":B" + number(l.Old)
		}
	}
	return sides
}

// arranged puts lines below each other, or removed lines beside their replacements.
func arranged(sides []*Side, split bool) []Row {
	rows := make([]Row, 0, len(sides))
	if !split {
		for _, s := range sides {
			rows = append(rows, Row{A: s})
		}
		return rows
	}
	for i := 0; i < len(sides); {
		if sides[i].Kind == " " {
			rows = append(rows, Row{A: sides[i], B: sides[i]})
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
			r := Row{A: &Side{}, B: &Side{}}
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

// unspaced treats lines with only white space changes as unchanged.
func unspaced(lines []diffreview.Line) []diffreview.Line {
	var out []diffreview.Line
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
		if !alike(lines[gone:came], lines[came:i]) {
			out = append(out, lines[gone:i]...)
			continue
		}
		for n := range i - came {
			out = append(out, diffreview.Line{Kind: " ", Old: lines[gone+n].Old, New: lines[came+n].New, Text: lines[came+n].Text})
		}
	}
	return out
}

// alike reports whether lines are equal apart from white space.
func alike(x, y []diffreview.Line) bool {
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

func changes(lines []diffreview.Line) bool {
	for _, l := range lines {
		if l.Kind != " " {
			return true
		}
	}
	return false
}

// number returns the number of a line, after the change or before it.
func (s *Side) number(now bool) int {
	if now {
		return s.New
	}
	return s.Old
}

// line returns the side of a row that comments are about.
func (r Row) line() *Side {
	if r.B != nil && r.B.At != "" {
		return r.B
	}
	return r.A
}

// rowClass returns the CSS class of a one-column row.
func rowClass(r Row) string {
	if r.B != nil {
		return ""
	}
	return "d-" + sideClass(r.A)
}

// sideClass returns the CSS class of a line.
func sideClass(s *Side) string {
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

// wide returns the number of columns of a table, starting at one.
func wide(d ReviewPage, from int) string {
	n := 3
	if d.Split {
		n = 4
	}
	if from == 1 {
		n--
	}
	return number(n)
}

// noted counts the comments below lines.
func noted(rows []Row) int {
	n := 0
	for _, r := range rows {
		n += len(r.Below)
	}
	return n
}

func isAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// kindMeans describes the purpose of a kind of comment.
func kindMeans(k nexus.CommentKind) string {
	return map[nexus.CommentKind]string{
		nexus.MustComment: "it does not land before", nexus.ShouldComment: "done, or declined with a reason",
		nexus.QuestionComment: "to be answered", nexus.PraiseComment: "nothing to do",
	}[k]
}
