package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/care"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func journalCommand(a *console.Console) *cobra.Command {
	return a.Parent("journal", "verify, print and back up the journal", verifyCommand(a), exportCommand(a), importCommand(a),
		journalShowCommand(a), backupCommand(a), restoreCommand(a), repairCommand(a))
}

func verifyCommand(a *console.Console) *cobra.Command {
	c := a.Command("verify [--json]", "check that no event, and no data that events name, was changed or lost", func(ctx context.Context, _ []string) error {
		p, err := a.Open(ctx, app.Reads)
		if err != nil {
			return err
		}
		defer p.Close()
		if p.Journal == nil {
			_, err := p.Run(ctx, "")
			return err
		}
		r, err := p.Journal.Verify(ctx)
		if err != nil {
			return err
		}
		v := verified{r.Sound, r.Events, r.Head, r.Seq, r.Damage, r.Why, nil}
		if v.Sound {
			if err := v.check(p, r.Named); err != nil {
				return err
			}
		}
		if err := a.Answer(v, v.draw); err != nil || v.Sound {
			return err
		}
		return console.ExitError(console.CodeFailed)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	a.JSONFlag(c)
	return c
}

// verified is what `journal verify --json` prints.
type verified struct {
	Sound  bool           `json:"sound"`
	Events int64          `json:"events"` // how many are good, from the first
	Head   string         `json:"head"`   // hash of the last good one
	Seq    int64          `json:"seq,omitzero"`
	Damage journal.Damage `json:"damage,omitzero"`
	Why    string         `json:"why,omitzero"`
	Blobs  []string       `json:"blobs,omitempty"` // that are missing or damaged
}

// check checks the blobs that events name, in the journal and beside it.
func (v *verified) check(p *app.Place, named []string) error {
	store, err := p.Blobs()
	if err != nil {
		return err
	}
	for _, hash := range named {
		if _, err := store.Get(hash); err != nil {
			v.Blobs = append(v.Blobs, hash)
			v.Why = strings.TrimPrefix(v.Why+"; "+err.Error(), "; ")
		}
	}
	if len(v.Blobs) > 0 {
		v.Sound, v.Damage = false, journal.Spoiled
	}
	return nil
}

func (v verified) draw(s view.Style) string {
	if v.Sound {
		return fmt.Sprintf("%s: %s, all unchanged; the last has the hash %s\n", s.Good("sound"), view.Count(int(v.Events), "event"), v.Head)
	}
	where := ""
	if v.Seq > 0 {
		where = fmt.Sprintf(" at event %d", v.Seq)
	}
	return fmt.Sprintf("%s%s: %s; the first %s are good\n", s.Bad(string(v.Damage)), where, view.Clean(v.Why), view.Count(int(v.Events), "event"))
}

func exportCommand(a *console.Console) *cobra.Command {
	var to string
	const what = "print events as JSON lines, or write a run to a file for another machine"
	c := a.Command("export [RUN] [--to FILE]", what, func(ctx context.Context, args []string) error {
		if to == "" {
			return events(ctx, a, args, true)
		}
		p, err := opened(ctx, a)
		if err != nil {
			return err
		}
		defer p.Close()
		r, err := p.Run(ctx, console.First(args))
		if err != nil {
			return err
		}
		m, err := care.Export(ctx, p, r, to)
		if err != nil {
			return err
		}
		return a.Answer(moved(m), moved(m).draw)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	c.Args = console.Takes(0, 1)
	c.Flags().StringVar(&to, "to", "", "write one run, the latest if none is named, with its data and commits to this new `FILE`")
	a.JSONFlag(c)
	return c
}

func importCommand(a *console.Console) *cobra.Command {
	c := a.Command("import FILE", "take in a run that nexus journal export wrote to a file", func(ctx context.Context, args []string) error {
		p, err := a.Open(ctx, app.Makes)
		if err != nil {
			return err
		}
		defer p.Close()
		m, err := care.Import(ctx, p, args[0])
		if err != nil {
			return err
		}
		return a.Answer(moved(m), moved(m).draw)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(1, 1)
	a.JSONFlag(c)
	return c
}

// moved is what `journal export --to` and `import` print.
type moved care.Moved

func (m moved) draw(s view.Style) string {
	text := fmt.Sprintf("run %s: %s, %s, %s of commits\n", m.Run,
		view.Count(m.Events, "event"), view.Count(m.Blobs, "blob"), view.Count(m.Refs, "ref"))
	if m.Absent > 0 {
		text += s.Warn(view.Count(m.Absent, "blob")+" that events name were not found") + "\n"
	}
	return text
}

func journalShowCommand(a *console.Console) *cobra.Command {
	c := a.Command("show RUN", "print the events of a run in readable form", func(ctx context.Context, args []string) error {
		return events(ctx, a, args, false)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(1, 1)
	return c
}

func events(ctx context.Context, a *console.Console, args []string, lines bool) error {
	p, err := a.Open(ctx, app.Reads)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.Run(ctx, console.First(args))
	if err != nil {
		return err
	}
	if len(args) == 0 {
		r.ID = ""
	}
	style := a.Style(a.Out)
	for e, err := range p.Journal.Events(ctx, r.ID, 0) {
		switch {
		case err != nil:
			return err
		case lines:
			err = a.Line(e)
		default:
			err = a.Print(view.Line(style, e) + "\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
