package journalcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/journalmaintenance"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ExportOptions are the options of "nexus journal export".
type ExportOptions struct {
	Console *console.Console
	Run     string // as a person names it; empty: the events of all runs, or the default run to a file
	To      string // a new file for one run; empty: print events as JSON lines
}

// NewExport returns the command "nexus journal export". It calls run with the parsed options; nil
// runs the command.
func NewExport(c *console.Console, run func(context.Context, *ExportOptions) error) *cobra.Command {
	o := &ExportOptions{Console: c}
	if run == nil {
		run = exportEvents
	}
	command := c.Command("export [RUN] [--to FILE]", "print events as JSON lines, or write a run to a file",
		func(ctx context.Context, args []string) (err error) {
			if o.Run, err = console.NamedRun(o.Run, args); err != nil {
				return err
			}
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	command.Args = console.ArgCount(0, 1)
	command.Flags().StringVar(&o.To, "to", "", "write one run, the latest if none is named, with its data and commits to this new `FILE`")
	command.Flags().StringVar(&o.Run, "run", "", "the `RUN`; if not given, all runs, or with --to the run in progress, else the latest")
	c.JSONFlag(command)
	return command
}

// exportEvents prints events as JSON lines, or writes a run to a file.
func exportEvents(ctx context.Context, o *ExportOptions) error {
	if o.To == "" {
		return printEventLines(ctx, o.Console, o.Run)
	}
	return ExportRun(ctx, o.Console, o.Run, o.To)
}

// ImportOptions are the options of "nexus journal import".
type ImportOptions struct {
	Console *console.Console
	From    string // file that an export wrote
}

// NewImport returns the command "nexus journal import". It calls run with the parsed options; nil
// runs the command.
func NewImport(c *console.Console, run func(context.Context, *ImportOptions) error) *cobra.Command {
	o := &ImportOptions{Console: c}
	if run == nil {
		run = func(ctx context.Context, o *ImportOptions) error { return ImportRun(ctx, o.Console, o.From, false) }
	}
	command := c.Command("import FILE", "import a run to continue it here, as nexus import --continue does",
		func(ctx context.Context, args []string) error {
			o.From = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	c.JSONFlag(command)
	return command
}

// ExportRun writes a run to a file.
func ExportRun(ctx context.Context, a *console.Console, run, to string) error {
	p, err := openJournal(ctx, a)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := a.FindRun(ctx, p, run)
	if err != nil {
		return err
	}
	m, err := journalmaintenance.ExportRun(ctx, p, r, to, a.Mask.Mask)
	if err != nil {
		return err
	}
	return a.Answer(transferAnswer{m, false}, transferAnswer{m, false}.draw)
}

// ImportRun imports a run from a file, to be viewed or continued.
func ImportRun(ctx context.Context, a *console.Console, from string, shown bool) error {
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	m, err := journalmaintenance.ImportRunFile(ctx, p, from, shown)
	if err != nil {
		return err
	}
	return a.Answer(transferAnswer{m, shown}, transferAnswer{m, shown}.draw)
}

// transferAnswer is the JSON output of the commands that export and import a run.
type transferAnswer struct {
	journalmaintenance.RunTransferSummary
	Shown bool `json:"shown_only,omitzero"` // it cannot be continued here
}

func (m transferAnswer) draw(s view.OutputStyle) string {
	text := fmt.Sprintf("run %s: %s, %s, %s of commits\n", m.Run,
		view.CountWithNoun(m.Events, "event"), view.CountWithNoun(m.Blobs, "blob"), view.CountWithNoun(m.Refs, "ref"))
	if m.Absent > 0 {
		text += s.Warn(view.CountWithNoun(m.Absent, "blob")+" that events name were not found") + "\n"
	}
	if m.NoCommits {
		text += s.Warn("its commits were left out: this repository does not have the commit that it started from") + "\n"
	}
	if m.Shown {
		text += fmt.Sprintf("look at it: nexus status --report %s; it does not continue here, and spends nothing\n", m.Run)
	}
	return text
}
