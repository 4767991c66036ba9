package repair

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Causes of rounds that fix problems found by readers of the work, and of a round in which a
// tester examines tests that block the coder.
const (
	ReviewCause  = "review"
	BlockedCause = "blocked"
)

// late is the code of a reviewer's finding that is not passed on.
const late = "late"

// isJudgeCause reports whether a round fixes a judge's findings.
func isJudgeCause(cause string) bool { return cause == ReviewCause || cause == VerifyGate }

// isAboutTests reports whether a finding is about tests, by its file or its category.
func isAboutTests(f nexus.Finding) bool {
	return f.File != "" && stack.ServesTests(f.File) ||
		slices.Contains([]string{"test", "tests", "testing", "coverage", "test-coverage", "missing-test", "missing-tests"}, strings.ToLower(f.Category))
}

// mustLeaveTestsToTester reports whether the coder may not change tests, and there is a tester who may.
func mustLeaveTestsToTester(t *state.TaskState, a *state.AttemptState) bool {
	return a.Strategy == nexus.TDDStrict && firstWriterRole(t) == nexus.Coder
}

// judgeFindings returns the findings of a cause's judges on a round, or nil if they did not reject
// the round's work.
func judgeFindings(r *state.AttemptRound, cause string) []nexus.Finding {
	if n := len(r.Reviews); cause == ReviewCause && n > 0 {
		return slices.DeleteFunc(slices.Clone(r.Reviews[n-1].Findings), func(f nexus.Finding) bool { return f.Gate == ReviewCause && f.Code == late })
	}
	if v := r.Verified; cause == VerifyGate && v != nil && v.Category != "" {
		return v.Findings
	}
	return nil
}

// hasVerdict reports whether a cause's judges judged a round's work.
func hasVerdict(r *state.AttemptRound, cause string) bool {
	return len(judgeFindings(r, cause)) > 0 || cause == VerifyGate && r.Verified != nil && r.Verified.Category != ""
}

// lastJudgedRound returns the last round, from 0, before the n-th whose work a cause's judges
// judged, or -1.
func lastJudgedRound(a *state.AttemptState, cause string, n int) int {
	for i := min(n, len(a.Rounds)) - 1; i >= 0; i-- {
		if hasVerdict(a.Rounds[i], cause) {
			return i
		}
	}
	return -1
}

// WriterFindings returns the judge's findings that the writer of the n-th round, from 0,
// receives, in the order in which it may answer. If the coder may not change tests, its
// tester receives the findings about tests, and those that the coder reported as not its own.
func WriterFindings(a *state.AttemptState, n int) []nexus.Finding {
	r := a.Rounds[n]
	return roleFindings(a, lastJudgedRound(a, r.Cause, n), n, r.Cause, r.Role)
}

// roleFindings returns a role's share of the findings of a round's judges, before the n-th
// round.
func roleFindings(a *state.AttemptState, at, n int, cause string, role nexus.Role) []nexus.Finding {
	if at < 0 {
		return nil
	}
	all := judgeFindings(a.Rounds[at], cause)
	coded := slices.ContainsFunc(a.Rounds[:min(n, len(a.Rounds))], func(r *state.AttemptRound) bool { return r.Role == nexus.Coder })
	if a.Strategy != nexus.TDDStrict || !coded {
		return all
	}
	tester, foreign := role == nexus.Tester, disownedFindings(a, at, n)
	mine := func(f nexus.Finding) bool { return (isAboutTests(f) || slices.Contains(foreign, f)) == tester }
	if !slices.ContainsFunc(all, mine) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(f nexus.Finding) bool { return !mine(f) })
}

// disownedFindings returns the findings of a round's judges that the coder reported as not its own, in
// the rounds after it and before the n-th. A blocked coder reports this about all findings
// that must be fixed.
func disownedFindings(a *state.AttemptState, at, n int) []nexus.Finding {
	var all []nexus.Finding
	for i := at + 1; i < min(n, len(a.Rounds)); i++ {
		r := a.Rounds[i]
		if r.Role != nexus.Coder || !isJudgeCause(r.Cause) {
			continue
		}
		told := WriterFindings(a, i)
		for j, f := range told {
			if slices.ContainsFunc(answersTo(r.Answers, j), func(s nexus.FindingAnswer) bool { return s.Status == nexus.NotMine }) {
				all = append(all, f)
			}
		}
		if len(all) == 0 && isCoderBlocked(a, i) {
			all = slices.DeleteFunc(slices.Clone(told), func(f nexus.Finding) bool { return !state.MustFix(f) })
		}
	}
	return all
}

// isCoderBlocked reports whether the coder of the i-th round, from 0, gave up, so that its findings
// go to a tester.
func isCoderBlocked(a *state.AttemptState, i int) bool {
	r := a.Rounds[i]
	if i+1 < len(a.Rounds) {
		next := a.Rounds[i+1]
		return r.Verdict == nil && next.Role == nexus.Tester && next.Cause == r.Cause
	}
	s := a.SessionByID(r.Session)
	return s != nil && s.Over && s.Outcome == nexus.GaveUp
}

// JudgesSummary returns the summary of the judges whose findings the writer of the n-th round, from
// 0, receives.
func JudgesSummary(a *state.AttemptState, n int) string {
	cause := a.Rounds[n].Cause
	at := lastJudgedRound(a, cause, n)
	switch {
	case at < 0:
		return ""
	case cause == VerifyGate:
		return a.Rounds[at].Verified.Why
	}
	return a.Rounds[at].Reviews[len(a.Rounds[at].Reviews)-1].Summary
}

// answersTo returns the answers to the finding at an index.
func answersTo(all []nexus.FindingAnswer, i int) []nexus.FindingAnswer {
	return slices.DeleteFunc(slices.Clone(all), func(s nexus.FindingAnswer) bool { return s.Comment != "" || s.Finding != 0 && s.Finding != i+1 })
}

// WriterFindingAnswer is a writer's answer to a finding.
type WriterFindingAnswer struct {
	Role nexus.Role
	nexus.FindingAnswer
}

// AnswersToFinding returns the answers to a finding of the last judges of a cause.
func AnswersToFinding(a *state.AttemptState, cause string, f nexus.Finding) []WriterFindingAnswer {
	return repliesBetween(a, lastJudgedRound(a, cause, len(a.Rounds)), len(a.Rounds), cause, f)
}

// repliesBetween returns the answers to a finding of a round's judges, up to the next judged round
// or the n-th.
func repliesBetween(a *state.AttemptState, at, n int, cause string, f nexus.Finding) []WriterFindingAnswer {
	var all []WriterFindingAnswer
	for i := at + 1; at >= 0 && i < n; i++ {
		r := a.Rounds[i]
		if r.Cause == cause {
			if j := slices.Index(WriterFindings(a, i), f); j >= 0 {
				for _, s := range answersTo(r.Answers, j) {
					all = append(all, WriterFindingAnswer{r.Role, s})
				}
			}
		}
		if hasVerdict(r, cause) {
			break
		}
	}
	return all
}

// CountUpheldDisputes returns how often in a row a finding of the last judges of a cause was disputed
// with a reason and upheld.
func CountUpheldDisputes(a *state.AttemptState, cause string, f nexus.Finding) int {
	n := 0
	for at := lastJudgedRound(a, cause, len(a.Rounds)); ; {
		before := lastJudgedRound(a, cause, at)
		if at < 0 || before < 0 {
			return n
		}
		all := judgeFindings(a.Rounds[before], cause)
		i := slices.IndexFunc(all, func(g nexus.Finding) bool { return IsSameFinding(withoutLine(f), withoutLine(g)) })
		if i < 0 || !slices.ContainsFunc(repliesBetween(a, before, at+1, cause, all[i]), isDispute) {
			return n
		}
		n, f, at = n+1, all[i], before
	}
}

func isDispute(r WriterFindingAnswer) bool {
	return r.Status == nexus.Contested && strings.TrimSpace(r.Why) != ""
}

func withoutLine(f nexus.Finding) nexus.Finding {
	f.Line = 0
	return f
}

// endDisagreement ends an attempt in which author and judge disagree permanently: a finding that
// must be fixed was disputed twice and upheld.
func endDisagreement(a *state.AttemptState, cause string) (RepairStep, bool) {
	for _, f := range judgeFindings(a.LastRound(), cause) {
		if !state.MustFix(f) || CountUpheldDisputes(a, cause, f) < 2 {
			continue
		}
		judge := "reviewer"
		if cause == VerifyGate {
			judge = "verifier"
		}
		return RepairStep{
			Move: End, Outcome: nexus.GaveUp, Category: nexus.Disputed,
			Why: fmt.Sprintf("the author and the %s disagreed twice. The %s: %s. The author: %s", judge, judge, strings.TrimRight(f.Message, ". \n"), LastObjection(a, cause, f)),
		}, true
	}
	return RepairStep{}, false
}

// StandingFindings returns the last findings of a cause's judges in an attempt, or nothing if
// they finally approved its work.
func StandingFindings(a *state.AttemptState, cause string) []nexus.Finding {
	for _, r := range slices.Backward(a.Rounds) {
		if n := len(r.Reviews); cause == ReviewCause && n > 0 && r.Reviews[n-1].Reviewed {
			if !r.Reviews[n-1].SendsBack {
				return nil
			}
			return judgeFindings(r, cause)
		}
		if v := r.Verified; cause == VerifyGate && v != nil && v.Read {
			return judgeFindings(r, cause)
		}
	}
	return nil
}

// LastObjection returns the last reason for which a finding of the last judges of a cause was
// disputed before they repeated it, or "".
func LastObjection(a *state.AttemptState, cause string, f nexus.Finding) string {
	at := lastJudgedRound(a, cause, len(a.Rounds))
	why := ""
	for _, r := range repliesBetween(a, lastJudgedRound(a, cause, at), at+1, cause, earlierFinding(a, cause, f)) {
		if isDispute(r) {
			why = r.Why
		}
	}
	return why
}

// earlierFinding returns a finding of the last judges in the form of the judges before them.
func earlierFinding(a *state.AttemptState, cause string, f nexus.Finding) nexus.Finding {
	if at := lastJudgedRound(a, cause, lastJudgedRound(a, cause, len(a.Rounds))); at >= 0 {
		for _, g := range judgeFindings(a.Rounds[at], cause) {
			if IsSameFinding(withoutLine(f), withoutLine(g)) {
				return g
			}
		}
	}
	return f
}

// startJudgeFixRound starts a round in which the responsible role fixes a judge's findings.
func startJudgeFixRound(t *state.TaskState, a *state.AttemptState, l nexus.Limits, cause string, found []nexus.Finding, why string) RepairStep {
	s := RepairStep{Role: firstWriterRole(t), Cause: cause, Why: why}
	if mustLeaveTestsToTester(t, a) && slices.ContainsFunc(found, func(f nexus.Finding) bool { return isAboutTests(f) && state.MustFix(f) }) {
		s.Role = nexus.Tester
	}
	s.Findings = roleFindings(a, len(a.Rounds)-1, len(a.Rounds), cause, s.Role)
	return beginRound(t, a, l, s)
}

// PendingFindings returns judges' findings from before the n-th round, from 0, that the coder has not
// received yet, because a tester came first.
func PendingFindings(a *state.AttemptState, n int) []nexus.Finding {
	if n < 1 || a.Strategy != nexus.TDDStrict || a.Rounds[n-1].Role != nexus.Tester || !isJudgeCause(a.Rounds[n-1].Cause) {
		return nil
	}
	cause := a.Rounds[n-1].Cause
	at := lastJudgedRound(a, cause, n-1)
	told := at < 0 || slices.ContainsFunc(a.Rounds[at+1:n], func(r *state.AttemptRound) bool { return r.Role == nexus.Coder })
	if told || !slices.ContainsFunc(judgeFindings(a.Rounds[at], cause), func(f nexus.Finding) bool { return !isAboutTests(f) }) {
		return nil
	}
	return roleFindings(a, at, n, cause, nexus.Coder)
}

// handOverToTester starts a round in which a tester examines the things that the coder may not fix:
// findings that it reported as not its own, and tests that block it. Each is examined once.
func handOverToTester(t *state.TaskState, a *state.AttemptState, l nexus.Limits, s *state.AgentSessionState) (RepairStep, bool) {
	r, n := a.LastRound(), len(a.Rounds)
	if !mustLeaveTestsToTester(t, a) || r.Role != nexus.Coder || r.Verdict != nil || s.Needs == nexus.NeedsPerson {
		return RepairStep{}, false
	}
	if isJudgeCause(r.Cause) {
		at := lastJudgedRound(a, r.Cause, n)
		asked := slices.ContainsFunc(a.Rounds[at+1:], func(o *state.AttemptRound) bool { return o.Role == nexus.Tester })
		if at >= 0 && !asked && len(disownedFindings(a, at, n)) > 0 {
			step := beginRound(t, a, l, RepairStep{Role: nexus.Tester, Cause: r.Cause, Findings: roleFindings(a, at, n, r.Cause, nexus.Tester), Why: JudgesSummary(a, n-1)})
			return step, step.Move == Write
		}
	}
	if s.Outcome == nexus.GaveUp && countRounds(a, BlockedCause) == 0 && strings.Contains(strings.ToLower(s.Why), "test") {
		step := beginRound(t, a, l, RepairStep{Role: nexus.Tester, Cause: BlockedCause, Why: s.Why})
		return step, step.Move == Write
	}
	return RepairStep{}, false
}

// isTestRepair reports whether a tester repairs tests of existing work in a round.
func isTestRepair(a *state.AttemptState, r *state.AttemptRound) bool {
	return a.Strategy == nexus.TDDStrict && r.Role == nexus.Tester && (isJudgeCause(r.Cause) || r.Cause == BlockedCause)
}
