package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CommitEvidence is the evidence at a commit.
type CommitEvidence struct {
	Commit string                      `json:"commit"`
	Tree   string                      `json:"tree"`
	Notes  []accept.CommitEvidenceNote `json:"notes"`
	Text   string                      `json:"text,omitzero"` // notes by others there
}

// DrawCommitEvidence draws the evidence for people.
func DrawCommitEvidence(s OutputStyle, t CommitEvidence) string {
	var b strings.Builder
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "commit %s, tree %s, run %s, task %s\n", ShortHash(t.Commit), ShortHash(t.Tree), EscapeForTerminal(string(n.Run)), EscapeForTerminal(string(n.Task)))
		if n.Tree != t.Tree {
			b.WriteString(s.Bad(fmt.Sprintf("not evidence for this commit: it is about tree %s", EscapeForTerminal(ShortHash(n.Tree)))) + "\n")
		}
		rows := make([][]string, 0, len(n.Gates))
		for _, g := range n.Gates {
			rows = append(rows, []string{EscapeForTerminal(g.Gate), colourGateState(s, g.State), EscapeForTerminal(gateResult(g)), EscapeForTerminal(cmp.Or(g.Command, "-"))})
		}
		b.WriteString(DrawTable(s, []string{"gate", "state", "found", "command"}, rows))
		b.WriteString(EscapeForTerminal(reviewLine(n)) + "\n")
	}
	if t.Text != "" {
		b.WriteString(EscapeLinesForTerminal(t.Text) + "\n")
	}
	return b.String()
}

func colourGateState(s OutputStyle, state nexus.GateState) string {
	text := EscapeForTerminal(string(state))
	switch state {
	case nexus.Pass:
		return s.Good(text)
	case nexus.Fail:
		return s.Bad(text)
	default:
		return s.Warn(text)
	}
}

// gateResult describes the result of a gate, with the reason.
func gateResult(g accept.NoteGateResult) string {
	var parts []string
	if c := g.Counts; c != nil {
		parts = append(parts, fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped))
	}
	if g.Findings > 0 {
		parts = append(parts, CountWithNoun(g.Findings, "finding"))
	}
	if g.Flaky > 0 {
		parts = append(parts, CountWithNoun(g.Flaky, "flaky test"))
	}
	if g.Why != "" {
		parts = append(parts, g.Why)
	}
	return cmp.Or(strings.Join(parts, "; "), "-")
}

func reviewLine(n accept.CommitEvidenceNote) string {
	r := n.Review
	if r == nil {
		return "review: none"
	}
	text := "review: rejected"
	switch {
	case !r.Reviewed:
		text = "review: unreadable"
	case r.Approved:
		text = "review: approved"
	}
	if r.Findings > 0 {
		text += ", " + CountWithNoun(r.Findings, "finding")
	}
	if r.Tree != n.Tree {
		text += ", of the work before the merge, tree " + ShortHash(r.Tree)
	}
	return text
}
