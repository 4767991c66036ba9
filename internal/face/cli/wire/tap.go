package wire

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/record"
)

// Traffic says what becomes of the traffic with providers.
type Traffic struct {
	Record string // directory that it is recorded to; empty for none
	Replay string // directory that it is played from; empty asks the providers
}

// Flags are the flags of every command that talks to providers.
func (t *Traffic) Flags(c *cobra.Command) {
	c.Flags().StringVar(&t.Record, "record", "", "write what is said to and by providers into `DIR`, without keys")
	c.Flags().StringVar(&t.Replay, "replay", "", "ask no provider: take the answers from `DIR`, a recording")
	c.MarkFlagsMutuallyExclusive("record", "replay")
}

// Open opens the directories that are named.
func (t Traffic) Open(mask func([]byte) []byte) (provider.Tap, error) {
	switch {
	case t.Record != "":
		r, err := record.Create(t.Record, mask)
		return provider.Recording(r), err
	case t.Replay != "":
		p, err := record.Load(t.Replay, mask)
		return provider.Playing(p), err
	default:
		return provider.Tap{}, nil
	}
}

// Play opens the recording that answers, where one does: what is looked at
// before the run begins asks no provider then, and needs no key.
func (o *Order) Play(a *frame.Console) error {
	if o.Traffic.Replay == "" {
		return nil
	}
	tap, err := o.Traffic.Open(a.Mask.Mask)
	o.tap = tap
	return err
}

// Leave says what could not be recorded, and what was played to requests that
// are not quite those of the recording.
func Leave(a *frame.Console, t provider.Tap) {
	a.Complain(t.Close())
	if n, first := t.Odd(); n > 0 {
		a.Say("%s of the recording went to requests that show another tree than then, as when tasks land in another order; the first: %s",
			view.Count(n, "answer"), view.Clean(first))
	}
}
