package inspect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/maintenance"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// journalCopyResult is the JSON output of `journal backup`, `repair` and `restore`.
type journalCopyResult struct {
	Path   string `json:"path"`            // of the written journal
	Events int64  `json:"events"`          // in it
	Blobs  int    `json:"blobs,omitzero"`  // beside it
	Aside  string `json:"aside,omitzero"`  // location of the replaced journal
	Why    string `json:"why,omitzero"`    // what was wrong with the replaced journal
	Whole  bool   `json:"whole,omitzero"`  // the journal was intact and stays as it is
	Absent int    `json:"absent,omitzero"` // blobs that events name and that are missing

	Lost []journal.LostEvents `json:"lost,omitempty"` // events after the damage, by run
}

func (k journalCopyResult) draw(s view.Style) string {
	if k.Whole {
		return fmt.Sprintf("%s: %s; nothing was changed\n", s.Good("sound"), view.Count(int(k.Events), "event"))
	}
	text := fmt.Sprintf("the journal with %s is at %s\n", view.Count(int(k.Events), "event"), view.Clean(k.Path))
	if k.Blobs > 0 {
		text += fmt.Sprintf("%s beside it\n", view.Count(k.Blobs, "blob"))
	}
	if k.Absent > 0 {
		text += s.Warn(view.Count(k.Absent, "blob")+" that events name were not found") + "\n"
	}
	if k.Why != "" {
		text += "the damage: " + view.Clean(k.Why) + "\n"
	}
	for _, l := range k.Lost {
		text += s.Warn(fmt.Sprintf("lost of run %s: %s, %d to %d", l.Run, view.Count(l.Events, "event"), l.From, l.To)) + ": " +
			view.Clean(strings.Join(l.Kinds, ", ")) + "\n"
	}
	if k.Aside != "" {
		text += "the journal that was here is kept at " + view.Clean(k.Aside) + "\n"
	}
	return text
}

func backupCommand(a *console.Console) *cobra.Command {
	c := a.Command("backup DIR", "copy the journal and the data its events name to a new directory", func(ctx context.Context, args []string) error {
		p, err := openJournal(ctx, a)
		if err != nil {
			return err
		}
		defer p.Close()
		if err := os.Mkdir(args[0], 0o700); err != nil {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "create the backup's directory", Cause: err,
				Hint: "Give a directory that does not exist yet, inside one that does.",
			}
		}
		out := journalCopyResult{Path: filepath.Join(args[0], "journal.db")}
		if err := p.Journal.Backup(ctx, out.Path); err != nil {
			return err
		}
		b, err := journal.Open(ctx, out.Path, journal.Options{Now: a.Now, ReadOnly: true})
		if err != nil {
			return err
		}
		r, err := b.Verify(ctx) // of the copy, because a restore will read that
		if err := errors.Join(err, b.Close()); err != nil {
			return err
		}
		if !r.Sound {
			return &nexus.Error{
				Code: nexus.CodeJournalCorrupt, Message: "the journal is damaged: " + r.Why,
				Hint: "The backup contains it unchanged. Run nexus journal repair, then back up again.",
			}
		}
		from, err := p.OpenBlobStore()
		if err != nil {
			return err
		}
		out.Events = r.Events
		if out.Blobs, out.Absent, err = copyBlobs(p.Journal, from, filepath.Join(args[0], "blobs"), r.Named); err != nil {
			return err
		}
		return a.Answer(out, out.draw)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	return c
}

// copyBlobs copies the named blobs that are not in the journal itself.
func copyBlobs(shelf journal.SmallBlobStore, from *journal.BlobStore, dir string, named []string) (copied, absent int, err error) {
	to, err := journal.OpenBlobs(dir)
	if err != nil {
		return 0, 0, err
	}
	for _, hash := range named {
		if data, err := shelf.ReadSmallBlob(hash); err != nil || data != nil {
			if err != nil {
				return copied, absent, err
			}
			continue
		}
		data, err := from.Get(hash)
		if err != nil {
			absent++
			continue
		}
		if _, err := to.Put(data); err != nil {
			return copied, absent, err
		}
		copied++
	}
	return copied, absent, nil
}

func repairCommand(a *console.Console) *cobra.Command {
	c := a.Command("repair", "keep every event before the first damage; the damaged journal is kept too", func(ctx context.Context, _ []string) error {
		p, err := openJournal(ctx, a)
		if err != nil {
			return err
		}
		defer p.Close()
		r, err := maintenance.Repair(ctx, p, a.Now())
		if err != nil {
			return err
		}
		out := journalCopyResult{Path: r.Path, Events: r.Events, Why: r.Why, Whole: r.Aside == "", Aside: r.Aside, Lost: r.Lost}
		return a.Answer(out, out.draw)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	a.JSONFlag(c)
	return c
}

func restoreCommand(a *console.Console) *cobra.Command {
	c := a.Command("restore DIR", "replace the journal with a backup; the old journal is kept", func(ctx context.Context, args []string) error {
		from := filepath.Join(args[0], "journal.db")
		b, err := journal.Open(ctx, from, journal.Options{Now: a.Now, ReadOnly: true})
		if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			err = &nexus.Error{
				Code: nexus.CodeNotFound, Message: "there is no backup in " + view.Quote(args[0]),
				Hint: "Name a directory that nexus journal backup wrote.",
			}
		}
		if err != nil {
			return err
		}
		r, err := b.Verify(ctx)
		if err != nil || !r.Sound {
			return errors.Join(err, b.Close(), &nexus.Error{
				Code: nexus.CodeJournalCorrupt, Message: "the backup is damaged: " + r.Why,
				Hint: "Use another backup. Nothing was changed.",
			})
		}
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil && (p == nil || p.State == "" || !errors.Is(err, &nexus.Error{Code: nexus.CodeJournalCorrupt})) {
			return errors.Join(err, b.Close())
		}
		defer p.Close()
		stamp := a.Now().UTC().Format("060102-150405")
		path := filepath.Join(p.State, "journal.db")
		out, fresh := journalCopyResult{Path: path, Events: r.Events}, path+".restored-"+stamp
		if _, err := os.Lstat(path); err == nil {
			out.Aside = path + ".before-" + stamp
		}
		store, err := journal.OpenBlobs(filepath.Join(args[0], "blobs"))
		if err == nil {
			err = maintenance.CheckIdle(ctx, p)
		}
		if err == nil {
			out.Blobs, out.Absent, err = copyBlobs(b, store, filepath.Join(p.State, "blobs"), r.Named)
		}
		if err == nil {
			err = b.Backup(ctx, fresh)
		}
		if err := errors.Join(err, b.Close()); err != nil {
			return err
		}
		p.Close()
		if err := journal.ReplaceJournal(ctx, path, fresh, path+".before-"+stamp); err != nil {
			return err
		}
		return a.Answer(out, out.draw)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	return c
}

// openJournal opens the repository and its journal, which must exist.
func openJournal(ctx context.Context, a *console.Console) (*app.Repository, error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err == nil && p.Journal == nil {
		_, err = p.Run(ctx, "")
	}
	return p, err
}
