package page

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/face/web/access"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// ReviewPage is a task's change under a person's review.
type ReviewPage struct {
	changereview.TaskChangeReview

	Shown []ReviewFile        // its files, or the changes since the person's last review
	Loose []ReviewPageComment // about the whole change, or about parts that are not shown
	Inbox []projection.InboxItem
	Form  CommentDraftForm // the comment that the person is writing
	None  string           // why there is nothing to show; empty otherwise

	Split, Blank bool // in two columns; without white space changes
	Last         bool // only the changes since the person's last review
	Path         string
}

// ReviewFile is a file of a change, in its form for a page.
type ReviewFile struct {
	changereview.ReviewedFile

	Closed bool
	Above  []ReviewPageComment // about the file
	Rows   []ReviewRow
}

// ReviewPageComment is a comment, or a draft of one.
type ReviewPageComment struct {
	changereview.ShownComment

	Draft  bool
	Writes bool // its reader may change its state
}

// CommentDraftForm is the form field values of a comment.
type CommentDraftForm struct {
	Place, Kind, Body, Instead string
	Apply                      bool
}

// showReview shows the change of a task.
func (s *PageHandlers) showReview(r *http.Request) (templ.Component, error) {
	return s.reviewPage(r, CommentDraftForm{Place: r.URL.Query().Get("at")}, ActionResult{})
}

// reviewPage draws a task's change with the comment that the person is writing.
func (s *PageHandlers) reviewPage(r *http.Request, form CommentDraftForm, said ActionResult) (templ.Component, error) {
	id := nexus.TaskID(r.PathValue("task"))
	d := ReviewPage{Form: form, Path: taskPath(nexus.RunID(r.PathValue("run")), id, "/diff")}
	d.Form.Kind = cmp.Or(d.Form.Kind, string(nexus.MustComment))
	var waiting []projection.InboxItem
	f, err := s.newFrame(r, "task", string(id)+" review", func(p *projection.RunProjection, f *PageFrame) error {
		t, ok := p.TaskDetailView(id, f.Now)
		if !ok {
			return notFoundError("task", string(id))
		}
		d.Task, d.Title, waiting = t.ID, t.Title, p.InboxItems(f.Now)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if said.Text != "" {
		f.Said, f.URL = said, d.Path
	}
	result := s.runCommand(r.Context(), "review", "--run", string(f.Run.ID), "--json", "--", string(id))
	if result.Failed() {
		d.None = cmp.Or(result.Text, "There is none.") + " " + result.Hint
		return reviewScreen(f, d), nil
	}
	if err := json.Unmarshal(result.Data, &d.TaskChangeReview); err != nil {
		d.None = "The change cannot be read: " + err.Error()
		return reviewScreen(f, d), nil //nolint:nilerr // the page says it
	}
	if len(d.Files) == 0 {
		d.None = "The task has changed no file yet."
	}
	d.Inbox = slices.DeleteFunc(waiting, func(i projection.InboxItem) bool { return i.ID != d.Question || d.Question == "" })
	d.applyDisplayOptions(r.URL.Query())
	d.layOutRows(f.Person.HasRole(access.Steer) && d.Open)
	return reviewScreen(f, d), nil
}

// applyDisplayOptions reads the display options from the address. A person who has reviewed the change first
// sees the changes since then.
func (d *ReviewPage) applyDisplayOptions(q url.Values) {
	d.Split, d.Blank = q.Get("split") != "", q.Get("blank") != ""
	d.Last = d.Since != nil && (q.Get("show") == "since" || q.Get("show") == "" && d.Since.Commit != d.Commit && len(d.Since.Files) > 0)
}

// optionURL returns the address of the same change with another display option.
func (d ReviewPage) optionURL(name, value string) string {
	q := url.Values{}
	set := func(name, value string) {
		if q.Del(name); value != "" {
			q.Set(name, value)
		}
	}
	set("split", map[bool]string{true: "1"}[d.Split])
	set("blank", map[bool]string{true: "1"}[d.Blank])
	if d.Since != nil {
		set("show", map[bool]string{true: "since", false: "all"}[d.Last])
	}
	set(name, value)
	if len(q) == 0 {
		return d.Path
	}
	return d.Path + "?" + q.Encode()
}

// layOutRows lays the change out in rows, each comment below its line.
func (d *ReviewPage) layOutRows(writes bool) {
	notes := make([]ReviewPageComment, 0, len(d.Comments)+len(d.Drafts))
	for _, c := range d.Comments {
		notes = append(notes, ReviewPageComment{ShownComment: c, Writes: writes})
	}
	for _, c := range d.Drafts {
		notes = append(notes, ReviewPageComment{ShownComment: changereview.ShownComment{ReviewComment: c.ReviewComment, Line: c.Line, State: "not sent"}, Draft: true, Writes: writes})
	}
	for _, f := range d.shownFiles() {
		sheet := ReviewFile{ReviewedFile: f, Closed: f.Viewed || f.Collapsed}
		var mine []ReviewPageComment
		notes = slices.DeleteFunc(notes, func(n ReviewPageComment) bool {
			is := n.File != "" && (n.File == f.Path || n.File == f.Old)
			if is {
				mine = append(mine, n)
			}
			return is
		})
		sheet.Rows, sheet.Above = layOutReviewRows(f.DiffFile, mine, d.Split, d.Blank, !d.Last)
		d.Shown = append(d.Shown, sheet)
	}
	d.Loose = notes
}

// shownFiles returns the shown files.
func (d *ReviewPage) shownFiles() []changereview.ReviewedFile {
	if !d.Last {
		return d.Files
	}
	var all []changereview.ReviewedFile
	for _, f := range d.Since.Files {
		one := changereview.ReviewedFile{DiffFile: f}
		for _, known := range d.Files {
			if known.Path == f.Path {
				one = known
				one.DiffFile = f
			}
		}
		all = append(all, one)
	}
	return all
}

// parseCommentPosition parses the position of a comment: FILE:3, FILE:3-5, FILE:B3 for lines before the
// change, FILE, or a dot or nothing for the whole change.
func parseCommentPosition(text string) nexus.ReviewComment {
	text = strings.TrimSpace(text)
	if text == "" || text == "." {
		return nexus.ReviewComment{}
	}
	i := strings.LastIndexByte(text, ':')
	if i > 0 {
		lines, old := strings.CutPrefix(text[i+1:], "B")
		if start, end, ok := diffreview.ParseLines(strings.ReplaceAll(lines, "L", "")); ok {
			c := nexus.ReviewComment{File: text[:i], Start: start, End: end, Side: nexus.NewSide}
			if old {
				c.Side = nexus.OldSide
			}
			return c
		}
	}
	return nexus.ReviewComment{File: text}
}

// textareaValue returns a person's text for a text field, with its white space, after the line end that
// browsers drop there.
func textareaValue(text string) string { return "\n" + showHiddenCharacters(text) }

// toComment returns the draft in the form that is sent.
func (d CommentDraftForm) toComment(commit string) nexus.ReviewComment {
	c := parseCommentPosition(d.Place)
	c.Kind, c.Body, c.Commit = nexus.CommentKind(d.Kind), strings.TrimSpace(strings.ReplaceAll(d.Body, "\r\n", "\n")), commit
	if d.Instead != "" {
		c.Replace = &nexus.SuggestedReplacement{Text: strings.ReplaceAll(d.Instead, "\r\n", "\n"), Apply: d.Apply}
	}
	return c
}

// submitReviewForm does the action of a review form: one command line of nexus review.
func (s *PageHandlers) submitReviewForm(w http.ResponseWriter, r *http.Request) {
	f, ok := readForm(w, r)
	if !ok {
		return
	}
	args, stdin, to := []string{"review", "--run", r.PathValue("run")}, "", ""
	task := []string{"--", r.PathValue("task")}
	draft := CommentDraftForm{f.Get("place"), f.Get("kind"), f.Get("body"), f.Get("instead"), f.Get("apply") != ""}
	switch do := f.Get("do"); do {
	case "draft":
		args = append(args, "--draft", "--batch", "-")
		stdin = jsonOf(nexus.ChangeReview{Comments: []nexus.ReviewComment{draft.toComment(f.Get("commit"))}})
		to = commentAnchor(parseCommentPosition(draft.Place))
	case "send":
		args = append(args, "--send")
	case "approve":
		args, stdin = append(args, "--batch", "-"), jsonOf(nexus.ChangeReview{Approve: true, Commit: f.Get("commit")})
	case "discard", "resolve", "apply", "viewed", "unviewed":
		args = append(args, "--"+do, access.QuoteListValue(f.Get("of")))
		to = map[bool]string{true: f.Get("of")}[do == "unviewed"]
	default:
		access.RefuseRequest(w, r, http.StatusUnprocessableEntity, access.ProblemError{
			Code: "invalid_input", Message: "nothing of a review has that name", Hint: "Reload the page, then try again.",
		})
		return
	}
	result := s.Act(context.WithoutCancel(r.Context()), access.PersonFrom(r.Context()), access.CommandInput{Args: append(args, task...), Stdin: stdin})
	words := strings.TrimSpace(strings.TrimSpace(result.Text) + "\n" + result.Hint)
	said := ActionResult{Text: words, Bad: result.Failed(), at: s.Now()}
	if f.Get("do") == "draft" && said.Bad { // the typed text stays
		s.screenHandler(func(r *http.Request) (templ.Component, error) { return s.reviewPage(r, draft, said) }).ServeHTTP(w, r)
		return
	}
	if said.Text == "" {
		said.Text = "done"
	}
	back := s.returnURL(f.Get("back"), s.said.storeResult(said))
	if to != "" {
		back += "#" + escapeFragment(to)
	}
	http.Redirect(w, r, back, http.StatusSeeOther)
}

// commentAnchor returns the anchor of a comment's line on the page.
func commentAnchor(c nexus.ReviewComment) string {
	switch {
	case c.Start == 0:
		return c.File
	case c.Side == nexus.OldSide:
		return c.File + ":B" + strconv.Itoa(c.LastLine())
	default:
		return c.File + ":L" + strconv.Itoa(c.LastLine())
	}
}
