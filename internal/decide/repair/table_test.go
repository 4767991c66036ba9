package repair_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite the table")

// situation is where an attempt may stand.
type situation struct {
	name  string
	facts []nexus.Fact
}

// situations are those that a strategy can come into.
func situations(s nexus.Strategy) []situation {
	first, role := wrote(1, coder, ""), coder
	if s.Sessions() {
		first, role = wrote(1, tester, ""), tester
	}
	work, n := first, 1
	all := []situation{
		{"nothing was written", nil},
		{"a session was cut off", first[:2]},
		{"a session gave up", join(first[:3], []nexus.Fact{nexus.SessionEnded{Session: role, Outcome: nexus.GaveUp, Why: "no"}})},
		{"a session ran out of turns", join(first[:3], []nexus.Fact{nexus.SessionEnded{Session: role, Outcome: nexus.Exhausted, Why: "60 turns"}})},
		{"it was written", first},
	}
	if s.Sessions() {
		all = append(all, situation{"the tester touched code", join(first, broke("a.go"))})
		for _, p := range []nexus.Proof{nexus.ProofRed, nexus.ProofGreen, nexus.ProofBroken, nexus.ProofNone, nexus.ProofUnsure} {
			all = append(all, situation{"tests are " + string(p), join(first, proved(p))})
		}
		work, n = join(first, proved(nexus.ProofRed), wrote(2, coder, "")), 2
		all = append(all, situation{"the code was written", work})
	}
	for _, v := range []nexus.GateState{nexus.Fail, nexus.Timeout, nexus.Environmental, nexus.MissingAsset, nexus.Flaky, nexus.Unverifiable, nexus.NotRun} {
		all = append(all, situation{"gates say " + string(v), join(work, verdict(v, "test"))})
	}
	green := join(work, verdict(nexus.Pass, ""))
	all = append(all, situation{"gates pass", green})
	if s == nexus.TDDSimple {
		for _, p := range []nexus.Proof{nexus.ProofRed, nexus.ProofGreen, nexus.ProofBroken, nexus.ProofNone, nexus.ProofUnsure} {
			all = append(all, situation{"its tests are " + string(p), join(green, proved(p))})
		}
		green = join(green, proved(nexus.ProofRed))
	}
	unread := []nexus.Fact{nexus.WorkVerified{Attempt: "T1.1", Tree: "t", Why: "no verdict"}}
	touched := join(work, suspect(), verdict(nexus.Pass, ""))
	if s == nexus.TDDSimple {
		touched = join(touched, proved(nexus.ProofRed))
	}
	all = append(all,
		situation{"it touches its judges", touched},
		situation{"which is right", join(touched, verified(""))},
		situation{"which is not right", join(touched, verified(nexus.VerifierRejected))},
		situation{"which nobody explains", join(touched, unread)},
	)
	if s.Sessions() {
		all = append(all,
			situation{"verified", join(green, verified(""))},
			situation{"the verifier says no", join(green, verified(nexus.VerifierRejected))},
			situation{"there is no verdict", join(green, unread)},
		)
		green = join(green, verified(""))
	}
	yes := nexus.ReviewGiven{Attempt: "T1.1", Tree: "t", Reviewed: true, Approved: true, Summary: "good"}
	no := nexus.ReviewGiven{Attempt: "T1.1", Tree: "t", Reviewed: true, Summary: "bad", Findings: []nexus.Finding{{Severity: nexus.Critical, Message: "bad"}}}
	none := nexus.ReviewGiven{Attempt: "T1.1", Tree: "t", Summary: "unreadable"}
	return append(all,
		situation{"the review approves", join(green, review(yes))},
		situation{"the review rejects", join(green, review(no))},
		situation{"the review cannot be read", join(green, review(none))},
		situation{"rejected, and written again", join(green, review(no), wrote(n+1, coder, "review"))},
	)
}

// TestTable holds what follows in every situation of every strategy to the
// table.
func TestTable(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What follows in an attempt, by strategy and by where it stands.\n")
	seen := map[string]bool{}
	for _, s := range nexus.Strategies() {
		for _, at := range situations(s) {
			task := &state.Task{Task: nexus.Task{ID: "T1", Strategy: s}}
			limits := nexus.Limits{Rounds: 50, Same: 3, ReviewRounds: 4, MajorsBlock: 1}
			step := repair.Next(task, with(s, at.facts...), limits, repair.Facts{Tested: true})
			if len(at.facts) == 0 {
				step = repair.Next(task, with(s), limits, repair.Facts{})
			}
			words := []string{string(step.Move), string(step.Role), string(step.Outcome), string(step.Category)}
			if step.Cause != "" {
				words = append(words, "because of "+step.Cause)
			}
			if step.Resume {
				words = append(words, "going on")
			}
			seen[string(step.Move)], seen[string(step.Outcome)], seen[string(step.Category)] = true, true, true
			fmt.Fprintf(&b, "%s, %s: %s\n", s, at.name, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
		}
	}
	for _, m := range []repair.Move{repair.Write, repair.Judge, repair.Prove, repair.Verify, repair.Review, repair.End} {
		if !seen[string(m)] {
			t.Errorf("no situation leads to %s", m)
		}
	}
	for _, c := range []nexus.Category{nexus.IsolationViolation, nexus.SessionFailure, nexus.VerifierRejected} {
		if !seen[string(c)] {
			t.Errorf("no situation ends in %s", c)
		}
	}
	const file = "testdata/table.golden"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
