package definitionofdone

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
)

// FileChange is the change of one file.
type FileChange struct {
	Path    string
	New     bool
	Gone    bool
	Added   []AddedPatchLine
	Removed int    // lines
	Was     int    // earlier number of lines, if needed; 0: not counted
	MovedTo string // its new path, if it was moved; empty: not moved
}

// AddedPatchLine is a line that a change adds.
type AddedPatchLine struct {
	Number int
	Text   string
}

// ParsePatch parses a patch in git's format without context lines and renames.
func ParsePatch(patch string) []FileChange {
	var all []FileChange
	for _, f := range diffreview.ParseWholeDiff(patch) {
		c := FileChange{Path: f.Path, New: f.Status == "added", Gone: f.Status == "deleted", Removed: f.Deleted}
		for _, h := range f.Hunks {
			for _, l := range h.Lines {
				if l.Kind == "+" {
					c.Added = append(c.Added, AddedPatchLine{l.New, strings.TrimSuffix(l.Text, "\r")})
				}
			}
		}
		all = append(all, c)
	}
	return all
}
