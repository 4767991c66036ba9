package accept

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// noteVersion is of the format. Readers skip what is newer.
const noteVersion = 1

// Note says what was shown of the tree of a landed commit.
type Note struct {
	Version  int             `json:"nexus_evidence"`
	Run      nexus.RunID     `json:"run"`
	Task     nexus.TaskID    `json:"task"`
	Attempt  nexus.AttemptID `json:"attempt"`
	Tree     string          `json:"tree"`              // that the commit has
	Resolved bool            `json:"resolved,omitzero"` // a conflict was resolved by a model
	Gates    []NoteGate      `json:"gates"`             // that judged exactly this tree, by name
	Review   *NoteReview     `json:"review,omitzero"`   // the last one of the work
}

// NoteGate is what a gate said about the tree.
type NoteGate struct {
	Gate      string          `json:"gate"`
	State     nexus.GateState `json:"state"`
	Command   string          `json:"command,omitzero"`
	Exit      int             `json:"exit"`
	Counts    *nexus.Counts   `json:"counts,omitzero"` // nil where it runs no tests
	Findings  int             `json:"findings,omitzero"`
	Flaky     int             `json:"flaky,omitzero"` // tests whose failure did not count against it
	Toolchain string          `json:"toolchain,omitzero"`
	Output    string          `json:"output,omitzero"` // digest of what it printed
	Base      string          `json:"base,omitzero"`   // tree that it was weighed against
	Why       string          `json:"why,omitzero"`
}

// NoteReview is what the last reviewer of the work said.
type NoteReview struct {
	Tree     string         `json:"tree"` // that was read: the work's own, where it was merged with others'
	Reviewed bool           `json:"reviewed"`
	Approved bool           `json:"approved"`
	Findings int            `json:"findings,omitzero"`
	Readers  []nexus.Reader `json:"readers,omitempty"`
}

// NoteOf returns the note of a landed commit.
func NoteOf(run nexus.RunID, p state.Proof) Note {
	n := Note{
		Version: noteVersion, Run: run, Task: p.Task, Attempt: p.Attempt, Tree: p.Tree, Resolved: p.Resolved, Gates: []NoteGate{},
	}
	for _, e := range p.Evidence {
		if e.Tree != p.Tree {
			continue
		}
		g := NoteGate{
			Gate: e.Gate, State: e.State, Command: e.Command, Exit: e.Exit, Findings: len(e.Findings), Flaky: len(e.Flaky),
			Toolchain: e.Toolchain, Output: e.Output, Base: e.Base, Why: e.Why,
		}
		if e.Counts != (nexus.Counts{}) {
			g.Counts = &e.Counts
		}
		n.Gates = append(n.Gates, g)
	}
	slices.SortStableFunc(n.Gates, func(a, b NoteGate) int { return cmp.Compare(a.Gate, b.Gate) })
	if r := p.Review; r != nil {
		n.Review = &NoteReview{Tree: r.Tree, Reviewed: r.Reviewed, Approved: r.Approved && !r.SendsBack, Findings: len(r.Findings), Readers: r.Readers}
	}
	return n
}

// Into puts the note into the text that is at a commit: in the place of
// what the same attempt had there, else at its end. All other lines stay.
func (n Note) Into(old []byte) ([]byte, error) {
	line, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	var out []string
	placed := false
	text := strings.TrimSuffix(string(old), "\n")
	if text != "" {
		out = strings.Split(text, "\n")
	}
	for i, l := range out {
		if was, ok := parseNote(l); ok && was.Run == n.Run && was.Attempt == n.Attempt {
			out[i], placed = string(line), true
		}
	}
	if !placed {
		out = append(out, string(line))
	}
	return []byte(strings.Join(out, "\n") + "\n"), nil
}

// ParseNotes returns the notes that a text holds, and what else is in it.
func ParseNotes(text []byte) (all []Note, rest string) {
	var other []string
	for line := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
		if n, ok := parseNote(line); ok {
			all = append(all, n)
		} else {
			other = append(other, line)
		}
	}
	return all, strings.TrimSpace(strings.Join(other, "\n"))
}

func parseNote(line string) (Note, bool) {
	if !strings.HasPrefix(line, "{") {
		return Note{}, false
	}
	var n Note
	err := json.Unmarshal([]byte(line), &n)
	return n, err == nil && n.Version == noteVersion && n.Run != "" && n.Attempt != ""
}
