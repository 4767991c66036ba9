package provider

import (
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/record"
)

// TrafficOptions configures recording and replay of the traffic with providers.
type TrafficOptions struct {
	Record string // directory to record to; empty for none
	Replay string // directory to replay from; empty calls the providers
}

// Open opens the named directories.
func (t TrafficOptions) Open(mask func([]byte) []byte) (RecordingTransport, error) {
	switch {
	case t.Record != "":
		r, err := record.CreateRecording(t.Record, mask)
		return newRecording(r), err
	case t.Replay != "":
		p, err := record.LoadRecording(t.Replay, mask)
		return newPlayback(p), err
	default:
		return RecordingTransport{}, nil
	}
}
