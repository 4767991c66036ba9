package attempt_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
)

// TestWhatAReaderCouldHaveSaidBefore is late: what it finds little wrong with stood there
// when the last review was given, and two were. What is new since is not.
func TestWhatAReaderCouldHaveSaidBefore(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	minor := func(line int, quote string) map[string]any {
		return map[string]any{"severity": "minor", "message": "call " + quote + " something else", "file": "one", "line": line, "quote": quote}
	}
	a := j.view.Attempt
	for n, text := range []string{"first\nlast\n", "first\nsecond\nlast\n", "first\nsecond\nthird\nlast\n", "first\nsecond\nthird\nfourth\nlast\n"} {
		j.written(n+1, map[string]string{"one": text})
		r := a.Rounds[n]
		if n > 0 {
			r.Cause = repair.ReviewCause
		}
		if n == 3 {
			break
		}
		r.Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
		r.Reviews = []nexus.ReviewerVerdictGiven{{Attempt: a.ID, Tree: a.Snapshot.Tree, Reviewed: n < 2, SendsBack: n < 2, Findings: []nexus.Finding{{Gate: review.Gate, Severity: nexus.Major, File: "one", Line: 1, Message: "no"}}}}
	}
	says := approved()
	says["findings"] = []any{minor(2, "second"), minor(3, "third"), minor(4, "fourth"), minor(5, "last")}
	j.view.Limits.Rounds, j.view.Limits.ReviewRounds = 9, 9
	j.over(nexus.Reviewer, 4, nexus.Accepted, says)
	j.ended()
	g := last[nexus.ReviewerVerdictGiven](j)
	if len(g.Findings) != 4 {
		t.Fatalf("%+v", g)
	}
	for i, late := range []bool{true, false, false, true} { // the third line was in what could not be read
		if f := g.Findings[i]; (f.Code == review.Late) != late {
			t.Errorf("line %d: %q", f.Line, f.Code)
		}
	}
}
