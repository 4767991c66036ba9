package console

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ShowLoop shows the state of a loop of the repository; an empty name means the last loop.
func (a *Console) ShowLoop(ctx context.Context, p *app.Repository, name nexus.RunID) error {
	l, r, err := p.LoadLoop(ctx, name)
	if err != nil {
		return err
	}
	if r == nil {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: "no improvement loop has run in this repository yet",
			Hint: "Start with nexus improve --once.",
		}
	}
	return a.AnswerLoop(ctx, p, l, r.Holder != nil)
}

// AnswerLoop prints the state of a loop, and the deleted branches among its results; running
// means that it has a conductor.
func (a *Console) AnswerLoop(ctx context.Context, p *app.Repository, l *improveloop.ImproveLoop, running bool) error {
	v := view.NewImproveLoopView(l, running, a.Now())
	for _, i := range l.ItemsWaitingForPerson() {
		if branch := i.ResultBranch(); branch != "" {
			_, err := p.Repo.Resolve(ctx, "refs/heads/"+branch)
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
				continue
			}
			if v.Waiting--; !slices.Contains(v.Gone, branch) {
				v.Gone = append(v.Gone, branch)
			}
		}
	}
	return a.Answer(v, func(s view.OutputStyle) string { return view.DrawLoop(s, v) })
}

// RefuseLoop returns an error if a run is a loop, for a command about the work of a single run;
// otherwise nil.
func RefuseLoop(s *state.State) error {
	if s.Goal.Goal.Mode != nexus.Improve {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is a loop: each piece of its work is a run of its own", s.Run),
		Hint: fmt.Sprintf("Name one of them, such as %s-1; nexus improve --status lists them.", s.Run),
	}
}
