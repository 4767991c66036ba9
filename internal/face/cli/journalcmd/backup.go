package journalcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// BackupOptions are the options of "nexus journal backup".
type BackupOptions struct {
	Console *console.Console
	Dir     string // it must not exist yet
}

// NewBackup returns the command "nexus journal backup". It calls run with the parsed options; nil
// runs the command.
func NewBackup(c *console.Console, run func(context.Context, *BackupOptions) error) *cobra.Command {
	o := &BackupOptions{Console: c}
	if run == nil {
		run = backUpJournal
	}
	command := c.Command("backup DIR", "copy the journal and the data its events name to a new directory",
		func(ctx context.Context, args []string) error {
			o.Dir = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	c.JSONFlag(command)
	return command
}

// backUpJournal copies the journal with its data to a new directory, and verifies the copy.
func backUpJournal(ctx context.Context, o *BackupOptions) error {
	p, err := openJournal(ctx, o.Console)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := os.Mkdir(o.Dir, 0o700); err != nil {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "create the backup's directory", Cause: err,
			Hint: "Give a directory that does not exist yet, inside one that does.",
		}
	}
	out := journalCopyResult{Path: filepath.Join(o.Dir, "journal.db")}
	if err := p.Journal.Backup(ctx, out.Path); err != nil {
		return err
	}
	b, err := journal.Open(ctx, out.Path, journal.Options{Now: o.Console.Now, ReadOnly: true})
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
	if out.Blobs, out.Absent, err = copyBlobs(p.Journal, from, filepath.Join(o.Dir, "blobs"), r.Named); err != nil {
		return err
	}
	return o.Console.Answer(out, out.draw)
}
