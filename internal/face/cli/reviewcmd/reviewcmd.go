// Package reviewcmd implements the command "nexus review": models review a change, or a person
// reviews the change of a task: it is shown, and the comments are sent as one request.
package reviewcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// concernsTask reports whether the options are about a task's change: a flag is about one, or the
// argument names a task of the latest run.
func (o *Options) concernsTask(ctx context.Context) bool {
	a, args := o.Console, o.Args
	if o.AboutTask {
		return true
	}
	if len(args) == 0 || strings.Contains(args[0], "..") {
		return false
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return false // it is a range of a repository without runs
	}
	defer p.Close()
	r, err := p.FindRun(ctx, "")
	if err != nil {
		return false
	}
	s, err := p.Replay(ctx, r.ID)
	return err == nil && s.TaskByID(nexus.TaskID(args[0])) != nil
}

// reviewSession is a task's change that a person reviews.
type reviewSession struct {
	Options
	console *console.Console
	place   *app.Repository
	run     journal.RecordedRun
	state   *state.State
	task    *state.TaskState
	reader  changereview.ReviewBuilder
	review  changereview.TaskChangeReview
	wait    time.Duration // time to wait for the conductor's answer
	kept    string        // the patch with the comments until they are in the journal
	sending []string      // drafts among the comments
}

// reviewTask shows a task's change, or sends a review of it.
func (o *Options) reviewTask(ctx context.Context) error {
	a, args := o.Console, o.Args
	if len(args) == 0 {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "name the task whose change you review",
			Hint: "nexus status lists the tasks.",
		}
	}
	if len(args) > 1 && o.Comment == "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "a text is the comment of --comment PLACE",
			Hint: "See nexus help review.",
		}
	}
	p, err := a.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	d := &reviewSession{Options: *o, console: a, place: p, wait: patience}
	if d.run, err = a.FindRun(ctx, p, o.Run); err != nil {
		return err
	}
	if d.state, err = p.Replay(ctx, d.run.ID); err != nil {
		return err
	}
	if d.task = d.state.TaskByID(nexus.TaskID(args[0])); d.task == nil {
		return app.NotFoundError("task", args[0], "nexus status lists them.")
	}
	seen, err := changereview.LoadViewedFiles(p.State, d.run.ID, d.task.ID, a.UserName())
	if err != nil {
		return err
	}
	d.reader = changereview.ReviewBuilder{Repo: git.Repo{Dir: filepath.Join(p.State, "repo.git")}, Who: a.UserName(), Seen: seen}
	if d.reader.Drafts, err = changereview.LoadDrafts(p.State, d.run.ID, d.task.ID, a.UserName()); err != nil {
		return err
	}
	if d.review, err = d.reader.BuildReview(ctx, d.state, d.task); err != nil {
		return err
	}
	text := ""
	if len(args) > 1 {
		text = args[1]
	}
	return d.performReview(ctx, text)
}

func (d *reviewSession) performReview(ctx context.Context, text string) error {
	if len(d.Viewed)+len(d.Unviewed) > 0 {
		if err := d.markViewed(); err != nil {
			return err
		}
	}
	if len(d.Discard) > 0 {
		if err := d.discardDrafts(); err != nil {
			return err
		}
	}
	v := nexus.ChangeReview{Base: d.review.Base, Commit: d.review.Commit, Resolve: d.Resolve, Apply: d.Apply, Approve: d.Approve}
	var err error
	switch {
	case d.Comment != "":
		err = d.addComment(&v, text)
	case d.Batch != "":
		err = d.readBatchData(ctx, &v)
	case d.Editor:
		var sent bool
		if sent, err = d.editComments(&v); err == nil && !sent { //nolint:contextcheck // the editor ends with its person
			d.console.Say("no comment, nothing was sent")
			return nil
		}
	}
	switch {
	case err != nil:
		return err
	case d.Draft:
		return d.keepDrafts(v)
	case d.Send:
		return d.sendDrafts(ctx, v)
	case v.IsEmpty():
		return d.printChange()
	}
	return d.sendReview(ctx, v)
}

// markViewed records which files were viewed.
func (d *reviewSession) markViewed() error {
	for _, set := range []struct {
		files []string
		seen  bool
	}{{d.Viewed, true}, {d.Unviewed, false}} {
		for _, name := range set.files {
			f, err := d.findFile(name)
			if err != nil {
				return err
			}
			hash := ""
			if set.seen {
				hash = f.Hash
			}
			if err := d.reader.Seen.MarkFile(f.Path, hash, d.console.Now()); err != nil {
				return err
			}
			if set.seen && !f.Viewed {
				d.review.Seen++
			} else if !set.seen && f.Viewed {
				d.review.Seen--
			}
			f.Viewed, f.Reopened = set.seen, false
		}
	}
	return nil
}

// findFile returns the file of the change with that name.
func (d *reviewSession) findFile(name string) (*changereview.ReviewedFile, error) {
	var all []string
	for i, f := range d.review.Files {
		if f.Path == name {
			return &d.review.Files[i], nil
		}
		all = append(all, f.Path)
	}
	hint := "The change has no files."
	if len(all) > 0 {
		hint = "It changes " + nexus.JoinWords(all[:min(len(all), 10)]) + "."
	}
	return nil, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s does not change %s", d.task.ID, view.QuoteForTerminal(name)),
		Hint: hint,
	}
}

// addComment builds a comment from flags.
func (d *reviewSession) addComment(v *nexus.ChangeReview, text string) error {
	c := nexus.ReviewComment{Kind: nexus.CommentKind(d.Kind), Body: strings.TrimSpace(text), Commit: d.review.Commit}
	if c.Kind == "" {
		c.Kind = nexus.ShouldComment
	}
	if d.Comment != "." {
		name, lines, ok := cutLast(d.Comment)
		start, end, fits := diffreview.ParseLines(lines)
		if c.File = d.Comment; ok && fits {
			c.File, c.Start, c.End, c.Side = name, start, end, nexus.NewSide
		}
		f, err := d.findFile(c.File)
		if err != nil {
			return err
		}
		c.Hunk = diffreview.CommentExcerpt([]diffreview.DiffFile{f.DiffFile}, c)
	}
	if d.Suggest != "" {
		c.Replace = &nexus.SuggestedReplacement{Text: d.Suggest}
	}
	v.Comments = append(v.Comments, c)
	return nil
}

// cutLast splits a text at its last colon.
func cutLast(text string) (before, after string, ok bool) {
	i := strings.LastIndexByte(text, ':')
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+1:], true
}

// printChange prints the change.
func (d *reviewSession) printChange() error {
	if len(d.Viewed)+len(d.Unviewed) > 0 && !d.console.JSON {
		d.console.Say("%d of %s viewed", d.review.Seen, view.CountWithNoun(len(d.review.Files), "file"))
		return nil
	}
	if len(d.Discard) > 0 && !d.console.JSON {
		d.console.Say("%s left", view.CountWithNoun(len(d.review.Drafts), "draft"))
		return nil
	}
	if d.Since && d.review.Since == nil {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("you have not reviewed %s yet", d.task.ID),
			Hint: fmt.Sprintf("nexus review %s shows all of the change.", d.task.ID),
		}
	}
	return d.console.Answer(d.review, func(s view.OutputStyle) string {
		if d.Since {
			return changereview.DrawChangesSinceReview(s, d.review)
		}
		return changereview.DrawReview(s, d.review, d.All)
	})
}

// reviewResult is the output about a request.
type reviewResult struct {
	Run      nexus.RunID  `json:"run"`
	Task     nexus.TaskID `json:"task"`
	Seq      int64        `json:"seq"`     // of the request in the journal
	Held     bool         `json:"held"`    // the run has a conductor
	Settled  bool         `json:"settled"` // the conductor answered
	Granted  bool         `json:"granted"`
	Why      string       `json:"why,omitzero"`
	Comments int          `json:"comments"`
}

const patience = 5 * time.Second

var errPatience = errors.New("there was no answer in time")

// checkReview returns an error if the change cannot be reviewed any more, or not in this way.
func (d *reviewSession) checkReview(v nexus.ChangeReview) error {
	if why := schedule.UnreviewableReason(d.state, d.task); why != "" {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "review: " + why, Hint: d.nextStepHint(v)}
	}
	if why := schedule.ReviewProblem(d.task, &v); why != "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "review: " + why,
			Hint: fmt.Sprintf("nexus review %s shows the change and its comments.", d.task.ID),
		}
	}
	return nil
}

// sendReview makes the request and prints its result.
func (d *reviewSession) sendReview(ctx context.Context, v nexus.ChangeReview) error {
	if err := d.checkReview(v); err != nil {
		return err
	}
	e, err := d.place.Journal.Ask(ctx, d.run.ID, nexus.Request{Verb: nexus.VerbReview, Task: d.task.ID, By: d.console.UserName(), Review: &v})
	if err != nil {
		return err
	}
	back, err := d.removeSentDrafts(v)
	if err != nil {
		return err
	}
	out := reviewResult{Run: d.run.ID, Task: d.task.ID, Seq: e.Seq, Held: d.run.Holder != nil, Comments: len(v.Comments)}
	if out.Held {
		if err := d.awaitReply(ctx, &out); err != nil {
			return err
		}
	}
	if out.Settled && !out.Granted {
		if err := back(); err != nil {
			return err
		}
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "review was refused: " + out.Why, Hint: d.nextStepHint(v)}
	}
	return d.console.Answer(out, func(view.OutputStyle) string {
		said := fmt.Sprintf("review of %s: %s", d.task.ID, d.contentSummary(v))
		switch {
		case out.Granted:
			return said + "; accepted\n"
		case out.Held:
			return said + fmt.Sprintf("; requested, run %s has not answered yet\n", d.run.ID)
		default:
			return said + fmt.Sprintf("; recorded, run %s is not in progress, continue it with: nexus resume\n", d.run.ID)
		}
	})
}

// removeSentDrafts deletes the stored drafts or patch once they are in the journal, so that they are not
// sent again. It returns the function that restores them if the request is refused.
func (d *reviewSession) removeSentDrafts(v nexus.ChangeReview) (back func() error, err error) {
	back = func() error { return nil }
	if d.kept != "" {
		patch, err := os.ReadFile(d.kept)
		if err != nil {
			return nil, err
		}
		back = func() error { return writeFileAtomically(d.kept, string(patch)) }
		if err := os.Remove(d.kept); err != nil {
			return nil, err
		}
	}
	if len(d.sending) > 0 {
		back = func() error { return d.reader.Drafts.Add(v.Comments, d.console.Now()) }
	}
	return back, d.reader.Drafts.Remove(d.sending, d.console.Now())
}

// contentSummary describes in a few words what is sent.
func (d *reviewSession) contentSummary(v nexus.ChangeReview) string {
	var parts []string
	if n := len(v.Comments); n > 0 {
		parts = append(parts, view.CountWithNoun(n, "comment"))
	}
	if len(v.Resolve) > 0 {
		parts = append(parts, "resolve "+nexus.JoinWords(v.Resolve))
	}
	if len(v.Apply) > 0 {
		parts = append(parts, "apply "+nexus.JoinWords(v.Apply))
	}
	if v.Approve {
		parts = append(parts, "approved")
	}
	return strings.Join(parts, ", ")
}

// nextStepHint describes the alternatives if the change cannot be reviewed any more.
func (d *reviewSession) nextStepHint(v nexus.ChangeReview) string {
	if d.task.Status == nexus.Landed && len(v.Comments) > 0 {
		c := v.Comments[0]
		return fmt.Sprintf("Let another task do it: nexus add %s", view.QuoteForTerminal(nexus.OneLine(fmt.Sprintf("After %s, %s: %s",
			d.task.ID, c.LocationText(), c.Body))))
	}
	return fmt.Sprintf("nexus review %s shows the change as it is.", d.task.ID)
}

// awaitReply waits a while for the conductor's answer.
func (d *reviewSession) awaitReply(ctx context.Context, out *reviewResult) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d.wait, errPatience)
	defer cancel()
	for e, err := range d.place.Journal.Follow(ctx, out.Run, out.Seq) {
		if err != nil {
			if errors.Is(context.Cause(ctx), errPatience) {
				return nil
			}
			return err
		}
		if f, ok := e.Fact.(nexus.RequestSettled); ok && f.Seq == out.Seq {
			out.Settled, out.Granted, out.Why = true, f.Granted, f.Why
			return nil
		}
	}
	return nil
}
