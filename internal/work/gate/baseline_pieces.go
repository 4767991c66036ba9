package gate

import (
	"maps"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// pieces are the parts of a failing test's message, without text that differs from run to run.
type pieces map[string]bool

// piecesOf splits a test's message. Whole is false if a part of it is missing.
func piecesOf(f nexus.Finding) (p pieces, whole bool) {
	p = pieces{}
	begins := regexp.MustCompile(`^\s*[^\s:/]+\.go:\d+: |^panic: `)
	one := ""
	add := func() {
		if s := normalise(one); s != "" {
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

// minus returns the pieces of p that are not in q.
func (p pieces) minus(q pieces) pieces {
	left := maps.Clone(p)
	for s := range q {
		delete(left, s)
	}
	return left
}

// both returns the pieces that are in both p and q.
func (p pieces) both(q pieces) pieces { return p.minus(p.minus(q)) }
