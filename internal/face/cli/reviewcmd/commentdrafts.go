package reviewcmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/face/common/changereview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// draftsResult is the output about drafts.
type draftsResult struct {
	Run    nexus.RunID                 `json:"run"`
	Task   nexus.TaskID                `json:"task"`
	Drafts []changereview.DraftComment `json:"drafts"` // all unsent drafts
}

// keepDrafts stores comments until they are sent. They must pass the checks of comments, so that
// none is refused when all are sent.
func (d *reviewSession) keepDrafts(v nexus.ChangeReview) error {
	if len(v.Comments) == 0 {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--draft needs a comment",
			Hint: "Add one with --comment PLACE, or several with --batch FILE.",
		}
	}
	if len(v.Resolve)+len(v.Apply) > 0 || v.Approve {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "only comments can be drafts",
			Hint: "Leave resolve, apply and approve out of the batch, or send it at once.",
		}
	}
	if err := d.checkReview(v); err != nil {
		return err
	}
	before := len(d.reader.Drafts.All)
	if err := d.reader.Drafts.Add(v.Comments, d.console.Now()); err != nil {
		return err
	}
	now, err := d.unsentDrafts()
	if err != nil {
		return err
	}
	out := draftsResult{Run: d.run.ID, Task: d.task.ID, Drafts: now}
	return d.console.Answer(out, func(view.OutputStyle) string {
		return fmt.Sprintf("%s kept, %d in all; send them with: nexus review %s --send\n",
			view.CountWithNoun(len(v.Comments), "draft"), before+len(v.Comments), d.task.ID)
	})
}

// unsentDrafts returns the current unsent drafts.
func (d *reviewSession) unsentDrafts() ([]changereview.DraftComment, error) {
	now, err := changereview.LoadDrafts(d.place.State, d.run.ID, d.task.ID, d.console.UserName())
	if err != nil {
		return nil, err
	}
	all := []changereview.DraftComment{}
	for _, c := range now.UnsentDrafts(d.review.Comments, d.console.UserName()) {
		all = append(all, changereview.DraftComment{ReviewComment: c, Line: c.Start})
	}
	return all, nil
}

// discardDrafts discards drafts.
func (d *reviewSession) discardDrafts() error {
	for _, id := range d.Discard {
		if !slices.ContainsFunc(d.review.Drafts, func(c changereview.DraftComment) bool { return c.ID == id }) {
			hint := "There is none."
			if n := len(d.review.Drafts); n > 0 {
				hint = "There are " + d.review.Drafts[0].ID + " to " + d.review.Drafts[n-1].ID + "."
			}
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s has no draft %s of yours", d.task.ID, view.QuoteForTerminal(id)), Hint: hint,
			}
		}
	}
	d.review.Drafts = slices.DeleteFunc(d.review.Drafts, func(c changereview.DraftComment) bool { return slices.Contains(d.Discard, c.ID) })
	return d.reader.Drafts.Remove(d.Discard, d.console.Now())
}

// sendDrafts sends all drafts, with the other parts of the review, as one request. A concurrent
// call waits, and then finds no drafts.
func (d *reviewSession) sendDrafts(ctx context.Context, v nexus.ChangeReview) error {
	return filewrite.WithLock(ctx, d.reader.Drafts.LockFile(), func(ctx context.Context) error {
		var err error
		if d.state, err = d.place.Replay(ctx, d.run.ID); err != nil {
			return err
		}
		d.task = d.state.TaskByID(d.task.ID)
		if d.reader.Drafts, err = changereview.LoadDrafts(d.place.State, d.run.ID, d.task.ID, d.console.UserName()); err != nil {
			return err
		}
		if d.review, err = d.reader.BuildReview(ctx, d.state, d.task); err != nil {
			return err
		}
		var ids []string
		for _, c := range d.review.Drafts {
			ids = append(ids, c.ID)
			c.ID = ""
			v.Comments = append(v.Comments, c.ReviewComment)
		}
		if v.IsEmpty() {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is nothing to send: you have no draft about %s", d.task.ID),
				Hint: fmt.Sprintf("Write one with nexus review %s --comment PLACE --draft TEXT.", d.task.ID),
			}
		}
		d.sending = ids
		return d.sendReview(ctx, v)
	})
}
