package provider

import (
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/record"
)

// Traffic says what becomes of the traffic with providers.
type Traffic struct {
	Record string // directory that it is recorded to; empty for none
	Replay string // directory that it is played from; empty asks the providers
}

// Open opens the directories that are named.
func (t Traffic) Open(mask func([]byte) []byte) (RecordingTransport, error) {
	switch {
	case t.Record != "":
		r, err := record.Create(t.Record, mask)
		return newRecording(r), err
	case t.Replay != "":
		p, err := record.Load(t.Replay, mask)
		return newPlayback(p), err
	default:
		return RecordingTransport{}, nil
	}
}
