package startcmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/inquiry"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
)

// clarify asks the person who is there about a goal that is vague, and makes the
// order's goal the spec that comes of it. A goal that is clear, or that nobody
// is there for, stays as it is: then the planner states what it assumes.
func clarify(ctx context.Context, a *console.Console, p *app.Place, o *progress.Order) error {
	settings, _, err := a.Settings()
	if err != nil || o.Plan != nil || len(o.Refused) > 0 || o.Yes || o.Headless || !a.Person() {
		return err
	}
	why, vague := inquiry.Vague(o.Goal.Text)
	switch when := inquiry.When(settings.Interview); {
	case when == inquiry.WhenNever, when != inquiry.WhenAlways && !vague, spec.Is(o.Goal.Text):
		return nil
	case vague:
		a.Say("The goal is vague (%s), so you are asked about it first. interview.when = \"never\" leaves that out.", why)
	}
	s, err := progress.Interview(ctx, a, p, o)
	if err != nil {
		return err
	}
	if o.Asked = len(s.Questions); len(s.Interview.Exchanges) == 0 {
		return nil
	}
	o.Goal.Text = string(spec.Markdown(s.Interview.Spec()))
	return keepLater(ctx, a, p, s)
}
