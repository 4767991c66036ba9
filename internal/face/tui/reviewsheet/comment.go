package reviewsheet

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// NewComment returns a comment about the rows from from to to, inclusive: about lines, a file, or
// the whole change. If there can be no comment, why is the reason.
func NewComment(r changereview.TaskChangeReview, rows []Row, from, to int) (c nexus.ReviewComment, why string) {
	if from > to {
		from, to = to, from
	}
	c = nexus.ReviewComment{Commit: r.Commit}
	if from < 0 || to >= len(rows) {
		return c, "" // about the whole change
	}
	at := rows[to]
	if from == to {
		switch at.Kind {
		case Head, Blank, Line:
		case CommentText:
			return newReply(r, at)
		case Draft:
			return c, "this is not sent yet: enter changes it"
		default:
			c.File = at.Path
			return c, ""
		}
	}
	var olds, news []int
	for _, row := range rows[from : to+1] {
		if row.Kind != Line {
			continue
		}
		if c.File != "" && c.File != row.Path {
			return c, "a comment is about the lines of one file"
		}
		c.File = row.Path
		if row.Line.New > 0 && row.Line.Kind != "-" {
			news = append(news, row.Line.New)
		} else {
			olds = append(olds, row.Line.Old)
		}
	}
	lines := news
	c.Side = nexus.NewSide
	if len(lines) == 0 {
		lines, c.Side = olds, nexus.OldSide
	}
	if len(lines) == 0 {
		c.File, c.Side = at.Path, ""
		return c, ""
	}
	c.Start, c.End = lines[0], lines[len(lines)-1]
	c.Hunk = commentExcerpt(r, c)
	return c, ""
}

// newReply returns a comment with the position of another one.
func newReply(r changereview.TaskChangeReview, at Row) (nexus.ReviewComment, string) {
	old := r.Comments[at.Comment]
	c := nexus.ReviewComment{File: old.File, Commit: r.Commit}
	if old.Start > 0 && old.Line > 0 {
		c.Side, c.Start, c.End = old.Side, old.Line, old.Line+old.LastLine()-old.Start
		c.Hunk = commentExcerpt(r, c)
	}
	for _, f := range r.Files {
		if f.Old == c.File && f.Old != "" {
			c.File = f.Path
		}
	}
	return c, ""
}

func commentExcerpt(r changereview.TaskChangeReview, c nexus.ReviewComment) string {
	for _, f := range r.Files {
		if f.Path == c.File {
			return diffreview.CommentExcerpt([]diffreview.DiffFile{f.DiffFile}, c)
		}
	}
	return ""
}

// CurrentText returns the current text of a comment's lines.
func CurrentText(rows []Row, c nexus.ReviewComment) string {
	text := ""
	for _, r := range rows {
		if r.Kind == Line && r.Path == c.File && r.Line.Kind != "-" && r.Line.New >= c.Start && r.Line.New <= c.LastLine() {
			text += r.Line.Text + "\n"
		}
	}
	return text
}
