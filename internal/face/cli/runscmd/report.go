package runscmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/quality"
	"github.com/nexus-ai-builder/nexus/internal/view/runreport"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

// reportFlags select the form of a report.
type reportFlags struct {
	shape, file, html string
	pull, csv, state  bool
}

// shapes lists the formats of a report.
const shapes = "markdown, pull-request, html, csv, state, json or junit"

// chooseFormat resolves the flags that are short for a format.
func (w *reportFlags) chooseFormat(a *console.Console) error {
	for _, short := range []struct {
		set   bool
		shape string
	}{{a.JSON, "json"}, {w.pull, "pull-request"}, {w.csv, "csv"}, {w.state, "state"}, {w.html != "", "html"}} {
		if short.set {
			w.shape = short.shape
		}
	}
	if w.html != "" && w.html != "-" {
		w.file = w.html
	}
	if w.shape == "json" && w.file != "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--output does not work with json",
			Hint: "Redirect the JSON instead: nexus report --json > FILE.",
		}
	}
	return nil
}

func reportCommand(a *console.Console) *cobra.Command {
	var w reportFlags
	const what = "report on a run: landed work with evidence, open work, and cost"
	c := a.Command("report [RUN] [flags]", what, func(ctx context.Context, args []string) error {
		if err := w.chooseFormat(a); err != nil {
			return err
		}
		return a.ReadRun(ctx, console.FirstArg(args), func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
			if err := console.RefuseLoop(s); err != nil {
				return err
			}
			told, err := buildReport(ctx, a, p, r, s)
			if err != nil {
				return err
			}
			if w.shape == "json" {
				a.JSON = true
				return a.Answer(told, nil)
			}
			text, err := w.formatReport(a, told)
			if err != nil {
				return err
			}
			return w.writeReport(a, text)
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, 1)
	a.JSONFlag(c)
	f := c.Flags()
	f.StringVar(&w.html, "html", "", "write one self-contained page to `FILE`, or print it for -")
	f.BoolVar(&w.pull, "md", false, "print Markdown for a pull request, short enough for GitHub")
	f.BoolVar(&w.csv, "csv", false, "print a table for a spreadsheet: a row for each task")
	f.BoolVar(&w.state, "state", false, "print the state of the work; with -o, your own sections in FILE stay")
	f.StringVar(&w.shape, "format", "", "print the report as `SHAPE`: "+shapes+"; the default is formatted text on a terminal and markdown elsewhere")
	f.StringVarP(&w.file, "output", "o", "", "write the report to `FILE` instead of printing it")
	c.MarkFlagsMutuallyExclusive("format", "json", "html", "md", "csv", "state")
	c.MarkFlagsMutuallyExclusive("html", "output")
	return c
}

// buildReport returns the report of a run, masked.
func buildReport(ctx context.Context, a *console.Console, p *app.Repository, r journal.RecordedRun, s *state.State) (runreport.Report, error) {
	t, err := criteriaTable(ctx, p, r.ID, s)
	if err != nil {
		return runreport.Report{}, err
	}
	run := a.RunView(r, s)
	q := quality.QualityOf(s, run, t)
	if q.Earlier, err = earlierResults(ctx, p, r.ID); err != nil {
		return runreport.Report{}, err
	}
	q.Tried = accept.TriedChecks(plannedTasks(s))
	shown, err := buildProjection(ctx, p, r)
	if err != nil {
		return runreport.Report{}, err
	}
	o := runreport.ReportInput{
		State: s, Run: run, Criteria: t, Quality: q, Graph: shown.Graph(run.At), Timeline: shown.Timeline(run.At), Now: a.Now(),
	}
	return runreport.New(o).MaskTexts(a.Mask.MaskText)
}

// buildProjection returns the projection of a run for interfaces.
func buildProjection(ctx context.Context, p *app.Repository, r journal.RecordedRun) (*projection.Projection, error) {
	shown := projection.New(r.ID, projection.Options{})
	shown.SetHolder(r.Holder)
	for e, err := range p.Journal.Events(ctx, r.ID, 0) {
		if err != nil {
			return nil, err
		}
		if err := shown.Apply(e); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// formatReport writes a report in the requested format.
func (w *reportFlags) formatReport(a *console.Console, r runreport.Report) (string, error) {
	switch w.shape {
	case "junit":
		return verdict.FormatJUnit(verdict.VerdictOf(r.TaskEvidence()))
	case "markdown":
		return runreport.MarkdownReport(r), nil
	case "pull-request":
		return runreport.PullRequestText(r, runreport.PullLimit), nil
	case "html":
		return runreport.HTMLReport(r), nil
	case "csv":
		return runreport.CSVReport(r)
	case "state":
		old, err := os.ReadFile(w.file)
		if err != nil && w.file != "" && !errors.Is(err, fs.ErrNotExist) {
			return "", writeReportError(err)
		}
		return runreport.StateMarkdown(r, string(old)), nil
	case "":
		return drawMarkdown(a.Style(a.Out), runreport.MarkdownReport(r), w.file), nil
	default:
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "unknown --format " + view.Quote(w.shape), Hint: "Use " + shapes + ".",
		}
	}
}

// writeReport prints a report, or writes it to the named file.
func (w *reportFlags) writeReport(a *console.Console, text string) error {
	if w.file == "" {
		return a.Print(text)
	}
	if err := os.WriteFile(w.file, []byte(text), 0o644); err != nil { //nolint:gosec // a report, for others to read
		return writeReportError(err)
	}
	a.Say("%s", fmt.Sprintf("the report is in %s", view.Clean(w.file)))
	return nil
}

func writeReportError(err error) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "write the report", Cause: err, Hint: "Give a writable file."}
}

// drawMarkdown returns a report as it is printed: unchanged for a file or a program, and drawn for
// people on a terminal.
func drawMarkdown(s view.Style, markdown, file string) string {
	if s.Plain || file != "" {
		return markdown
	}
	return view.DrawMarkdown(s, markdown)
}
