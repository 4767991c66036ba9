package files

import (
	"fmt"
	"hash/maphash"
	"strings"
	"sync"
)

const (
	maxSeen = 500_000 // lines that are remembered of all files together
	near    = 3       // lines between an edit and a change that the agent has not seen
)

// readLineHistory remembers the lines that an agent read, a hash for each line. It may be used by
// many goroutines.
type readLineHistory struct {
	seed maphash.Seed

	mu    sync.Mutex
	files map[string]rememberedFileLines
	order []string // oldest first
	lines int
}

// rememberedFileLines is the remembered state of a file.
type rememberedFileLines struct {
	whole uint64 // hash of the whole text
	lines []uint64
}

func newReadHistory() *readLineHistory {
	return &readLineHistory{seed: maphash.MakeSeed(), files: map[string]rememberedFileLines{}}
}

// lineHashes returns the hashes of the lines that [splitLines] returns.
func (s *readLineHistory) lineHashes(text string) []uint64 {
	sums := make([]uint64, 0, strings.Count(text, "\n")+1)
	for l := range strings.Lines(text) {
		line, ends := strings.CutSuffix(l, "\n")
		if !ends {
			line = splitLines(l)[0]
		}
		sums = append(sums, maphash.String(s.seed, line))
	}
	return sums
}

// rememberVersion remembers a file in the version that the agent knows now.
func (s *readLineHistory) rememberVersion(name, text string) {
	k := rememberedFileLines{maphash.String(s.seed, text), s.lineHashes(text)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, had := s.files[name]; !had {
		s.order = append(s.order, name)
	}
	s.lines += len(k.lines) - len(s.files[name].lines)
	s.files[name] = k
	for s.lines > maxSeen && len(s.order) > 1 {
		oldest := s.order[0]
		s.order = s.order[1:]
		s.lines -= len(s.files[oldest].lines)
		delete(s.files, oldest)
	}
}

// changesSinceRead returns the changes of a file since the agent read it: none if it never did.
func (s *readLineHistory) changesSinceRead(name, text string) []ReplacedLineHunk {
	s.mu.Lock()
	old, had := s.files[name]
	s.mu.Unlock()
	if !had || old.whole == maphash.String(s.seed, text) {
		return nil
	}
	return ComputeHunks(old.lines, s.lineHashes(text))
}

// describeChanges describes changes, with the lines as they are now.
func describeChanges(text string, changes []ReplacedLineHunk, most int) string {
	lines := splitLines(text)
	var b strings.Builder
	for i, h := range changes {
		if b.Len() > most {
			fmt.Fprintf(&b, "[%d more places]\n", len(changes)-i)
			break
		}
		switch {
		case h.New == 0:
			fmt.Fprintf(&b, "after line %d, %d lines are gone\n", h.To, h.Old)
			continue
		case h.Old == 0:
			fmt.Fprintf(&b, "lines %d-%d are new:\n", h.To+1, h.To+h.New)
		default:
			fmt.Fprintf(&b, "lines %d-%d changed:\n", h.To+1, h.To+h.New)
		}
		for _, l := range lines[h.To : h.To+h.New] {
			if b.Len() > most {
				b.WriteString("[cut]\n")
				break
			}
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// touchesUnseenChange reports whether one of our changes is near one that the agent has not seen.
func touchesUnseenChange(ours, theirs []ReplacedLineHunk) bool {
	for _, o := range ours {
		for _, t := range theirs {
			if o.From < t.To+t.New+near && t.To < o.From+o.Old+near {
				return true
			}
		}
	}
	return false
}
