package gate

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// LineMoves maps the lines of one tree to those of another one. The zero Moves changes nothing.
type LineMoves map[string]movedFile // key: the previous name of the file

type movedFile struct {
	name  string      // present name
	hunks []movedHunk // ranges in the order of their lines
}

// movedHunk is a range of previous lines, and the range of present lines that replaced it.
type movedHunk struct{ from, lines, to, now int }

// ParseMoves parses a git patch without context lines, in which a renamed file is one entry.
func ParseMoves(patch string) LineMoves {
	all := LineMoves{}
	place := regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	name, left := "", 0 // remaining lines of a hunk, which may have any text
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

// hunkCount returns the number of lines in the header of a hunk; a missing number means 1.
func hunkCount(s string) int {
	if s == "" {
		return 1
	}
	return parseNumber(s)
}

func parseNumber(s string) int {
	n, _ := strconv.Atoi(s) // the pattern has digits only; a number that is too large is 0
	return n
}

// Of returns a previous finding with its present position. A line that was replaced maps to
// one of its replacements.
func (m LineMoves) Of(f nexus.Finding) nexus.Finding {
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
