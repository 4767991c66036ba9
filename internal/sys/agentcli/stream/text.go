package stream

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// text reads a program that prints what it likes. Its exit is all that says how
// it ended, unless somebody knows which line does, so 0 is taken as done: what it
// did is judged by its change anyway.
type text struct {
	said  string
	until string // in the line that says that it is done; empty: none does
	done  bool
}

// Line implements [Decoder].
func (t *text) Line(line []byte) []Event {
	if t.done {
		return nil
	}
	if t.done = t.until != "" && strings.Contains(string(line), t.until); t.done {
		return []Event{{Kind: Ended, End: t.Close(0, "")}}
	}
	t.said = tail(t.said+strings.ToValidUTF8(string(line), "?")+"\n", maxText)
	return nil
}

// Close implements [Decoder].
func (t *text) Close(exit int, stderr string) End {
	e := End{Text: strings.TrimSpace(t.said)}
	switch {
	case t.done:
		return e
	case exit == 0 && t.until != "":
		e.Fault, e.Why = nexus.FaultUnfinished, "it exited with 0 without the line that says that it is done"
		return e
	case exit == 0:
		return e
	}
	e.Fault = nexus.FaultCrashed
	said := strings.TrimSpace(stderr + "\n" + tail(t.said, maxLost))
	// What it printed before its end is about its work: a server that answers 401
	// is no lost login.
	if known := cmp.Or(Classify(stderr), Classify(lastLines(t.said, 3))); known != "" {
		e.Fault = known
	}
	e.Why = strings.TrimSuffix(fmt.Sprintf("it exited with %d: %s", exit, Brief(said)), ": ")
	return e
}

// lastLines returns the last lines of a text that are not empty.
func lastLines(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}
