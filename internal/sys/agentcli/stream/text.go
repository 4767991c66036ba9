package stream

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// text decodes the output of a program that prints plain text. Its exit code is the only sign of
// how it ended, unless a line is known that ends the prompt. Exit code 0 counts as done: the
// result is judged by its change in any case.
type text struct {
	said  string
	until string // text of the line that ends the prompt; empty: none
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
	// Earlier output is about its work: a server that answers 401 is no lost login.
	if known := cmp.Or(Classify(stderr), Classify(lastLines(t.said, 3))); known != "" {
		e.Fault = known
	}
	e.Why = strings.TrimSuffix(fmt.Sprintf("it exited with %d: %s", exit, Brief(said)), ": ")
	return e
}

// lastLines returns the last non-empty lines of a text.
func lastLines(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}
