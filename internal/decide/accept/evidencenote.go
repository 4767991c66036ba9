package accept

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// noteVersion is the version of the format. Readers skip newer versions.
const noteVersion = 1

// CommitEvidenceNote describes the evidence for the tree of a landed commit.
type CommitEvidenceNote struct {
	Version  int                 `json:"nexus_evidence"`
	Run      nexus.RunID         `json:"run"`
	Task     nexus.TaskID        `json:"task"`
	Attempt  nexus.AttemptID     `json:"attempt"`
	Tree     string              `json:"tree"`              // the commit's tree
	Resolved bool                `json:"resolved,omitzero"` // a model resolved a merge conflict
	Gates    []NoteGateResult    `json:"gates"`             // gates that judged exactly this tree, by name
	Review   *EvidenceNoteReview `json:"review,omitzero"`   // the last review of the work
}

// NoteGateResult is a gate's result on the tree.
type NoteGateResult struct {
	Gate      string            `json:"gate"`
	State     nexus.GateState   `json:"state"`
	Command   string            `json:"command,omitzero"`
	Exit      int               `json:"exit"`
	Counts    *nexus.TestCounts `json:"counts,omitzero"` // nil if it runs no tests
	Findings  int               `json:"findings,omitzero"`
	Flaky     int               `json:"flaky,omitzero"` // tests whose failure did not count against the tree
	Toolchain string            `json:"toolchain,omitzero"`
	Output    string            `json:"output,omitzero"` // digest of its output
	Base      string            `json:"base,omitzero"`   // tree that it was compared with
	Why       string            `json:"why,omitzero"`
}

// EvidenceNoteReview is the last review of the work.
type EvidenceNoteReview struct {
	Tree     string                 `json:"tree"` // the reviewed tree: the work's own, if it was merged with other work
	Reviewed bool                   `json:"reviewed"`
	Approved bool                   `json:"approved"`
	Findings int                    `json:"findings,omitzero"`
	Readers  []nexus.ChangeReviewer `json:"readers,omitempty"`
}

// EvidenceNoteOf returns the note of a landed commit.
func EvidenceNoteOf(run nexus.RunID, p state.LandingEvidence) CommitEvidenceNote {
	n := CommitEvidenceNote{
		Version: noteVersion, Run: run, Task: p.Task, Attempt: p.Attempt, Tree: p.Tree, Resolved: p.Resolved, Gates: []NoteGateResult{},
	}
	for _, e := range p.Evidence {
		if e.Tree != p.Tree {
			continue
		}
		g := NoteGateResult{
			Gate: e.Gate, State: e.State, Command: e.Command, Exit: e.Exit, Findings: len(e.Findings), Flaky: len(e.Flaky),
			Toolchain: e.Toolchain, Output: e.Output, Base: e.Base, Why: e.Why,
		}
		if e.Counts != (nexus.TestCounts{}) {
			g.Counts = &e.Counts
		}
		n.Gates = append(n.Gates, g)
	}
	slices.SortStableFunc(n.Gates, func(a, b NoteGateResult) int { return cmp.Compare(a.Gate, b.Gate) })
	if r := p.Review; r != nil {
		n.Review = &EvidenceNoteReview{Tree: r.Tree, Reviewed: r.Reviewed, Approved: r.Approved && !r.SendsBack, Findings: len(r.Findings), Readers: r.Readers}
	}
	return n
}

// InsertInto adds the note to the existing text of a commit: it replaces a note of the same
// attempt, or is appended. All other lines stay.
func (n CommitEvidenceNote) InsertInto(old []byte) ([]byte, error) {
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

// ParseNotes returns the notes in a text, and the rest of the text.
func ParseNotes(text []byte) (all []CommitEvidenceNote, rest string) {
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

func parseNote(line string) (CommitEvidenceNote, bool) {
	if !strings.HasPrefix(line, "{") {
		return CommitEvidenceNote{}, false
	}
	var n CommitEvidenceNote
	err := json.Unmarshal([]byte(line), &n)
	return n, err == nil && n.Version == noteVersion && n.Run != "" && n.Attempt != ""
}
