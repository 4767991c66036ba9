package provider

import (
	"net/http"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/record"
)

// newRecording returns a tap that also writes down what goes through it.
func newRecording(r *record.Recorder) RecordingTransport { return RecordingTransport{recorder: r} }

// newPlayback returns a tap that answers from a recording.
func newPlayback(p *record.Player) RecordingTransport { return RecordingTransport{player: p} }

// RecordingTransport is between the providers' rooms and the network. Its zero value is
// the network itself.
type RecordingTransport struct {
	recorder *record.Recorder
	player   *record.Player
}

// client returns what a provider's room sends its requests with.
func (t RecordingTransport) client(provider string) *http.Client {
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
func (t RecordingTransport) Close() error {
	if t.recorder == nil {
		return nil
	}
	return t.recorder.Close()
}

// Mismatches returns how many answers were played to requests that differ from those
// of the recording in what the tree was like, and how the first did.
func (t RecordingTransport) Mismatches() (n int, first string) {
	if t.player == nil {
		return 0, ""
	}
	return t.player.LooseMatches()
}
