package goalsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// divideOversizedTasks divides the tasks of a plan that are too large, according to the setting
// plan.oversize. The given error is from reading the plan, and is returned unchanged unless it is
// about sizes.
func divideOversizedTasks(ctx context.Context, a *console.Console, o *progress.RunCommandOptions, p nexus.Plan, wrong error) (nexus.Plan, []plan.TaskDivision, error) {
	if !errors.Is(wrong, &nexus.Error{Code: nexus.CodeOversize}) {
		return p, nil, wrong
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return p, nil, err
	}
	if settings.Oversize == "refuse" {
		return p, nil, wrong
	}
	smaller, divisions, err := plan.DivideLargeTasks(p, settings.Limits.Size, settings.Limits.Parts, settings.Limits.Depth)
	switch {
	case err != nil && settings.Oversize == "ask":
		return p, nil, wrong
	case err != nil:
		return p, nil, err
	case settings.Oversize == "split":
		sayDivided(a, divisions)
		return smaller, divisions, nil
	case !o.MayAsk(a):
		return p, nil, addSplitHint(wrong)
	}
	a.ReportError(wrong)
	sayDivided(a, divisions)
	answer, err := a.Keyboard().AskLine(ctx, "Divide them so? [Y/n]: ")
	if err != nil || ctx.Err() != nil || answer != "" && !nexus.IsYes(answer) {
		return p, nil, wrong
	}
	return smaller, divisions, nil
}

// addSplitHint adds the hint how to divide large tasks, for a call without a person to ask.
func addSplitHint(wrong error) error {
	e, ok := errors.AsType[*nexus.Error](wrong)
	if !ok {
		return wrong
	}
	told := *e
	told.Hint += " Nexus divides them itself with plan.oversize = \"split\" (NEXUS_PLAN_OVERSIZE=split)."
	return &told
}

// sayDivided prints how the oversized tasks are divided.
func sayDivided(a *console.Console, divisions []plan.TaskDivision) {
	for _, d := range divisions {
		a.Say("  %s", view.EscapeForTerminal(fmt.Sprintf("%s is divided by %s into %s (%s)", d.Task, d.By, nexus.JoinWords(d.Parts), d.Why)))
	}
}
