package startcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/legible"
)

func quickCommand(a *console.Console) *cobra.Command {
	var o progress.Order
	src := source{task: true}
	var check string
	c := a.Command("quick TASK | -f FILE | --finding NAME [flags]", "do one task without a plan, with the same gates", func(ctx context.Context, args []string) error {
		if err := o.Check(); err != nil {
			return err
		}
		if err := read(ctx, a, &o, &src, args); err != nil {
			return err
		}
		o.Goal.Mode = nexus.Quick
		if o.Plan == nil {
			o.Plan = single(o.Goal.Text, check)
		}
		if err := prefer(o.Plan, o.Goal); err != nil {
			return err
		}
		p, err := a.Open(ctx, app.Makes)
		if err != nil {
			return err
		}
		defer p.Close()
		if err := precheck(ctx, a, p, &o); err != nil {
			return err
		}
		if err := consent(a, p, &o, false); err != nil {
			return err
		}
		return progress.Carry(ctx, a, p, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	c.Args = console.Takes(0, -1)
	f := c.Flags()
	f.StringVarP(&src.file, "file", "f", "", "read the task from `FILE`; - is standard input")
	findingFlag(c, &src)
	c.MarkFlagsMutuallyExclusive("file", "finding")
	preferFlags(f, &o.Goal)
	f.StringVar(&check, "check", "", "gate or `COMMAND` that passes when the task is done; the default is a command that the task says fails, or else the gate test")
	c.MarkFlagsMutuallyExclusive("check", "finding")
	a.SettingFlags(c, "preset", "approval", "budget", "max-time", "model", "sandbox", "target", "land", "strict", "skip", "status-file")
	progress.StartFlags(c, &o)
	progress.OrderFlags(a, c, &o)
	return c
}

// single returns the plan with one task.
func single(text, check string) *nexus.Plan {
	title, _, _ := strings.Cut(text, "\n")
	if len(title) > 72 {
		title = legible.Cut(title, 69)
	}
	return &nexus.Plan{Version: 1, Goal: text, Tasks: []nexus.Task{{
		ID: "T1", Title: title, Brief: text, Criteria: shows(text, check),
	}}}
}

// longest is how much of a task's text is in its criterion.
const longest = 500

// shows returns what has to be true when the task is done: what it says, shown
// by the check, by the commands that it says fail, or by tests that bear on it.
func shows(text, check string) []nexus.Criterion {
	said := strings.Join(strings.Fields(text), " ")
	said = legible.Cut(said, longest)
	if check != "" {
		return []nexus.Criterion{{Text: said, Check: check}}
	}
	var all []nexus.Criterion
	for _, command := range accept.Read(text).Commands {
		all = append(all, nexus.Criterion{Text: said, Check: command, Red: true})
	}
	if len(all) == 0 {
		all = []nexus.Criterion{{Text: said, Check: "test"}}
	}
	return all
}
