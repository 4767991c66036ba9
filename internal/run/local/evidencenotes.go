package local

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// writeEvidenceNotes writes the evidence for the tree of each published commit as a git note in the user's
// repository. It can be repeated.
func (m *LocalExecutor) writeEvidenceNotes(ctx context.Context, v state.WorkerView) error {
	edits := map[string]git.NoteEditFunc{}
	for _, p := range v.Proofs {
		for i := range p.Evidence { // the view's own copy
			e := &p.Evidence[i]
			e.Command, e.Toolchain, e.Why = m.maskText(e.Command), m.maskText(e.Toolchain), m.maskText(e.Why)
		}
		edits[p.Commit] = accept.EvidenceNoteOf(v.Run, p).InsertInto
	}
	return m.Worker.Trees.EditNotes(ctx, edits)
}

// maskText removes keys from text that leaves the private state.
func (m *LocalExecutor) maskText(text string) string {
	if m.Worker.Site.Mask == nil {
		return text
	}
	return string(m.Worker.Site.Mask([]byte(text)))
}
