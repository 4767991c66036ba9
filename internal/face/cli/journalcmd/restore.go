package journalcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/journalmaintenance"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// RestoreOptions are the options of "nexus journal restore".
type RestoreOptions struct {
	Console *console.Console
	Dir     string // of a backup
}

// NewRestore returns the command "nexus journal restore". It calls run with the parsed options; nil
// runs the command.
func NewRestore(c *console.Console, run func(context.Context, *RestoreOptions) error) *cobra.Command {
	o := &RestoreOptions{Console: c}
	if run == nil {
		run = restoreJournal
	}
	command := c.Command("restore DIR", "replace the journal with a backup; the old journal is kept",
		func(ctx context.Context, args []string) error {
			o.Dir = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	command.Args = console.ArgCount(1, 1)
	c.JSONFlag(command)
	return command
}

// restoreJournal replaces the journal with an intact backup. The old one stays beside it.
func restoreJournal(ctx context.Context, o *RestoreOptions) error {
	b, r, err := openBackup(ctx, o.Dir, o.Console.Now)
	if err != nil {
		return err
	}
	p, err := o.Console.OpenRepository(ctx, app.ReadAccess)
	if err != nil && (p == nil || p.State == "" || !errors.Is(err, &nexus.Error{Code: nexus.CodeJournalCorrupt})) {
		return errors.Join(err, b.Close())
	}
	defer p.Close()
	stamp := o.Console.Now().UTC().Format("060102-150405")
	path := filepath.Join(p.State, "journal.db")
	out, fresh := journalCopyResult{Path: path, Events: r.Events}, path+".restored-"+stamp
	if _, err := os.Lstat(path); err == nil {
		out.Aside = path + ".before-" + stamp
	}
	store, err := journal.OpenBlobStore(filepath.Join(o.Dir, "blobs"))
	if err == nil {
		err = journalmaintenance.CheckNoRunInProgress(ctx, p)
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
	return o.Console.Answer(out, out.draw)
}

// openBackup opens the journal of a backup, which must be intact.
func openBackup(ctx context.Context, dir string, now func() time.Time) (b *journal.Journal, r journal.VerifyReport, err error) {
	from := filepath.Join(dir, "journal.db")
	b, err = journal.Open(ctx, from, journal.Options{Now: now, ReadOnly: true})
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		err = &nexus.Error{
			Code: nexus.CodeNotFound, Message: "there is no backup in " + view.QuoteForTerminal(dir),
			Hint: "Name a directory that nexus journal backup wrote.",
		}
	}
	if err != nil {
		return nil, r, err
	}
	r, err = b.Verify(ctx)
	if err != nil || !r.Sound {
		return nil, r, errors.Join(err, b.Close(), &nexus.Error{
			Code: nexus.CodeJournalCorrupt, Message: "the backup is damaged: " + r.Why,
			Hint: "Use another backup. Nothing was changed.",
		})
	}
	return b, r, nil
}
