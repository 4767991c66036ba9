package statuscmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/pflag"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
	"github.com/nexus-ai-builder/nexus/internal/view/runreport"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

// ReportFormat is the format of a report, and where it goes.
type ReportFormat struct {
	Shape string // of shapes; empty: formatted text on a terminal, Markdown elsewhere
	File  string // to write it to; empty: standard output

	html                    string // flags that are short for a shape
	pullRequest, csv, state bool
}

// shapes lists the formats of a report.
const shapes = "markdown, pull-request, html, csv, state, json or junit"

// addFlags adds the flags of a report.
func (w *ReportFormat) addFlags(f *pflag.FlagSet) {
	f.StringVar(&w.html, "html", "", "write the report as one self-contained page to `FILE`, or print it for -")
	f.BoolVar(&w.pullRequest, "md", false, "print the report as Markdown for a pull request, short enough for GitHub")
	f.BoolVar(&w.csv, "csv", false, "print the report as a table for a spreadsheet: a row for each task")
	f.BoolVar(&w.state, "state", false, "print the state of the work; with -o, your own sections in FILE stay")
	f.StringVar(&w.Shape, "format", "", "print the report as `SHAPE`: "+shapes+"; the default is formatted text on a terminal and markdown elsewhere")
	f.StringVarP(&w.File, "output", "o", "", "write the report to `FILE` instead of printing it")
}

// isSet reports whether a flag of the report is set.
func (w *ReportFormat) isSet() bool { return *w != ReportFormat{} }

// choose resolves the flags that are short for a shape.
func (w *ReportFormat) choose(asJSON bool) error {
	for _, short := range []struct {
		set   bool
		shape string
	}{{asJSON, "json"}, {w.pullRequest, "pull-request"}, {w.csv, "csv"}, {w.state, "state"}, {w.html != "", "html"}} {
		if short.set {
			w.Shape = short.shape
		}
	}
	if w.html != "" && w.html != "-" {
		w.File = w.html
	}
	switch {
	case w.Shape != "" && !slices.Contains([]string{"markdown", "pull-request", "html", "csv", "state", "json", "junit"}, w.Shape):
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "unknown --format " + view.QuoteForTerminal(w.Shape), Hint: "Use " + shapes + ".",
		}
	case w.Shape == "json" && w.File != "":
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "--output does not work with json",
			Hint: "Redirect the JSON instead: nexus status --report --json > FILE.",
		}
	}
	return nil
}

// showReport prints the report of a run, or writes it to a file.
func showReport(ctx context.Context, o *Options, p *app.Repository, s app.RunSubject) error {
	if err := console.RefuseLoop(s.State); err != nil {
		return err
	}
	told, err := buildReport(ctx, o.Console, p, s)
	if err != nil {
		return err
	}
	if o.Report.Shape == "json" {
		o.Console.JSON = true
		return o.Console.Answer(told, nil)
	}
	text, err := o.Report.formatReport(o.Console, told)
	if err != nil {
		return err
	}
	return o.Report.writeReport(o.Console, text)
}

// buildReport returns the report of a run, masked.
func buildReport(ctx context.Context, a *console.Console, p *app.Repository, of app.RunSubject) (runreport.Report, error) {
	r, s := of.RecordedRun, of.State
	t, err := p.CriteriaTable(ctx, s)
	if err != nil {
		return runreport.Report{}, err
	}
	run := a.RunView(r, s)
	q := runquality.NewRunQuality(s, run, t)
	if q.Earlier, err = p.EarlierResults(ctx, r.ID); err != nil {
		return runreport.Report{}, err
	}
	q.Tried = accept.TriedChecks(plannedTasks(of))
	shown, err := buildProjection(ctx, p, r)
	if err != nil {
		return runreport.Report{}, err
	}
	o := runreport.ReportInput{
		State: s, Run: run, Criteria: t, Quality: q, Graph: shown.PlanGraph(run.At), Timeline: shown.Timeline(run.At), Now: a.Now(),
	}
	return runreport.NewRunReport(o).MaskTexts(a.Mask.MaskText)
}

// buildProjection returns the projection of a run for interfaces.
func buildProjection(ctx context.Context, p *app.Repository, r journal.RecordedRun) (*projection.RunProjection, error) {
	shown := projection.NewProjection(r.ID, projection.Options{})
	shown.SetConductor(r.Holder)
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
func (w *ReportFormat) formatReport(a *console.Console, r runreport.Report) (string, error) {
	switch w.Shape {
	case "junit":
		return verdict.FormatJUnit(verdict.CombineGateResults(r.TaskEvidence()))
	case "markdown":
		return runreport.MarkdownReport(r), nil
	case "pull-request":
		return runreport.PullRequestText(r, runreport.PullLimit), nil
	case "html":
		return runreport.HTMLReport(r), nil
	case "csv":
		return runreport.CSVReport(r)
	case "state":
		old, err := os.ReadFile(w.File)
		if err != nil && w.File != "" && !errors.Is(err, fs.ErrNotExist) {
			return "", writeReportError(err)
		}
		return runreport.StateMarkdown(r, string(old)), nil
	case "":
		return drawMarkdown(a.Style(a.Out), runreport.MarkdownReport(r), w.File), nil
	default:
		return "", fmt.Errorf("no report is written as %q", w.Shape)
	}
}

// writeReport prints a report, or writes it to the named file.
func (w *ReportFormat) writeReport(a *console.Console, text string) error {
	if w.File == "" {
		return a.Print(text)
	}
	if err := os.WriteFile(w.File, []byte(text), 0o644); err != nil { //nolint:gosec // a report, for others to read
		return writeReportError(err)
	}
	a.Say("%s", fmt.Sprintf("the report is in %s", view.EscapeForTerminal(w.File)))
	return nil
}

func writeReportError(err error) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "write the report", Cause: err, Hint: "Give a writable file."}
}

// drawMarkdown returns a report as it is printed: unchanged for a file or a program, and drawn for
// people on a terminal.
func drawMarkdown(s view.OutputStyle, markdown, file string) string {
	if s.Plain || file != "" {
		return markdown
	}
	return view.DrawMarkdown(s, markdown)
}
