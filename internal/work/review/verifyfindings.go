package review

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FileVersionsFunc returns the lines of a file as it is now, and as it was before the change, nil if it
// does not exist there, and false for a file that exists in neither.
type FileVersionsFunc func(file string) (now, before []string, ok bool)

// VerifyFindings checks findings against the tree. A finding with a missing file or line, or a quote
// that is not in the file, is kept and marked, and does not block. A quote that is at another
// line moves the finding there. A rejection that is based only on such findings does not count
// as a review.
func VerifyFindings(r nexus.ReviewerVerdictGiven, text FileVersionsFunc) nexus.ReviewerVerdictGiven {
	if !r.Reviewed {
		return r
	}
	grounds, lost := 0, 0
	findings := make([]nexus.Finding, 0, len(r.Findings))
	for _, f := range r.Findings {
		f = verifyFinding(f, text)
		switch {
		case !canBlockLanding(f):
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
func verifyFinding(f nexus.Finding, text FileVersionsFunc) nexus.Finding {
	if f.File == "" {
		return f
	}
	now, before, ok := text(f.File)
	switch {
	case !ok:
		f.Unverified = "there is no such file"
		return f
	case strings.TrimSpace(f.Quote) != "":
		at, found := findQuote(now, f.Quote, f.Line)
		if !found {
			if _, was := findQuote(before, f.Quote, f.Line); was {
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

// findQuote returns the line, the nearest to the given one, where a quote begins. White space and
// the marks of a diff are ignored.
func findQuote(lines []string, quote string, line int) (int, bool) {
	var want []string
	for l := range strings.Lines(quote) {
		if l = collapseSpaces(l); l != "" {
			want = append(want, l)
		}
	}
	best := 0
	for i := range lines {
		if (best == 0 || absoluteDifference(i+1, line) < absoluteDifference(best, line)) && beginsWith(lines[i:], want) {
			best = i + 1
		}
	}
	return best, best > 0
}

// beginsWith reports whether lines begin with the wanted lines, ignoring empty ones. The first and
// the last may be parts of a line.
func beginsWith(lines, want []string) bool {
	for n, w := range want {
		for len(lines) > 0 && n > 0 && collapseSpaces(lines[0]) == "" {
			lines = lines[1:]
		}
		if len(lines) == 0 || !strings.Contains(collapseSpaces(lines[0]), w) && !strings.Contains(collapseSpaces(lines[0]), withoutDiffMark(w)) {
			return false
		}
		lines = lines[1:]
	}
	return len(want) > 0
}

func collapseSpaces(line string) string { return strings.Join(strings.Fields(line), " ") }

// withoutDiffMark removes a diff's marks from the start of a line.
func withoutDiffMark(line string) string {
	if rest := strings.TrimLeft(line, "+-"); rest != "" {
		return strings.TrimSpace(rest)
	}
	return line
}

func absoluteDifference(a, b int) int { return max(a-b, b-a) }

// canBlockLanding reports whether a finding can prevent landing at all.
func canBlockLanding(f nexus.Finding) bool {
	s := cmp.Or(f.Severity, nexus.Major)
	return s == nexus.Critical || s == nexus.Major
}

// MaxNitReviews is how many reviews may add new minor findings.
const MaxNitReviews = 2

// Late is the code of a minor finding that comes too late to be fixed.
const Late = "late"

// MarkLateFindings marks the late findings of a review: from the third review on, minor findings that
// no earlier review has, at lines that existed during those. Otherwise reviews would never
// end, with other findings each time. Seen reports whether a line was in the file then.
func MarkLateFindings(r nexus.ReviewerVerdictGiven, earlier []nexus.ReviewerVerdictGiven, seen func(file string, line int) bool) nexus.ReviewerVerdictGiven {
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
		if !canBlockLanding(f) && f.File != "" && f.Line > 0 && !known && seen(f.File, f.Line) {
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
