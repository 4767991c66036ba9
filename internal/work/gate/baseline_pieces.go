package gate

import (
	"maps"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Pieces are the things that a failing test said, each without what differs
// from run to run.
type Pieces map[string]bool

// PiecesOf takes apart what a test said. Whole is false when some of it is
// missing.
func PiecesOf(f nexus.Finding) (p Pieces, whole bool) {
	p = Pieces{}
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

// Minus returns the pieces of p that q does not have.
func (p Pieces) Minus(q Pieces) Pieces {
	left := maps.Clone(p)
	for s := range q {
		delete(left, s)
	}
	return left
}

// Both returns the pieces that p and q have.
func (p Pieces) Both(q Pieces) Pieces { return p.Minus(p.Minus(q)) }
