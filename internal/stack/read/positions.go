package read

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// positions matches the forms in which tools print a position.
type positions struct {
	colon *regexp.Regexp
}

func goPositions() positions {
	return positions{colon: regexp.MustCompile(`^(?:vet: )?([^\s:][^:]*\.(?:go|mod|work|sum|s|c|h|cc|cpp|cxx|m)):(\d+)(?::(\d+)(?:-[\d:]+)?)?:? `)}
}

// at returns the finding at the beginning of a line.
func (p positions) at(in raw.Input, line string) (nexus.Finding, bool) {
	head := line[:min(len(line), 512)] // no position is longer, and matching is slow
	m := p.colon.FindStringSubmatch(head)
	if m == nil || strings.TrimSpace(line[len(m[0]):]) == "" {
		return nexus.Finding{}, false
	}
	f := nexus.Finding{File: in.Place(m[1]), Line: raw.Number(m[2]), Column: raw.Number(m[3]), Message: line[len(m[0]):]}
	if f.File == "" {
		f.Line, f.Column, f.Message = 0, 0, line
	}
	return f, true
}
