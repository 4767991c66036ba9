package runscmd

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/quality"
	"github.com/nexus-ai-builder/nexus/internal/face/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func reportCommand(a *console.Console) *cobra.Command {
	var shape, file string
	c := a.Command("report [RUN] [flags]", "summarize how well a run went: attempts, gates, reviews, open points", func(ctx context.Context, args []string) error {
		if a.JSON {
			shape = "json"
		}
		return a.Look(ctx, console.First(args), func(p *app.Place, r journal.Run, s *state.State) error {
			t, err := table(ctx, p, r.ID, s)
			if err != nil {
				return err
			}
			q := quality.Of(s, t)
			if q.Earlier, err = before(ctx, p, r.ID); err != nil {
				return err
			}
			q.Tried = accept.AllTried(planned(s))
			text := ""
			switch shape {
			case "json":
				if file == "" {
					a.JSON = true
					return a.Answer(q, nil)
				}
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: "--output works with markdown and junit only",
					Hint: "Redirect the JSON instead: nexus report --json > FILE.",
				}
			case "junit":
				if text, err = verdict.JUnit(verdict.Of(q.Evidence())); err != nil {
					return err
				}
			case "markdown":
				text = quality.Markdown(q)
			case "":
				text = drawn(a.Style(a.Out), quality.Markdown(q), file)
			default:
				return &nexus.Error{
					Code: nexus.CodeInvalidInput, Message: "unknown --format " + view.Quote(shape),
					Hint: "Use markdown, json or junit.",
				}
			}
			text = a.Mask.Text(text)
			if file == "" {
				return a.Print(text)
			}
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // a report, for others to read
				return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "write the report", Cause: err, Hint: "Give a writable file."}
			}
			a.Say("%s", fmt.Sprintf("the report is in %s", view.Clean(file)))
			return nil
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(0, 1)
	a.JSONFlag(c)
	f := c.Flags()
	f.StringVar(&shape, "format", "", "print the report as `SHAPE`: markdown, json or junit; the default is formatted text on a terminal and markdown elsewhere")
	f.StringVarP(&file, "output", "o", "", "write the report to `FILE` instead of printing it")
	c.MarkFlagsMutuallyExclusive("format", "json")
	return c
}

// drawn returns a report as it is printed: as it is for a file and for a
// program, and drawn for people on a terminal.
func drawn(s view.Style, markdown, file string) string {
	if s.Plain || file != "" {
		return markdown
	}
	return view.Markdown(s, markdown)
}
