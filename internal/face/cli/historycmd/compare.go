package historycmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// runComparison is the JSON output of nexus runs compare.
type runComparison struct {
	A           nexus.RunID             `json:"a"`
	B           nexus.RunID             `json:"b"`
	Differences []history.RunDifference `json:"differences"`
}

func compareCommand(a *console.Console) *cobra.Command {
	c := a.Command("compare RUN RUN [--json]", "show how two runs differ", func(ctx context.Context, args []string) error {
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		var both [2]*state.State
		for i, name := range args {
			r, err := p.Run(ctx, name)
			if err != nil {
				return err
			}
			if both[i], err = p.Replay(ctx, r.ID); err != nil {
				return err
			}
		}
		d := runComparison{both[0].Run, both[1].Run, history.Compare(both[0], both[1])}
		return a.Answer(d, func(s view.Style) string { return drawComparison(s, d) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(2, 2)
	a.JSONFlag(c)
	return c
}

// mostShown limits the drawn length of a value; JSON has all of it.
const mostShown = 60

func drawComparison(s view.Style, d runComparison) string {
	if len(d.Differences) == 0 {
		return "they do not differ\n"
	}
	rows := make([][]string, len(d.Differences))
	cut := func(text string) string {
		text = view.Clean(text)
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
		rows[i] = []string{title, string(x.Task), view.Clean(x.What), cut(x.A), cut(x.B)}
	}
	return view.DrawTable(s, []string{"about", "task", "what", view.Clean(string(d.A)), view.Clean(string(d.B))}, rows)
}
