package progress

import (
	"context"
	"iter"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/issuecomment"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// keepIssueComment keeps one comment up to date on the issue of a run's goal, if the run is configured to
// do that. The returned function writes the last text.
func (w *consoleWatcher) keepIssueComment(ctx context.Context, id nexus.RunID) (end func(), err error) {
	nothing := func() {}
	s, err := w.readState(ctx, id)
	if err != nil || !s.Goal.Goal.Comment {
		return nothing, err
	}
	ref, err := w.a.ParseIssueRef(ctx, s.Goal.Goal.Source)
	if err == nil && (ref == forge.IssueRef{} || ref.Token == "") {
		err = missingTokenError(s.Goal.Goal.Source)
	}
	if err != nil {
		return nothing, err
	}
	client, mark, known := forge.Client{}, forge.RunCommentMark(string(id)), ""
	c := issuecomment.CommentWriter{
		Draw: func(s *state.State) string {
			return mark + w.a.Mask.MaskText(view.IssueComment(projection.BuildRunView(s, projection.RunFactsOutsideJournal{}, w.a.Now())))
		},
		Passing: forge.IsTransient,
		Say: func(err error) {
			w.shown.printMessage("the comment on %s could not be written: %s", view.EscapeForTerminal(ref.Web), view.EscapeForTerminal(err.Error()))
		},
		Write: func(ctx context.Context, text string) (err error) {
			if known == "" { // an earlier process may have written it, or a request whose response was lost
				if known, err = client.FindComment(ctx, ref, mark); err != nil {
					return err
				}
			}
			id, err := client.WriteComment(ctx, ref, known, text)
			if err == nil {
				known = id
			}
			return err
		},
	}
	live := func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error] {
		return w.place.Journal.Follow(ctx, id, after)
	}
	left := func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error] {
		return w.place.Journal.Events(ctx, id, after)
	}
	return c.Follow(ctx, s, live, left), nil
}

func missingTokenError(address string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "this run writes a comment on " + address + ", but there is no token for it",
		Hint: "Set GITHUB_TOKEN or GITLAB_TOKEN as the command that started the run had it; the work continues without the comment.",
	}
}

// readState returns the current state of a run from the journal.
func (w *consoleWatcher) readState(ctx context.Context, id nexus.RunID) (*state.State, error) {
	// Events after a signal count, too.
	return state.ReplayRun(id, w.place.Journal.Events(context.WithoutCancel(ctx), id, 0))
}
