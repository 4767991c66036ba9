// Package mutate checks whether tests would notice a fault: it inserts small faults into the
// lines of a change, one at a time, and runs the tests on each.
//
// A fault that no test notices is a survivor. It proves nothing against the change, as some
// faults have no visible effect; it names a line that the tests check less closely than they
// could. The number of faults and the time for them are limited, and the selection is drawn
// with the tree as its seed, so that the same tree always gives the same faults.
package mutate

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// Gate is the name of the gate in its evidence and findings.
const Gate = nexus.MutationGate

// Mutant is one small fault in one line.
type Mutant struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Operator string `json:"operator"`
	Was      string `json:"was"`
	Now      string `json:"now"`

	at, end int    // position of Was in the file
	code    string // the inserted text, if Now only describes the effect; empty: Now
}

// String returns the fault with its position.
func (m Mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s becomes %s", m.File, m.Line, m.Operator, shortCodeSpan(m.Was), shortCodeSpan(m.Now))
}

// Apply returns the file with the fault in it.
func (m Mutant) Apply(src []byte) []byte {
	return slices.Concat(src[:m.at], []byte(cmp.Or(m.code, m.Now)), src[m.end:])
}

// shown limits how much of a piece of code is shown.
const shown = 60

func shortCodeSpan(code string) string {
	code = strings.Join(strings.Fields(code), " ")
	if r := []rune(code); len(r) > shown {
		code = string(r[:shown]) + "..."
	}
	return "`" + code + "`"
}

// MutableFile is a file of a change: its text, and its new lines.
type MutableFile struct {
	Path string
	Text string
	New  map[int]bool
}

// AddedLines returns the lines of a text, from 1, that a change from an older one adds, according
// to a diff. It excludes lines that only moved or were indented, and lines whose text also
// occurs elsewhere.
func AddedLines(old, now string) map[int]bool {
	was, is := trimmedLines(old), trimmedLines(now)
	hunks := files.ComputeHunks(was, is)
	moved := map[string]int{} // lines that the change removes
	for _, h := range hunks {
		for _, l := range was[h.From : h.From+h.Old] {
			moved[l]++
		}
	}
	fresh := map[int]bool{}
	for _, h := range hunks {
		for i, l := range is[h.To : h.To+h.New] {
			if moved[l] > 0 {
				moved[l]--
			} else if l != "" {
				fresh[h.To+i+1] = true
			}
		}
	}
	return fresh
}

func trimmedLines(text string) []string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
	}
	return lines
}

// FindMutants returns the faults that can be inserted into the new lines of a file, in their
// order. Tests, and files in an unknown language, have none.
func FindMutants(f MutableFile) []Mutant {
	if stack.ServesTests(f.Path) || len(f.New) == 0 || isGenerated(f.Text) {
		return nil
	}
	var all []Mutant
	if path.Ext(f.Path) == ".go" {
		all = goMutants(f)
	} else {
		all = lineMutants(f)
	}
	slices.SortStableFunc(all, func(a, b Mutant) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(all, func(a, b Mutant) bool { return a.at == b.at && a.end == b.end && a.Now == b.Now })
}

// isGenerated reports whether the first lines of a file state that it is generated.
func isGenerated(text string) bool {
	head := text[:min(len(text), 1000)]
	return strings.Contains(head, "DO NOT EDIT") || strings.Contains(head, "@generated")
}

// SampleMutants draws at most n of the faults by a seed, from as many lines as possible, in the order
// of their positions.
func SampleMutants(all []Mutant, seed string, n int) []Mutant {
	drawn := slices.Clone(all)
	slices.SortStableFunc(drawn, func(a, b Mutant) int { return cmp.Compare(sampleHash(seed, a), sampleHash(seed, b)) })
	lines := map[string]int{}
	round := make(map[Mutant]int, len(drawn))
	for _, m := range drawn {
		at := fmt.Sprintf("%s:%d", m.File, m.Line)
		round[m] = lines[at]
		lines[at]++
	}
	slices.SortStableFunc(drawn, func(a, b Mutant) int { return cmp.Compare(round[a], round[b]) })
	drawn = drawn[:min(len(drawn), max(n, 0))]
	slices.SortStableFunc(drawn, func(a, b Mutant) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.at, b.at), cmp.Compare(a.end, b.end))
	})
	return drawn
}

func sampleHash(seed string, m Mutant) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d\x00%s", seed, m.File, m.at, m.end, m.Now))
	return binary.BigEndian.Uint64(sum[:])
}
