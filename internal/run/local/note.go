package local

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// note writes the evidence for the tree of each published commit as a git note in the user's
// repository. It can be repeated.
func (m *Machine) note(ctx context.Context, v state.View) error {
	edits := map[string]git.NoteEdit{}
	for _, p := range v.Proofs {
		for i := range p.Evidence { // the view's own copy
			e := &p.Evidence[i]
			e.Command, e.Toolchain, e.Why = m.mask(e.Command), m.mask(e.Toolchain), m.mask(e.Why)
		}
		edits[p.Commit] = accept.NoteOf(v.Run, p).Into
	}
	return m.Worker.Trees.EditNotes(ctx, edits)
}

// mask removes keys from text that leaves the private state.
func (m *Machine) mask(text string) string {
	if m.Worker.Site.Mask == nil {
		return text
	}
	return string(m.Worker.Site.Mask([]byte(text)))
}
