package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Text returns the lines of a file as it is now, and as it was before the change, nil if it
// does not exist there, and false for a file that exists in neither.
type Text func(file string) (now, before []string, ok bool)

// Verify checks findings against the tree. A finding with a missing file or line, or a quote
// that is not in the file, is kept and marked, and does not block. A quote that is at another
// line moves the finding there. A rejection that is based only on such findings does not count
// as a review.
func Verify(r nexus.ReviewGiven, text Text) nexus.ReviewGiven {
	if !r.Reviewed {
		return r
	}
	grounds, lost := 0, 0
	findings := make([]nexus.Finding, 0, len(r.Findings))
	for _, f := range r.Findings {
		f = verifyFinding(f, text)
		switch {
		case !weighs(f):
		case f.Unverified != "":
			lost++
		default:
			grounds++
		}
		findings = append(findings, f)
	}
	r.Findings = findings
	if !r.Approved && lost > 0 && grounds == 0 {
		r.Reviewed = false
		r.Summary = "not reviewed: every finding that rejects the change points at something that does not exist: " + r.Summary
	}
	return r
}

// verifyFinding checks one finding against the tree. One about the change as a whole has no
// position, and stays.
func verifyFinding(f nexus.Finding, text Text) nexus.Finding {
	if f.File == "" {
		return f
	}
	now, before, ok := text(f.File)
	switch {
	case !ok:
		f.Unverified = "there is no such file"
		return f
	case strings.TrimSpace(f.Quote) != "":
		at, found := find(now, f.Quote, f.Line)
		if !found {
			if _, was := find(before, f.Quote, f.Line); was {
				return f // the change deleted it
			}
			f.Unverified = "what it quotes is not in the file"
			return f
		}
		f.Line = at
	case f.Line > max(len(now), len(before)):
		f.Unverified = "the file has no such line"
	}
	return f
}

// find returns the line, the nearest to the given one, where a quote begins. White space and
// the marks of a diff are ignored.
func find(lines []string, quote string, line int) (int, bool) {
	var want []string
	for l := range strings.Lines(quote) {
		if l = bare(l); l != "" {
			want = append(want, l)
		}
	}
	best := 0
	for i := range lines {
		if (best == 0 || distance(i+1, line) < distance(best, line)) && begins(lines[i:], want) {
			best = i + 1
		}
	}
	return best, best > 0
}

// begins reports whether lines begin with the wanted lines, ignoring empty ones. The first and
// the last may be parts of a line.
func begins(lines, want []string) bool {
	for n, w := range want {
		for len(lines) > 0 && n > 0 && bare(lines[0]) == "" {
			lines = lines[1:]
		}
		if len(lines) == 0 || !strings.Contains(bare(lines[0]), w) && !strings.Contains(bare(lines[0]), unmarked(w)) {
			return false
		}
		lines = lines[1:]
	}
	return len(want) > 0
}

func bare(line string) string { return strings.Join(strings.Fields(line), " ") }

// unmarked removes a diff's marks from the start of a line.
func unmarked(line string) string {
	if rest := strings.TrimLeft(line, "+-"); rest != "" {
		return strings.TrimSpace(rest)
	}
	return line
}

func distance(a, b int) int { return max(a-b, b-a) }

// weighs reports whether a finding can prevent landing at all.
func weighs(f nexus.Finding) bool {
	s := cmp.Or(f.Severity, nexus.Major)
	return s == nexus.Critical || s == nexus.Major
}

// MaxNitReviews is how many reviews may add new minor findings.
const MaxNitReviews = 2

// Late is the code of a minor finding that comes too late to be fixed.
const Late = "late"

// MarkLate marks the late findings of a review: from the third review on, minor findings that
// no earlier review has, at lines that existed during those. Otherwise reviews would never
// end, with other findings each time. Seen reports whether a line was in the file then.
func MarkLate(r nexus.ReviewGiven, earlier []nexus.ReviewGiven, seen func(file string, line int) bool) nexus.ReviewGiven {
	n := 0
	var told []nexus.Finding
	for _, e := range earlier {
		if e.Reviewed {
			n++
		}
		told = append(told, e.Findings...)
	}
	if n < MaxNitReviews {
		return r
	}
	r.Findings = slices.Clone(r.Findings)
	for i, f := range r.Findings {
		known := slices.ContainsFunc(told, func(t nexus.Finding) bool { return repair.IsSameFinding(t, f) })
		if !weighs(f) && f.File != "" && f.Line > 0 && !known && seen(f.File, f.Line) {
			r.Findings[i].Code = Late
		}
	}
	return r
}

// FindingsForAuthor returns the findings for the author of the change: all but those that came
// too late.
func FindingsForAuthor(all []nexus.Finding) []nexus.Finding {
	return slices.DeleteFunc(slices.Clone(all), func(f nexus.Finding) bool { return f.Gate == Gate && f.Code == Late })
}
