package page

import (
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/view/highlight"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Row is a row of the table of a file: the head of a hunk, or a line, or, in two columns,
// a line before the change beside one after it.
type Row struct {
	Head  string // empty: it is no head
	A, B  *Side  // B is nil where there is one column
	Note  string // about the file, such as that it has no end of line
	Below []Note
}

// Side is a line on one side of a change.
type Side struct {
	Kind     string // " ", "+" or "-"
	Old, New int
	Spans    []highlight.Span
	At       string // where a comment on it is, empty where there can be none
}

// rowsOf puts a file into rows, with comments below their lines; those that are about no line
// that is shown stand above. Old says whether lines before the change have their numbers of
// the task's base, so that comments can be about them.
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

// belongs reports whether a comment stands below a line.
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

// colored gives the lines of a hunk their colours and addresses.
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

// arranged puts lines below each other, or what is gone beside what came for it.
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
		if end == i { // a kind that there is not
			i++
			continue
		}
		i = end
	}
	return rows
}

// unspaced takes lines that only changed their white space for unchanged ones.
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

// alike reports whether lines are the same but for white space.
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

// number is that of a line, after the change or before it.
func (s *Side) number(now bool) int {
	if now {
		return s.New
	}
	return s.Old
}

// line is the side of a row that comments are about.
func (r Row) line() *Side {
	if r.B != nil && r.B.At != "" {
		return r.B
	}
	return r.A
}

// rowClass is the class of a row of one column.
func rowClass(r Row) string {
	if r.B != nil {
		return ""
	}
	return "d-" + sideClass(r.A)
}

// sideClass is the class of a line.
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

// wide is how many columns a table has, from one on.
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

// noted is how many comments stand below lines.
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

// kindMeans says what a kind of comment wants.
func kindMeans(k nexus.CommentKind) string {
	return map[nexus.CommentKind]string{
		nexus.MustComment: "it does not land before", nexus.ShouldComment: "done, or declined with a reason",
		nexus.QuestionComment: "to be answered", nexus.PraiseComment: "nothing to do",
	}[k]
}
