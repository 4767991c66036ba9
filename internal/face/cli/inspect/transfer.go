package inspect

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/maintenance"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func exportCommand(a *console.Console) *cobra.Command {
	c := a.Command("export RUN FILE", "write a run to a file that opens anywhere", func(ctx context.Context, args []string) error {
		return exportRun(ctx, a, args[0], args[1])
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	c.Args = console.ArgCount(2, 2)
	a.JSONFlag(c)
	return c
}

func importCommand(a *console.Console) *cobra.Command {
	var on bool
	c := a.Command("import FILE", "import a run from another machine, to look at it", func(ctx context.Context, args []string) error {
		return importRun(ctx, a, args[0], !on)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	c.Flags().BoolVar(&on, "continue", false, "import it to continue it here; the repository must have the commit that it started from")
	a.JSONFlag(c)
	return c
}

func journalExportCommand(a *console.Console) *cobra.Command {
	var to string
	const what = "print events as JSON lines, or write a run to a file for another machine"
	c := a.Command("export [RUN] [--to FILE]", what, func(ctx context.Context, args []string) error {
		if to == "" {
			return printEvents(ctx, a, args, true)
		}
		return exportRun(ctx, a, console.FirstArg(args), to)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	c.Args = console.ArgCount(0, 1)
	c.Flags().StringVar(&to, "to", "", "write one run, the latest if none is named, with its data and commits to this new `FILE`")
	a.JSONFlag(c)
	return c
}

func journalImportCommand(a *console.Console) *cobra.Command {
	c := a.Command("import FILE", "import a run to continue it here, as nexus import --continue does", func(ctx context.Context, args []string) error {
		return importRun(ctx, a, args[0], false)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	return c
}

// exportRun writes a run to a file.
func exportRun(ctx context.Context, a *console.Console, run, to string) error {
	p, err := openJournal(ctx, a)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.Run(ctx, run)
	if err != nil {
		return err
	}
	m, err := maintenance.Export(ctx, p, r, to, a.Mask.Mask)
	if err != nil {
		return err
	}
	return a.Answer(transferAnswer{m, false}, transferAnswer{m, false}.draw)
}

// importRun imports a run from a file, to be viewed or continued.
func importRun(ctx context.Context, a *console.Console, from string, shown bool) error {
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	m, err := maintenance.Import(ctx, p, from, shown)
	if err != nil {
		return err
	}
	return a.Answer(transferAnswer{m, shown}, transferAnswer{m, shown}.draw)
}

// transferAnswer is the JSON output of the commands that export and import a run.
type transferAnswer struct {
	maintenance.TransferResult
	Shown bool `json:"shown_only,omitzero"` // it cannot be continued here
}

func (m transferAnswer) draw(s view.Style) string {
	text := fmt.Sprintf("run %s: %s, %s, %s of commits\n", m.Run,
		view.Count(m.Events, "event"), view.Count(m.Blobs, "blob"), view.Count(m.Refs, "ref"))
	if m.Absent > 0 {
		text += s.Warn(view.Count(m.Absent, "blob")+" that events name were not found") + "\n"
	}
	if m.NoCommits {
		text += s.Warn("its commits were left out: this repository does not have the commit that it started from") + "\n"
	}
	if m.Shown {
		text += fmt.Sprintf("look at it: nexus report %s; it does not continue here, and spends nothing\n", m.Run)
	}
	return text
}
