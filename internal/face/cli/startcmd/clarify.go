package startcmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
)

// clarifyGoal asks the person at the terminal about a vague goal, and replaces the order's goal
// with the resulting spec. A clear goal, or one without a person to ask, stays unchanged; the
// planner then states its assumptions.
func clarifyGoal(ctx context.Context, a *console.Console, p *app.Repository, o *progress.RunCommandOptions) error {
	settings, _, err := a.LoadSettings()
	if err != nil || o.Plan != nil || len(o.Refused) > 0 || o.Yes || o.Headless || !a.HasPerson() {
		return err
	}
	why, vague := clarify.IsVague(o.Goal.Text)
	switch when := clarify.InterviewMode(settings.Interview); {
	case when == clarify.WhenNever, when != clarify.WhenAlways && !vague, spec.LooksLikeSpec(o.Goal.Text):
		return nil
	case vague:
		a.Say("The goal is vague (%s), so you are asked about it first. interview.when = \"never\" leaves that out.", why)
	}
	s, err := progress.ConductInterview(ctx, a, p, o)
	if err != nil {
		return err
	}
	if o.Asked = len(s.Questions); len(s.Interview.Exchanges) == 0 {
		return nil
	}
	o.Goal.Text = string(spec.FormatMarkdown(s.Interview.BuildSpec()))
	return addLaterToBacklog(ctx, a, p, s)
}
