package gate

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TreeLineMapping maps the lines of one tree to those of another one, by the previous name of their file.
// The zero Moves changes nothing.
type TreeLineMapping map[string]diffreview.DiffFile

// ParseLineMoves parses a git patch without context lines, in which a renamed file is one entry.
func ParseLineMoves(patch string) TreeLineMapping {
	all := TreeLineMapping{}
	for _, f := range diffreview.ParseDiff(patch) {
		all[cmp.Or(f.Old, f.Path)] = f
	}
	return all
}

// MoveFinding returns a previous finding with its present position. A line that was replaced maps to
// one of its replacements.
func (m TreeLineMapping) MoveFinding(f nexus.Finding) nexus.Finding {
	to, ok := m[f.File]
	if !ok {
		return f
	}
	f.File = to.Path
	at := f.Line
	for _, h := range to.Hunks {
		switch {
		case f.Line == 0:
		case h.OldLen == 0 && f.Line > h.Old, h.OldLen > 0 && f.Line >= h.Old+h.OldLen:
			at += h.NewLen - h.OldLen
		case h.OldLen > 0 && f.Line >= h.Old:
			f.Line = h.New + min(f.Line-h.Old, max(h.NewLen-1, 0))
			return f
		}
	}
	f.Line = at
	return f
}
