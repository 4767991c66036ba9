package provider

import (
	"net/http"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/trafficrecord"
)

// newRecording returns a transport that also records the traffic.
func newRecording(r *trafficrecord.TrafficRecorder) RecordingTransport {
	return RecordingTransport{recorder: r}
}

// newPlayback returns a transport that answers from a recording.
func newPlayback(p *trafficrecord.Player) RecordingTransport { return RecordingTransport{player: p} }

// RecordingTransport is between the provider clients and the network. Its zero value is the
// network itself.
type RecordingTransport struct {
	recorder *trafficrecord.TrafficRecorder
	player   *trafficrecord.Player
}

// httpClient returns the HTTP client of a provider.
func (t RecordingTransport) httpClient(provider string) *http.Client {
	switch {
	case t.recorder != nil:
		return &http.Client{Transport: t.recorder.Transport(provider, nil)}
	case t.player != nil:
		return &http.Client{Transport: t.player.Transport(provider)}
	default:
		return &http.Client{}
	}
}

// Close returns an error if something could not be recorded.
func (t RecordingTransport) Close() error {
	if t.recorder == nil {
		return nil
	}
	return t.recorder.Close()
}

// ReplayMismatches returns the number of replayed answers whose requests differ from the recorded
// ones in the state of the tree, and the first difference.
func (t RecordingTransport) ReplayMismatches() (n int, first string) {
	if t.player == nil {
		return 0, ""
	}
	return t.player.LooseMatchCount()
}
