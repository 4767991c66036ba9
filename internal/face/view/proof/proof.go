// Package proof shows what git notes tell of a commit's tree.
package proof

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/attest"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Table is what stands at a commit.
type Table struct {
	Commit string        `json:"commit"`
	Tree   string        `json:"tree"`
	Notes  []attest.Note `json:"notes"`
	Text   string        `json:"text,omitzero"` // what others noted there
}

// Draw draws it for people.
func Draw(s view.Style, t Table) string {
	var b strings.Builder
	for _, n := range t.Notes {
		fmt.Fprintf(&b, "commit %s, tree %s, run %s, task %s\n", view.Short(t.Commit), view.Short(t.Tree), view.Clean(string(n.Run)), view.Clean(string(n.Task)))
		if n.Tree != t.Tree {
			b.WriteString(s.Bad(fmt.Sprintf("this is no evidence of the commit: it is of tree %s", view.Clean(view.Short(n.Tree)))) + "\n")
		}
		rows := make([][]string, 0, len(n.Gates))
		for _, g := range n.Gates {
			rows = append(rows, []string{view.Clean(g.Gate), paint(s, g.State), view.Clean(says(g)), view.Clean(cmp.Or(g.Command, "-"))})
		}
		b.WriteString(view.Table(s, []string{"gate", "state", "found", "command"}, rows))
		b.WriteString(view.Clean(reviewed(n)) + "\n")
	}
	if t.Text != "" {
		b.WriteString(view.CleanText(t.Text) + "\n")
	}
	return b.String()
}

func paint(s view.Style, state nexus.GateState) string {
	text := view.Clean(string(state))
	switch state {
	case nexus.Pass:
		return s.Good(text)
	case nexus.Fail:
		return s.Bad(text)
	default:
		return s.Warn(text)
	}
}

// says tells what a gate found, and why.
func says(g attest.Gate) string {
	var parts []string
	if c := g.Counts; c != nil {
		parts = append(parts, fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped))
	}
	if g.Findings > 0 {
		parts = append(parts, view.Count(g.Findings, "finding"))
	}
	if g.Flaky > 0 {
		parts = append(parts, view.Count(g.Flaky, "flaky test"))
	}
	if g.Why != "" {
		parts = append(parts, g.Why)
	}
	return cmp.Or(strings.Join(parts, "; "), "-")
}

func reviewed(n attest.Note) string {
	r := n.Review
	if r == nil {
		return "review: none"
	}
	text := "review: rejected"
	switch {
	case !r.Reviewed:
		text = "review: nobody could read it"
	case r.Approved:
		text = "review: approved"
	}
	if r.Findings > 0 {
		text += ", " + view.Count(r.Findings, "finding")
	}
	if r.Tree != n.Tree {
		text += ", of the work before it was merged, tree " + view.Short(r.Tree)
	}
	return text
}
