package startcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/precheck"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

func quickCommand(a *console.Console) *cobra.Command {
	var o progress.RunCommandOptions
	src := goalSource{task: true}
	var check string
	var stays bool
	c := a.Command("quick TASK | -f FILE | --finding NAME [flags]", "do one task without a plan, with the same gates", func(ctx context.Context, args []string) error {
		if err := o.Check(); err != nil {
			return err
		}
		if done, err := progress.RunInChildProcess(a); done {
			return err
		}
		if err := readGoalAndPlan(ctx, a, &o, &src, args); err != nil {
			return err
		}
		o.Goal.Mode = nexus.Quick
		if o.Plan == nil {
			single := plan.SingleTaskPlan(o.Goal.Text, check)
			if criteria := single.Tasks[0].Criteria; stays {
				for i := range criteria {
					criteria[i].Kind = nexus.StaysCriterion
				}
			}
			o.Plan = &single
		}
		if err := planfile.SetTierAndStrategy(o.Plan, o.Goal); err != nil {
			return err
		}
		p, err := a.OpenRepository(ctx, app.CreateAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		if err := precheck.Check(ctx, a, p, &o); err != nil {
			return err
		}
		if err := planconsent.Set(a, p, &o, false); err != nil {
			return err
		}
		return progress.RunAndShow(ctx, a, p, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	c.Args = console.ArgCount(0, -1)
	f := c.Flags()
	f.StringVarP(&src.file, "file", "f", "", "read the task from `FILE`; - is standard input")
	findingFlag(c, &src)
	c.MarkFlagsMutuallyExclusive("file", "finding")
	preferFlags(f, &o.Goal)
	f.StringVar(&check, "check", "", "gate or `COMMAND` that passes when the task is done; the default is a command that the task says fails, or else the gate test")
	f.BoolVar(&stays, "stays", false, "the task keeps existing behavior, so a check that passes before the work counts")
	c.MarkFlagsMutuallyExclusive("check", "finding")
	c.MarkFlagsMutuallyExclusive("stays", "finding")
	a.SettingFlags(c, "preset", "approval", "budget", "max-time", "model", "sandbox", "target", "land", "strict", "skip", "status-file")
	progress.StartFlags(c, &o)
	progress.OrderFlags(a, c, &o)
	return c
}
