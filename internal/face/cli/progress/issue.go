package progress

import (
	"context"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/hook"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/forge"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/sentlog"
)

// commenter keeps one comment up to date on the issue that a run's goal came from.
type commenter struct {
	watcher *watcher
	run     nexus.RunID
	ref     forge.Ref
	book    *sentlog.Log // IDs of comments by run
}

// commenter returns what is told of a run whose goal is an issue that wants a comment; false for any other run.
func (w *watcher) commenter(ctx context.Context, id nexus.RunID) (hook.Observer, bool, error) {
	none := hook.Observer{}
	s, err := w.fold(ctx, id)
	if err != nil || !s.Goal.Goal.Comment {
		return none, false, err
	}
	ref, err := w.a.IssueRef(ctx, s.Goal.Goal.Source)
	if err != nil || ref == (forge.Ref{}) {
		return none, false, err
	}
	book, err := sentlog.Open(filepath.Join(w.place.State, "issues.json"))
	if err != nil {
		return none, false, err
	}
	c := commenter{w, id, ref, book}
	return hook.Observer{Name: "issue", Who: "the comment on " + ref.Web, Is: c.is, Tell: c.tell}, true, nil
}

// is reports whether readers of an issue hear of it.
func (c commenter) is(p nexus.HookPoint) bool {
	switch p {
	case nexus.HookPlanReady, nexus.HookTaskStart, nexus.HookTaskDone, nexus.HookTaskParked, nexus.HookTaskFailed, nexus.HookQuestion,
		nexus.HookRunLanded, nexus.HookRunEnd:
		return true
	default:
		return false
	}
}

// tell writes how the run stands now, which may be further than the event is.
func (c commenter) tell(ctx context.Context, _ hookcmd.Event) (why string, err error) {
	s, err := c.watcher.fold(ctx, c.run)
	if err != nil {
		return "", err
	}
	client, mark := forge.Client{}, forge.Mark(string(c.run))
	text := mark + c.watcher.a.Mask.Text(view.Comment(view.Of(s, c.watcher.a.Now())))
	id, known := c.book.Of(string(c.run))
	if !known { // it was written, perhaps, and its ID was not
		if id, err = client.Find(ctx, c.ref, mark); err != nil {
			return err.Error(), ctx.Err()
		}
	}
	if id, err = client.Write(ctx, c.ref, id, text); err != nil {
		return err.Error(), ctx.Err()
	}
	return "", c.book.Put(string(c.run), id)
}

// fold returns the state of a run as the journal has it now.
func (w *watcher) fold(ctx context.Context, id nexus.RunID) (*state.State, error) {
	s := state.New(id)
	for e, err := range w.place.Journal.Events(ctx, id, 0) {
		if err != nil {
			return nil, err
		}
		if err := s.Apply(e); err != nil {
			return nil, err
		}
	}
	return s, nil
}
