package tui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/face/tui/reviewsheet"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// reviewTab is the tab in which a person reviews the selected task's change. Each comment is a
// command line, nexus review TASK: an unsent one is a draft there, which the browser and the next
// start of this program also show.
type reviewTab struct {
	task   nexus.TaskID
	at     int    // the row that keys act on
	key    string // key of that row
	from   int    // start of the selected rows; -1: only the current one
	begun  string // key of that row
	top    int    // the first visible row
	since  bool   // only the changes since the last review
	turned map[string]bool

	rows []reviewsheet.Row // layout of the fields below
	of   *commandOutputDocument
	how  string
}

// isDiffFocused reports whether keys move in a change.
func (m *Model) isDiffFocused() bool {
	return m.right && m.tab == DiffTab && m.view.isList() && m.snap.Task != nil
}

// currentReview returns the change on the screen; nil: none.
func (m *Model) currentReview() *changereview.TaskChangeReview {
	d, _ := m.documentOrReason(m.diffKey())
	if d == nil || m.tab != DiffTab {
		return nil
	}
	m.layOutReview(d)
	return &d.review
}

// layOutReview returns the rows of the change. It finds the current row again after the change was
// updated.
func (m *Model) layOutReview(d *commandOutputDocument) []reviewsheet.Row {
	k := &m.reviewing
	if k.task != d.review.Task {
		*k = reviewTab{task: d.review.Task, from: -1, turned: map[string]bool{}}
	}
	how := fmt.Sprint(k.since, k.turned)
	if k.of == d && k.how == how {
		return k.rows
	}
	k.rows = reviewsheet.LayoutRows(d.review, reviewsheet.Options{Since: k.since, Turned: k.turned})
	k.of, k.how = d, how
	if at := slices.IndexFunc(k.rows, func(r reviewsheet.Row) bool { return k.key != "" && r.Key() == k.key }); at >= 0 {
		k.at = at
	} else {
		k.from = -1
	}
	if k.from >= 0 {
		k.from = slices.IndexFunc(k.rows, func(r reviewsheet.Row) bool { return k.begun != "" && r.Key() == k.begun })
	}
	k.at = min(max(k.at, 0), len(k.rows)-1)
	return k.rows
}

// moveTo moves to a row.
func (k *reviewTab) moveTo(at int) {
	k.at = min(max(at, 0), max(len(k.rows)-1, 0))
	k.key = ""
	if k.at < len(k.rows) {
		k.key = k.rows[k.at].Key()
	}
}

// seekRow moves to the next row of a kind, or to the previous one.
func (k *reviewTab) seekRow(by int, kind reviewsheet.Kind) {
	for at := k.at + by; at >= 0 && at < len(k.rows); at += by {
		if k.rows[at].Kind == kind {
			k.moveTo(at)
			return
		}
	}
}

func (k *reviewTab) currentRow() reviewsheet.Row {
	if k.at < len(k.rows) {
		return k.rows[k.at]
	}
	return reviewsheet.Row{}
}

// handleReviewKey handles a key in a change. It reports false for a key with its general meaning.
func (m *Model) handleReviewKey(name string) (cmd tea.Cmd, mine bool) {
	r := m.currentReview()
	if r == nil {
		return nil, false
	}
	k := &m.reviewing
	switch name {
	case "select":
		if k.from >= 0 {
			k.from = -1
		} else {
			k.from, k.begun = k.at, k.currentRow().Key()
		}
	case "comment":
		m.beginComment(r, nexus.ShouldComment, false)
	case "suggest":
		m.beginComment(r, nexus.ShouldComment, true)
	case "send":
		return m.sendDrafts(r), true
	case "viewed":
		return m.toggleViewed(r), true
	case "resolve":
		return m.resolveOrApply(r, name), true
	case "apply":
		return m.resolveOrApply(r, name), true
	case "next-file":
		k.seekRow(1, reviewsheet.File)
	case "previous-file":
		k.seekRow(-1, reviewsheet.File)
	case "next-hunk":
		k.seekRow(1, reviewsheet.Hunk)
	case "previous-hunk":
		k.seekRow(-1, reviewsheet.Hunk)
	case "diff":
		m.toggleChangesSinceReview(r)
	case "edit":
		return m.runCommandOfRunInTerminal("review", m.o.Run, "--editor", "--", string(r.Task)), true
	case "open":
		m.openReviewRow(r)
	case "back":
		if k.from < 0 {
			return nil, false
		}
		k.from = -1
	case "reject":
		if k.currentRow().Kind != reviewsheet.Draft {
			return nil, false
		}
		m.discardDraft(r)
	case "approve":
		return m.approveChange(r)
	default:
		return nil, false
	}
	return nil, true
}

// approveChange approves the change in the version on the screen, not a later one.
func (m *Model) approveChange(r *changereview.TaskChangeReview) (cmd tea.Cmd, mine bool) {
	if r.Question != "" {
		return m.answerLandingQuestion(r), true
	}
	if !r.Open {
		return nil, false
	}
	batch, err := json.Marshal(nexus.ChangeReview{Approve: true, Commit: r.Commit})
	if err != nil {
		m.showNotice(true, "%s", err)
		return nil, true
	}
	title := fmt.Sprintf("Approve the change of %s?", view.EscapeForTerminal(string(r.Task)))
	m.dialog = dialog{kind: confirmDialog, title: title, then: func(string) tea.Cmd {
		return m.runCommandLines("approve", commandLine{[]string{"review", "--run", string(m.o.Run), "--batch", "-", "--", string(r.Task)}, string(batch)})
	}}
	return nil, true
}

// answerLandingQuestion answers the question whether the change may land, even if other questions wait.
func (m *Model) answerLandingQuestion(r *changereview.TaskChangeReview) tea.Cmd {
	for _, i := range m.snap.Inbox {
		if i.ID != r.Question {
			continue
		}
		if a, _ := actionOf(i.Actions, "approve"); a != nil {
			return m.startAction(*a)
		}
	}
	m.showNotice(true, "%s is answered already", view.EscapeForTerminal(r.Question))
	return nil
}

// runReviewCommand runs nexus review.
func (m *Model) runReviewCommand(what string, args ...string) tea.Cmd {
	return m.runCommandLine(what, append([]string{"review", "--run", string(m.o.Run)}, args...))
}

// toggleChangesSinceReview toggles between the changes since the last review and all changes.
func (m *Model) toggleChangesSinceReview(r *changereview.TaskChangeReview) {
	if r.Since == nil && !m.reviewing.since {
		m.showNotice(true, "you have not reviewed it yet: all of it is shown")
		return
	}
	m.reviewing.since = !m.reviewing.since
	m.reviewing.from = -1
}

// openReviewRow folds a file, edits a draft, or replies to a comment.
func (m *Model) openReviewRow(r *changereview.TaskChangeReview) {
	switch row := m.reviewing.currentRow(); row.Kind {
	case reviewsheet.File, reviewsheet.Hunk:
		m.reviewing.turned[row.Path] = !m.reviewing.turned[row.Path]
	case reviewsheet.Draft:
		d := r.Drafts[row.Draft]
		c := d.ReviewComment
		c.ID = ""
		m.composeComment(r, c, d.ID)
	case reviewsheet.CommentText, reviewsheet.Line:
		m.beginComment(r, nexus.ShouldComment, false)
	default:
	}
}

// beginComment begins a comment on the selection.
func (m *Model) beginComment(r *changereview.TaskChangeReview, kind nexus.CommentKind, suggest bool) {
	k := &m.reviewing
	if !r.Open {
		m.showNotice(true, "%s", cmp.Or(r.Why, "it takes no comments now"))
		return
	}
	from := k.at
	if k.from >= 0 {
		from = k.from
	}
	c, why := reviewsheet.NewComment(*r, k.rows, from, k.at)
	if why == "" && suggest && (c.Start == 0 || c.Side == nexus.OldSide) {
		why = "a suggestion needs existing lines: go to one, or select some"
	}
	if why == "" && suggest && strings.Count(reviewsheet.CurrentText(k.rows, c), "\n") != c.LastLine()-c.Start+1 {
		why = "a suggestion replaces all lines from the first to the last, and some are not shown: select lines without a gap"
	}
	if why == "" && k.since && c.Side == nexus.OldSide {
		why = fmt.Sprintf("these lines existed at your last review, but not before the change: %s shows the whole change", m.keyOf("diff"))
	}
	if why != "" {
		m.showNotice(true, "%s", why)
		return
	}
	c.Kind = kind
	if suggest {
		c.Replace = &nexus.SuggestedReplacement{Text: reviewsheet.CurrentText(k.rows, c)}
	}
	m.composeComment(r, c, "")
}

// composeComment lets the person type a comment: its text, or, for a suggestion, the new lines.
func (m *Model) composeComment(r *changereview.TaskChangeReview, c nexus.ReviewComment, old string) {
	text := c.Body
	if c.Replace != nil {
		text = strings.TrimSuffix(c.Replace.Text, "\n")
	}
	task := r.Task
	d := dialog{kind: inputDialog, must: c.Replace == nil, field: newTextField(text, true)}
	title := func(kind nexus.CommentKind) string {
		if c.Replace != nil {
			return fmt.Sprintf("%s, instead of %s", kind, c.LocationText())
		}
		return fmt.Sprintf("%s on %s", kind, c.LocationText())
	}
	d.title, d.hint = title(c.Kind), "tab: must, should, question or praise; alt+enter: another line"
	d.turn = func(d *dialog) {
		kinds := nexus.CommentKinds()
		c.Kind = kinds[(slices.Index(kinds, c.Kind)+1)%len(kinds)]
		d.title = title(c.Kind)
	}
	d.then = func(text string) tea.Cmd {
		if c.Replace != nil {
			if text != "" {
				text += "\n"
			}
			c.Replace = &nexus.SuggestedReplacement{Text: text}
		} else {
			c.Body = text
		}
		m.reviewing.from = -1
		return m.saveDraft(task, c, old)
	}
	m.dialog = d
}

// saveDraft stores a comment as a draft, and replaces an old one.
func (m *Model) saveDraft(task nexus.TaskID, c nexus.ReviewComment, old string) tea.Cmd {
	batch, err := json.Marshal(map[string]any{"comments": []nexus.ReviewComment{c}})
	if err != nil {
		m.showNotice(true, "%s", err)
		return nil
	}
	draft := commandLine{[]string{"review", "--run", string(m.o.Run), "--draft", "--batch", "-", "--", string(task)}, string(batch)}
	if old == "" {
		return m.runCommandLines("comment", draft)
	}
	return m.runCommandLines("comment", draft, commandLine{[]string{"review", "--run", string(m.o.Run), "--discard", old, "--", string(task)}, ""})
}

// discardDraft discards the draft that keys act on.
func (m *Model) discardDraft(r *changereview.TaskChangeReview) {
	id := r.Drafts[m.reviewing.currentRow().Draft].ID
	m.dialog = dialog{kind: confirmDialog, title: "Discard this comment?", then: func(string) tea.Cmd {
		return m.runReviewCommand("discard", "--discard", id, "--", string(r.Task))
	}}
}

// sendDrafts sends the unsent comments as one batch.
func (m *Model) sendDrafts(r *changereview.TaskChangeReview) tea.Cmd {
	if len(r.Drafts) == 0 {
		m.showNotice(true, "there is nothing to send: %s adds a comment", m.keyOf("comment"))
		return nil
	}
	return m.runReviewCommand("send", "--send", "--", string(r.Task))
}

// toggleViewed toggles whether the file is marked as viewed.
func (m *Model) toggleViewed(r *changereview.TaskChangeReview) tea.Cmd {
	path := m.reviewing.currentRow().Path
	for _, f := range r.Files {
		if f.Path != path || path == "" {
			continue
		}
		flag := "--viewed"
		if f.Viewed {
			flag = "--unviewed"
		}
		delete(m.reviewing.turned, path)
		m.reviewing.moveTo(slices.IndexFunc(m.reviewing.rows, func(x reviewsheet.Row) bool { return x.Kind == reviewsheet.File && x.Path == path }))
		return m.runReviewCommand("viewed", flag+"="+quoteCSV(path), "--", string(r.Task))
	}
	m.showNotice(true, "go to a file first")
	return nil
}

// quoteCSV quotes a value of a flag with several values, separated by commas.
func quoteCSV(text string) string {
	if !strings.ContainsAny(text, ",\"\n\r ") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// resolveOrApply resolves a comment, or applies its suggestion.
func (m *Model) resolveOrApply(r *changereview.TaskChangeReview, name string) tea.Cmd {
	row := m.reviewing.currentRow()
	if row.Kind != reviewsheet.CommentText || r.Comments[row.Comment].ID == "" {
		m.showNotice(true, "go to a comment first")
		return nil
	}
	c := r.Comments[row.Comment]
	if name == "apply" && c.Replace == nil {
		m.showNotice(true, "%s suggests nothing", c.ID)
		return nil
	}
	return m.runReviewCommand(name, "--"+name, c.ID, "--", string(r.Task))
}

// runCommandOfRunInTerminal runs a command line of this program with the terminal.
func (m *Model) runCommandOfRunInTerminal(command string, run nexus.RunID, args ...string) tea.Cmd {
	args = append([]string{command, "--run", string(run)}, args...)
	return m.runInTerminal(args...)
}

// diffLines draws the selected task's change, within a height.
func (m *Model) diffLines(width, height int) []string {
	d, why := m.documentOrReason(m.diffKey())
	if d == nil {
		return m.b.wrapLines([]string{why}, width, true)
	}
	rows := m.layOutReview(d)
	k := &m.reviewing
	from, to := k.at, k.at
	if k.from >= 0 {
		from, to = min(k.from, k.at), max(k.from, k.at)
	}
	draw := func(i int) []string {
		lines := m.reviewRowLines(rows[i], width-2)
		for j, l := range lines {
			sign := " "
			switch {
			case m.right && i == k.at && j == 0:
				sign = m.b.Bold(">")
			case m.right && i >= from && i <= to && from < to:
				sign = m.b.Warn("*")
			}
			lines[j] = sign + " " + l
			if m.right && i == k.at && m.b.Color {
				lines[j] = m.b.selectedLine(sign+" "+l, width, true)
			}
		}
		return lines
	}
	k.top = max(min(k.top, k.at), k.at-height+1, 0)
	used := 0
	for i := k.at; i >= k.top; i-- { // the current row is visible, even if rows before it are wrapped
		if used += len(draw(i)); used > height && i < k.at {
			k.top = i + 1
			break
		}
	}
	var lines []string
	for i := k.top; i < len(rows) && len(lines) < height; i++ {
		lines = append(lines, draw(i)...)
	}
	return lines
}

// reviewRowLines draws a row in one line, or in several if it is wrapped.
func (m *Model) reviewRowLines(r reviewsheet.Row, width int) []string {
	b := m.b
	switch r.Kind {
	case reviewsheet.Blank:
		return []string{""}
	case reviewsheet.Head:
		switch {
		case r.Warn:
			return b.wrapLines([]string{b.Warn("! " + r.Text)}, width, true)
		case r.First:
			return b.wrapLines([]string{b.Bold(r.Text)}, width, true)
		}
		return b.wrapLines([]string{b.Dim(r.Text)}, width, true)
	case reviewsheet.File:
		sign := b.symbolOrASCII("\u25be ", "- ")
		if r.Hidden {
			sign = b.symbolOrASCII("\u25b8 ", "+ ")
		}
		return []string{b.truncateLine(sign+b.Bold(r.Text), width)}
	case reviewsheet.Hunk:
		return []string{b.truncateLine(b.Busy(r.Text), width)}
	case reviewsheet.CommentText, reviewsheet.Draft:
		return m.commentRowLines(r, width)
	default:
		return b.wrapLines([]string{b.diffLine(r)}, width, m.wrap)
	}
}

// commentRowLines draws a row of a comment after a bar.
func (m *Model) commentRowLines(r reviewsheet.Row, width int) []string {
	bar := m.b.symbolOrASCII("\u2503 ", "> ")
	text := r.Text
	switch {
	case r.Kind == reviewsheet.Draft && r.First:
		bar, text = m.b.Busy(bar), m.b.Busy(text)
	case r.Kind == reviewsheet.Draft:
		bar = m.b.Busy(bar)
	case r.Warn && r.First:
		bar, text = m.b.Warn(bar), m.b.Warn(m.b.Bold("! "+text))
	case r.Warn:
		bar = m.b.Warn(bar)
	case r.First:
		text = m.b.Bold(text)
	}
	indent := strings.Repeat(" ", len(r.Text)-len(strings.TrimLeft(r.Text, " ")))
	lines := m.b.wrapLines([]string{strings.TrimPrefix(text, indent)}, width-6-len(indent), true)
	for i, l := range lines {
		lines[i] = "    " + bar + indent + l
	}
	return lines
}

// diffLine draws a line of a change.
func (b stylePainter) diffLine(r reviewsheet.Row) string {
	l := r.Line
	switch l.Kind {
	case "+":
		return b.Good(fmt.Sprintf("%5d +", l.New)) + " " + b.drawCode(r.Spans)
	case "-":
		return b.Bad(fmt.Sprintf("%5d -", l.Old)) + " " + b.drawCode(r.Spans)
	default:
		return b.Dim(fmt.Sprintf("%5d  ", l.New)) + " " + b.drawCode(r.Spans)
	}
}
