package gate

import (
	"maps"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// failureMessagePieces are the parts of a failing test's message, without text that differs from run to run.
type failureMessagePieces map[string]bool

// splitFailureMessage splits a test's message. Whole is false if a part of it is missing.
func splitFailureMessage(f nexus.Finding) (p failureMessagePieces, whole bool) {
	p = failureMessagePieces{}
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
func (p failureMessagePieces) difference(q failureMessagePieces) failureMessagePieces {
	left := maps.Clone(p)
	for s := range q {
		delete(left, s)
	}
	return left
}

// intersection returns the pieces that are in both p and q.
func (p failureMessagePieces) intersection(q failureMessagePieces) failureMessagePieces {
	return p.difference(p.difference(q))
}
