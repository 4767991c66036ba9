package stream

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// text reads a program that prints what it likes. Its exit is all that says how
// it ended, so 0 is taken as done: what it did is judged by its change anyway.
type text struct{ said string }

// Line implements [Decoder].
func (t *text) Line(line []byte) []Event {
	t.said = tail(t.said+strings.ToValidUTF8(string(line), "?")+"\n", maxText)
	return nil
}

// Close implements [Decoder].
func (t *text) Close(exit int, stderr string) End {
	e := End{Text: strings.TrimSpace(t.said)}
	if exit == 0 {
		return e
	}
	e.Fault = nexus.FaultCrashed
	said := strings.TrimSpace(stderr + "\n" + tail(t.said, maxLost))
	if known := Classify(said); known != "" {
		e.Fault = known
	}
	e.Why = strings.TrimSuffix(fmt.Sprintf("it exited with %d: %s", exit, Brief(said)), ": ")
	return e
}
