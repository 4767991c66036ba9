package outputparser

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// linePositionPatterns matches the forms in which tools print a position.
type linePositionPatterns struct {
	colon *regexp.Regexp
}

func goPositionPatterns() linePositionPatterns {
	return linePositionPatterns{colon: regexp.MustCompile(`^(?:vet: )?([^\s:][^:]*\.(?:go|mod|work|sum|s|c|h|cc|cpp|cxx|m)):(\d+)(?::(\d+)(?:-[\d:]+)?)?:? `)}
}

// findingAt returns the finding at the beginning of a line.
func (p linePositionPatterns) findingAt(in parserbase.ToolOutput, line string) (nexus.Finding, bool) {
	head := line[:min(len(line), 512)] // no position is longer, and matching is slow
	m := p.colon.FindStringSubmatch(head)
	if m == nil || strings.TrimSpace(line[len(m[0]):]) == "" {
		return nexus.Finding{}, false
	}
	f := nexus.Finding{File: in.RelativePath(m[1]), Line: parserbase.ParseNumber(m[2]), Column: parserbase.ParseNumber(m[3]), Message: line[len(m[0]):]}
	if f.File == "" {
		f.Line, f.Column, f.Message = 0, 0, line
	}
	return f, true
}
