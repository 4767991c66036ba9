package runscmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// runComparison is the JSON output of nexus runs compare.
type runComparison struct {
	A           nexus.RunID                `json:"a"`
	B           nexus.RunID                `json:"b"`
	Differences []runhistory.RunDifference `json:"differences"`
}

// CompareOptions are the options of nexus runs compare.
type CompareOptions struct {
	Console *console.Console
	A, B    string // runs, as a person names them
}

// NewCompare returns the command. It calls run with the parsed options; nil runs the command.
func NewCompare(c *console.Console, run func(context.Context, *CompareOptions) error) *cobra.Command {
	o := &CompareOptions{Console: c}
	if run == nil {
		run = compareRuns
	}
	command := c.Command("compare RUN RUN [--json]", "show how two runs differ", func(ctx context.Context, args []string) error {
		o.A, o.B = args[0], args[1]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(2, 2)
	c.JSONFlag(command)
	return command
}

// compareRuns prints how the two runs differ.
func compareRuns(ctx context.Context, o *CompareOptions) error {
	p, err := o.Console.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	var both [2]*state.State
	for i, name := range []string{o.A, o.B} {
		r, err := p.FindRun(ctx, name)
		if err != nil {
			return err
		}
		if both[i], err = p.Replay(ctx, r.ID); err != nil {
			return err
		}
	}
	d := runComparison{both[0].Run, both[1].Run, runhistory.CompareRuns(both[0], both[1])}
	return o.Console.Answer(d, func(s view.OutputStyle) string { return drawComparison(s, d) })
}

// mostShown limits the drawn length of a value; JSON has all of it.
const mostShown = 60

func drawComparison(s view.OutputStyle, d runComparison) string {
	if len(d.Differences) == 0 {
		return "they do not differ\n"
	}
	rows := make([][]string, len(d.Differences))
	cut := func(text string) string {
		text = view.EscapeForTerminal(text)
		if r := []rune(text); len(r) > mostShown {
			return string(r[:mostShown]) + "..."
		}
		return text
	}
	about := ""
	for i, x := range d.Differences {
		title := x.About
		if title == about && !s.Plain {
			title = ""
		}
		about = x.About
		rows[i] = []string{title, string(x.Task), view.EscapeForTerminal(x.What), cut(x.A), cut(x.B)}
	}
	return view.DrawTable(s, []string{"about", "task", "what", view.EscapeForTerminal(string(d.A)), view.EscapeForTerminal(string(d.B))}, rows)
}
