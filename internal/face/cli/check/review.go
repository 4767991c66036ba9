package check

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/reviewcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

func reviewCommand(a *console.Console) *cobra.Command {
	var o reviewScope
	var own reviewcmd.ReviewOptions
	var c *cobra.Command
	var personas []string
	var shape string
	var traffic provider.TrafficOptions
	c = a.Command("review [RANGE|TASK] [TEXT] [flags]", "review the change of a task, or let models review your change", func(ctx context.Context, args []string) error {
		if own.ConcernsTask(ctx, a, c, args) {
			return own.Run(ctx, a, args)
		}
		if len(args) > 1 {
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: view.Quote(args[0]) + " is not a task", Hint: "nexus status lists the tasks; a range is one argument."}
		}
		if len(args) > 0 {
			o.Range = args[0]
		}
		named := 0
		for _, set := range []bool{o.Range != "", o.Base != "", o.Staged} {
			if set {
				named++
			}
		}
		if named > 1 {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "give only one of a range, --base and --staged",
				Hint: "Each selects another change.",
			}
		}
		shape, err := parseOutputFormat(a, shape)
		if err != nil {
			return err
		}
		settings, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		if len(personas) > 0 {
			settings.Personas = personas
		}
		r, err := reviewChange(ctx, a, settings, o, traffic)
		if err != nil {
			return err
		}
		v := verdict.VerdictOf([]nexus.Evidence{r.asEvidence()})
		if err := writeVerdict(a, shape, v, r); err != nil {
			return err
		}
		a.Say("%s, %s, %s", view.Count(len(r.Readers), "reader"), view.Count(len(r.Findings), "finding"), r.Spent)
		switch r.State {
		case nexus.Pass:
			return nil
		case nexus.Fail:
			return console.ExitError(console.CodeFailed)
		default:
			return console.ExitError(console.CodePerson)
		}
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson, console.CodeInterrupted)
	c.Args = console.ArgCount(0, 2)
	own.AddFlags(a, c)
	fl := c.Flags()
	fl.StringVar(&o.Base, "base", "", "review the changes since the common ancestor with `REF`, committed or not")
	fl.BoolVar(&o.Staged, "staged", false, "review staged changes")
	fl.StringSliceVar(&personas, "persona", nil, "review as these `PERSONAS` in parallel: correctness, security, tests, maintainability; review.personas if not given")
	fl.StringVar(&shape, "format", "text", "print the verdict as `SHAPE`: text, json, junit, sarif or github")
	progress.TrafficFlags(c, &traffic)
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("format", "json")
	a.SettingFlags(c, "model", "max-turns", "budget", "sandbox")
	return c
}
