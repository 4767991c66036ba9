package gate

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Moves says where the lines of one tree are in another one. The zero Moves
// leaves everything where it is.
type Moves map[string]movedFile // by the name of the file before

type movedFile struct {
	name  string      // now
	hunks []movedHunk // in the order of their lines
}

// movedHunk stands for lines of before, from a line on, and those of now in their
// place.
type movedHunk struct{ from, lines, to, now int }

// ParseMoves reads a patch of git without lines of context, in which files that
// were renamed are one.
func ParseMoves(patch string) Moves {
	all := Moves{}
	place := regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	name, left := "", 0 // lines of a hunk, which may look like anything
	for l := range strings.Lines(patch) {
		l = strings.TrimSuffix(l, "\n")
		if left > 0 && (strings.HasPrefix(l, "-") || strings.HasPrefix(l, "+")) {
			left--
			continue
		}
		if rest, ok := strings.CutPrefix(l, "diff --git "); ok {
			name, left = "", 0
			if was, now, ok := strings.Cut(rest, " b/"); ok && !strings.Contains(now, " b/") {
				name = strings.TrimPrefix(was, "a/")
				all[name] = movedFile{name: now}
			}
			continue
		}
		m := place.FindStringSubmatch(l)
		if m == nil || name == "" {
			continue
		}
		h := movedHunk{parseNumber(m[1]), hunkCount(m[2]), parseNumber(m[3]), hunkCount(m[4])}
		left = h.lines + h.now
		f := all[name]
		f.hunks = append(f.hunks, h)
		all[name] = f
	}
	return all
}

// hunkCount is the number of lines in the head of a hunk, which one line has not.
func hunkCount(s string) int {
	if s == "" {
		return 1
	}
	return parseNumber(s)
}

func parseNumber(s string) int {
	n, _ := strconv.Atoi(s) // the pattern has digits only; what is too large is 0
	return n
}

// Of returns a finding of before with the place that it has now. A line that
// was replaced is among those in its place.
func (m Moves) Of(f nexus.Finding) nexus.Finding {
	to, ok := m[f.File]
	if !ok {
		return f
	}
	f.File = to.name
	at := f.Line
	for _, h := range to.hunks {
		switch {
		case f.Line == 0:
		case h.lines == 0 && f.Line > h.from, h.lines > 0 && f.Line >= h.from+h.lines:
			at += h.now - h.lines
		case h.lines > 0 && f.Line >= h.from:
			f.Line = h.to + min(f.Line-h.from, max(h.now-1, 0))
			return f
		}
	}
	f.Line = at
	return f
}
