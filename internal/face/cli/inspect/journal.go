package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func journalCommand(a *console.Console) *cobra.Command {
	return a.ParentCommand("journal", "verify, print and back up the journal", verifyCommand(a), journalExportCommand(a), journalImportCommand(a),
		journalShowCommand(a), backupCommand(a), restoreCommand(a), repairCommand(a))
}

func verifyCommand(a *console.Console) *cobra.Command {
	c := a.Command("verify [--json]", "check that no event, and no data that events name, was changed or lost", func(ctx context.Context, _ []string) error {
		p, err := a.OpenRepository(ctx, app.ReadAccess)
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
		v := journalVerification{r.Sound, r.Events, r.Head, r.Seq, r.Damage, r.Why, nil}
		if v.Sound {
			if err := v.checkBlobs(p, r.Named); err != nil {
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

// journalVerification is the JSON output of `journal verify`.
type journalVerification struct {
	Sound  bool               `json:"sound"`
	Events int64              `json:"events"` // number of valid events, from the first
	Head   string             `json:"head"`   // hash of the last valid event
	Seq    int64              `json:"seq,omitzero"`
	Damage journal.DamageKind `json:"damage,omitzero"`
	Why    string             `json:"why,omitzero"`
	Blobs  []string           `json:"blobs,omitempty"` // missing or damaged blobs
}

// checkBlobs verifies the blobs that events name, in the journal and beside it.
func (v *journalVerification) checkBlobs(p *app.Repository, named []string) error {
	store, err := p.OpenBlobStore()
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
		v.Sound, v.Damage = false, journal.BlobSpoiled
	}
	return nil
}

func (v journalVerification) draw(s view.Style) string {
	if v.Sound {
		return fmt.Sprintf("%s: %s, all unchanged; the last has the hash %s\n", s.Good("sound"), view.Count(int(v.Events), "event"), v.Head)
	}
	where := ""
	if v.Seq > 0 {
		where = fmt.Sprintf(" at event %d", v.Seq)
	}
	return fmt.Sprintf("%s%s: %s; the first %s are good\n", s.Bad(string(v.Damage)), where, view.Clean(v.Why), view.Count(int(v.Events), "event"))
}

func journalShowCommand(a *console.Console) *cobra.Command {
	c := a.Command("show RUN", "print the events of a run in readable form", func(ctx context.Context, args []string) error {
		return printEvents(ctx, a, args, false)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	return c
}

func printEvents(ctx context.Context, a *console.Console, args []string, lines bool) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.Run(ctx, console.FirstArg(args))
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
			err = a.PrintEventJSON(e)
		default:
			err = a.Print(view.DrawEvent(style, e) + "\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
