package console

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ShowLoop shows how a loop of the repository stands; an empty name means the last.
func (a *Console) ShowLoop(ctx context.Context, p *app.Place, name nexus.RunID) error {
	l, r, err := p.Loop(ctx, name)
	if err != nil {
		return err
	}
	if r == nil {
		return &nexus.Error{
			Code: nexus.CodeNotFound, Message: "nothing has improved this repository yet",
			Hint: "Start with nexus improve --once.",
		}
	}
	v := view.OfLoop(l, r.Holder != nil, a.Now())
	return a.Answer(v, func(s view.Style) string { return view.DrawLoop(s, v) })
}
