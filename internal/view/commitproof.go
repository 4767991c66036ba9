package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CommitProof is the evidence at a commit.
type CommitProof struct {
	Commit string                `json:"commit"`
	Tree   string                `json:"tree"`
	Notes  []accept.EvidenceNote `json:"notes"`
	Text   string                `json:"text,omitzero"` // notes by others there
}

// DrawProof draws the evidence for people.
func DrawProof(s Style, t CommitProof) string {
	var b strings.Builder
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "commit %s, tree %s, run %s, task %s\n", ShortHash(t.Commit), ShortHash(t.Tree), Clean(string(n.Run)), Clean(string(n.Task)))
		if n.Tree != t.Tree {
			b.WriteString(s.Bad(fmt.Sprintf("not evidence for this commit: it is about tree %s", Clean(ShortHash(n.Tree)))) + "\n")
		}
		rows := make([][]string, 0, len(n.Gates))
		for _, g := range n.Gates {
			rows = append(rows, []string{Clean(g.Gate), paintProof(s, g.State), Clean(gateResult(g)), Clean(cmp.Or(g.Command, "-"))})
		}
		b.WriteString(DrawTable(s, []string{"gate", "state", "found", "command"}, rows))
		b.WriteString(Clean(reviewLine(n)) + "\n")
	}
	if t.Text != "" {
		b.WriteString(CleanText(t.Text) + "\n")
	}
	return b.String()
}

func paintProof(s Style, state nexus.GateState) string {
	text := Clean(string(state))
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
func gateResult(g accept.NoteGate) string {
	var parts []string
	if c := g.Counts; c != nil {
		parts = append(parts, fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped))
	}
	if g.Findings > 0 {
		parts = append(parts, Count(g.Findings, "finding"))
	}
	if g.Flaky > 0 {
		parts = append(parts, Count(g.Flaky, "flaky test"))
	}
	if g.Why != "" {
		parts = append(parts, g.Why)
	}
	return cmp.Or(strings.Join(parts, "; "), "-")
}

func reviewLine(n accept.EvidenceNote) string {
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
		text += ", " + Count(r.Findings, "finding")
	}
	if r.Tree != n.Tree {
		text += ", of the work before the merge, tree " + ShortHash(r.Tree)
	}
	return text
}
