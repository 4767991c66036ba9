package startcmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
)

// clarifyGoal asks the person who is there about a goal that is vague, and makes the
// order's goal the spec that comes of it. A goal that is clear, or that nobody
// is there for, stays as it is: then the planner states what it assumes.
func clarifyGoal(ctx context.Context, a *console.Console, p *app.Repository, o *progress.Order) error {
	settings, _, err := a.Settings()
	if err != nil || o.Plan != nil || len(o.Refused) > 0 || o.Yes || o.Headless || !a.Person() {
		return err
	}
	why, vague := clarify.Vague(o.Goal.Text)
	switch when := clarify.When(settings.Interview); {
	case when == clarify.WhenNever, when != clarify.WhenAlways && !vague, spec.Is(o.Goal.Text):
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
