package wire

import (
	"net/http"

	"github.com/spf13/cobra"

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

// open opens the directories that are named.
func (t Traffic) open(mask func([]byte) []byte) (Tap, error) {
	var tap Tap
	var err error
	switch {
	case t.Record != "":
		tap.recorder, err = record.Create(t.Record, mask)
	case t.Replay != "":
		tap.player, err = record.Load(t.Replay, mask)
	}
	return tap, err
}

// Tap stands between the providers' rooms and the network. Its zero value is
// the network itself.
type Tap struct {
	recorder *record.Recorder
	player   *record.Player
}

// client returns what a provider's room sends its requests with.
func (t Tap) client(provider string) *http.Client {
	switch {
	case t.recorder != nil:
		return &http.Client{Transport: t.recorder.Transport(provider, nil)}
	case t.player != nil:
		return &http.Client{Transport: t.player.Transport(provider)}
	default:
		return &http.Client{}
	}
}

// Close says what could not be recorded.
func (t Tap) Close() error {
	if t.recorder == nil {
		return nil
	}
	return t.recorder.Close()
}
