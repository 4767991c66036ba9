// Package goalinterview asks people about a vague goal before a plan is made, and keeps what they want
// later in the backlog.
package goalinterview

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/forbiddenphrases"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// Clarify asks the person at the terminal about a vague goal, and replaces the goal
// with the resulting spec. A clear goal, or one without a person to ask, stays unchanged; the
// planner then states its assumptions.
func Clarify(ctx context.Context, a *console.Console, p *app.Repository, o *progress.RunCommandOptions) error {
	settings, _, err := a.LoadSettings()
	if err != nil || o.Plan != nil || len(o.Refused) > 0 || !o.MayAsk(a) {
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
	return AddLaterToBacklog(ctx, a, p, s)
}

// ReadGoal fills in the goal, from the command line, a file and the keyboard.
func ReadGoal(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, text, file string) error {
	if file != "" {
		data, err := a.ReadInput(file)
		if err != nil {
			return err
		}
		said := strings.TrimSpace(string(data))
		if bytes.ContainsRune(data, 0) {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: view.QuoteForTerminal(file) + " is not text",
				Hint: "Give notes as plain text or Markdown.",
			}
		}
		if text == "" {
			text = said
		} else {
			text += "\n\nFrom " + filepath.Base(file) + ":\n\n" + said
		}
	}
	if text == "" && o.MayAsk(a) {
		line, err := a.Keyboard().AskLine(ctx, "What do you want to have built?\n> ")
		if err != nil {
			return err
		}
		text = line
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	if text, err = a.ExpandSlashCommand(settings, text); err != nil {
		return err
	}
	o.Goal.Text = text
	return errors.Join(plan.CheckGoal(text), forbiddenphrases.Check(a, text, nil))
}

// SayUnconfirmedAssumptions prints the assumptions that nobody confirmed.
func SayUnconfirmedAssumptions(a *console.Console, i *clarify.InterviewState) {
	n := 0
	for _, as := range i.Assumptions {
		if !as.Locked {
			n++
		}
	}
	if n > 0 {
		a.Say("%s not confirmed by a person; read them before you build on the spec", view.CountWithNoun(n, "assumption"))
	}
}
