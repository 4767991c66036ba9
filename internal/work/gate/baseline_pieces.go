package gate

import (
	"maps"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// failurePieces are the parts of a failing test's message, without text that differs from run to run.
type failurePieces map[string]bool

// splitFailureMessage splits a test's message. Whole is false if a part of it is missing.
func splitFailureMessage(f nexus.Finding) (p failurePieces, whole bool) {
	p = failurePieces{}
	begins := regexp.MustCompile(`^\s*[^\s:/]+\.go:\d+: |^panic: `)
	one := ""
	add := func() {
		if s := normaliseMessage(one); s != "" {
			p[f.Code+" "+s] = true
		}
		one = ""
	}
	whole = true
	for l := range strings.Lines(f.Message) {
		whole = whole && strings.TrimSpace(l) != "..." && !strings.HasSuffix(l, " ...")
		if begins.MatchString(l) || !strings.HasPrefix(l, " ") && !strings.HasPrefix(l, "\t") {
			add()
		}
		one += l
	}
	add()
	return p, whole
}

// difference returns the pieces of p that are not in q.
func (p failurePieces) difference(q failurePieces) failurePieces {
	left := maps.Clone(p)
	for s := range q {
		delete(left, s)
	}
	return left
}

// intersection returns the pieces that are in both p and q.
func (p failurePieces) intersection(q failurePieces) failurePieces {
	return p.difference(p.difference(q))
}
