package journalcmd

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

// VerifyOptions are the options of "nexus journal verify".
type VerifyOptions struct {
	Console *console.Console
}

// NewVerify returns the command "nexus journal verify". It calls run with the parsed options; nil
// runs the command.
func NewVerify(c *console.Console, run func(context.Context, *VerifyOptions) error) *cobra.Command {
	o := &VerifyOptions{Console: c}
	if run == nil {
		run = verifyJournal
	}
	command := c.Command("verify [--json]", "check that no event, and no data of events, was changed or lost",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// verifyJournal checks the hashes of all events, and the data that they name.
func verifyJournal(ctx context.Context, o *VerifyOptions) error {
	p, err := openJournal(ctx, o.Console)
	if err != nil {
		return err
	}
	defer p.Close()
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
	if err := o.Console.Answer(v, v.draw); err != nil || v.Sound {
		return err
	}
	return console.ExitError(console.CodeFailed)
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

func (v journalVerification) draw(s view.OutputStyle) string {
	if v.Sound {
		return fmt.Sprintf("%s: %s, all unchanged; the last has the hash %s\n", s.Good("sound"), view.CountWithNoun(int(v.Events), "event"), v.Head)
	}
	where := ""
	if v.Seq > 0 {
		where = fmt.Sprintf(" at event %d", v.Seq)
	}
	return fmt.Sprintf("%s%s: %s; the first %s are good\n", s.Bad(string(v.Damage)), where, view.EscapeForTerminal(v.Why), view.CountWithNoun(int(v.Events), "event"))
}
