package stream

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// plainTextDecoder decodes the output of a program that prints plain text. Its exit code is the only sign of
// how it ended, unless a line is known that ends the prompt. Exit code 0 counts as done: the
// result is judged by its change in any case.
type plainTextDecoder struct {
	said  string
	until string // text of the line that ends the prompt; empty: none
	done  bool
}

// DecodeLine implements [AgentStreamDecoder].
func (t *plainTextDecoder) DecodeLine(line []byte) []AgentEvent {
	if t.done {
		return nil
	}
	if t.done = t.until != "" && strings.Contains(string(line), t.until); t.done {
		return []AgentEvent{{Kind: PromptEnded, End: t.Close(0, "")}}
	}
	t.said = lastBytes(t.said+strings.ToValidUTF8(string(line), "?")+"\n", maxText)
	return nil
}

// Close implements [AgentStreamDecoder].
func (t *plainTextDecoder) Close(exit int, stderr string) AgentPromptEnd {
	e := AgentPromptEnd{Text: strings.TrimSpace(t.said)}
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
	said := strings.TrimSpace(stderr + "\n" + lastBytes(t.said, maxLost))
	// Earlier output is about its work: a server that answers 401 is no lost login.
	if known := cmp.Or(ClassifyFault(stderr), ClassifyFault(lastLines(t.said, 3))); known != "" {
		e.Fault = known
	}
	e.Why = strings.TrimSuffix(fmt.Sprintf("it exited with %d: %s", exit, BriefLine(said)), ": ")
	return e
}

// lastLines returns the last non-empty lines of a text.
func lastLines(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}
