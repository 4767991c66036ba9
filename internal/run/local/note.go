package local

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// note writes beside each published commit what was shown of its tree, in the
// user's repository. It says the same however often it is called.
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

// mask takes keys out of what leaves the private state.
func (m *Machine) mask(text string) string {
	if m.Worker.Site.Mask == nil {
		return text
	}
	return string(m.Worker.Site.Mask([]byte(text)))
}
