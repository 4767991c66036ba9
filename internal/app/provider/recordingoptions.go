package provider

import (
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/trafficrecord"
)

// TrafficRecordingOptions configures recording and replay of the traffic with providers.
type TrafficRecordingOptions struct {
	Record string // directory to record to; empty for none
	Replay string // directory to replay from; empty calls the providers
}

// Open opens the named directories.
func (t TrafficRecordingOptions) Open(mask func([]byte) []byte) (RecordingTransport, error) {
	switch {
	case t.Record != "":
		r, err := trafficrecord.CreateRecording(t.Record, mask)
		return newRecording(r), err
	case t.Replay != "":
		p, err := trafficrecord.LoadRecording(t.Replay, mask)
		return newPlayback(p), err
	default:
		return RecordingTransport{}, nil
	}
}
