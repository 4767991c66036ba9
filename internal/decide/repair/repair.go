// Package repair decides the next step of an attempt: which role writes next, when the gates
// run, when a reviewer reads, and when more rounds are useless. It chooses the strategy of an
// attempt, which sets the order of code and tests and the files that each role may change. It
// checks whether new tests failed for the right reason, and assesses the progress of the
// work.
//
// An attempt ends early, whatever budget is left, on the third equal failure, on the third
// equal tree, when the number of findings keeps growing, and on the fifth build in a row that
// fails.
package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RepairMove is the kind of an attempt's next step.
type RepairMove string

// Values of Move.
const (
	Write RepairMove = "write" // a role writes, in a new round or in the present one
	Judge RepairMove = "judge" // the gates run on the tree
	Check RepairMove = "check" // only the tests run that were written for criteria without a check
	// the changes of a tester of criteria are removed, and the work continues without them.
	Forgo RepairMove = "forgo"
	// a session that has not seen the work writes a check from the goal, which runs without
	// and with the work.
	Reproduce RepairMove = "reproduce"
	Prove     RepairMove = "prove"  // the new tests run on a tree without the work
	Regate    RepairMove = "regate" // the gates run on the attempt's starting tree, before anything is written
	Afresh    RepairMove = "afresh" // the result of earlier attempts is not used: the attempt starts from its base
	Verify    RepairMove = "verify" // a verifier compares the work with the task
	Review    RepairMove = "review" // a reviewer reads the diff
	Apply     RepairMove = "apply"  // a suggested replacement is applied without an agent
	End       RepairMove = "end"
)

// RepairStep is the next step of an attempt. The zero value is none.
type RepairStep struct {
	Move     RepairMove
	Role     nexus.Role // role that writes
	Resume   bool       // the round is in progress: continue it
	Cause    string     // the gate that failed, "review" or "train"; empty in the first round
	Findings []nexus.Finding
	Outcome  nexus.Outcome // outcome of the attempt
	Category nexus.AttemptFailureCategory
	Why      string
}

// AttemptTreeFacts are data about the tree that the worker knows and the journal does not contain.
type AttemptTreeFacts struct {
	Tested    bool // the diff has a test file
	Untouched bool // there is no diff
	Renamed   bool // the diff only makes the rename that the task asks for
	Unchecked bool // a criterion has no check, and a tester is to write one
	Claimed   bool // submitted checks of criteria have not been run yet
	Revised   bool // a criterion was revised after its work landed: perhaps only its check is still to be written

	Due      string // next step of the pipeline for an editor, once the gates pass; empty: none
	DueSpare bool   // the next step is optional
	Spare    bool   // the step of the round is optional: failed changes are removed

	Refuted bool   // the tests of a tester of criteria fail because of the work
	Unshown string // why a criterion whose check is a gate would not count as met; empty: none is open

	Independent []int // numbers of criteria that only tests of the change show, and that need an independent check

	Meddled string // an existing file that a tester of criteria changed; empty: none

	Asked   int           // number of people's statements to the writers, with which a verifier compares the work
	Refused TreeObjection // objections of earlier attempts to the same tree; zero: none
	Ready   bool          // the author of the starting tree has nothing left to do unless the gates fail now
	Before  bool          // the gate without a clear result had none on the base either
}

// NextRepairStep returns the next step of an attempt at a task under the limits. It depends only on its
// arguments, so that a resumed attempt continues exactly where it stopped.
func NextRepairStep(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	r := a.LastRound()
	switch {
	case a.HandedWhy != "":
		return beginRound(t, a, l, RepairStep{Role: firstWriterRole(t), Cause: "train", Findings: a.Handed, Why: a.HandedWhy})
	case a.Sent != nil:
		return continueAfterComments(t, a, l)
	case r == nil && a.Strategy.UsesSeparateSessions():
		return decideAfterTestsFirstRound(t, a, l, facts)
	case r == nil && facts.Ready && !facts.Untouched:
		return judgeStartingTree(t, a, l, RepairStep{Role: firstWriterRole(t)})
	case r == nil:
		return beginRound(t, a, l, RepairStep{Role: firstWriterRole(t)})
	}
	if r.Role == nexus.Reviser {
		return decideAfterRevision(t, a, l, facts)
	}
	s := a.SessionByID(r.Session)
	switch {
	case s == nil || !s.Over:
		return resumeRound(a, r)
	case r.Cause == CriteriaGate:
		return decideAfterCheckRound(t, a, l, s, facts)
	case strings.HasPrefix(r.Cause, nexus.StepCause):
		return decideAfterEditRound(t, a, l, s, facts)
	case s.Outcome != nexus.Accepted && (s.Outcome != nexus.GaveUp || !isTestRepair(a, r)):
		return decideAfterUnfinishedSession(t, a, l, s, facts)
	case a.Strategy.UsesSeparateSessions() && a.LastSession(nexus.Coder) == nil:
		return decideAfterTestsFirstRound(t, a, l, facts)
	case len(a.UnansweredComments()) > 0 && r.Verdict == nil && r.Role == firstWriterRole(t):
		return beginRound(t, a, l, RepairStep{Role: r.Role, Cause: nexus.AnswerCause})
	case r.Verdict == nil:
		if step, ok := handOverToTester(t, a, l, s); ok {
			return step
		}
		if step, ok := endResubmission(t, a, facts); ok {
			return step
		}
		return RepairStep{Move: Judge}
	case len(r.Reviews) > 0:
		return decideAfterReview(t, a, l)
	case !isRed(r.Verdict.State) && len(PendingFindings(a, len(a.Rounds))) > 0:
		return beginRound(t, a, l, RepairStep{Role: firstWriterRole(t), Cause: r.Cause, Findings: PendingFindings(a, len(a.Rounds)), Why: JudgesSummary(a, len(a.Rounds)-1)})
	case a.Strategy == nexus.TDDSimple && r.Verdict.State == nexus.Pass && !hasTestsSeenFailing(a) && !facts.Untouched && (facts.Tested || a.LastSession(nexus.Tester) != nil):
		return proveOwnTests(t, a, l) // also if no test was written despite the request: that proves nothing
	default:
		return decideAfterGates(t, a, l, facts)
	}
}

// decideAfterUnfinishedSession decides after a session that did not submit. Its tree is judged before the
// attempt ends, as a start for the next one, unless it was judged already.
func decideAfterUnfinishedSession(t *state.TaskState, a *state.AttemptState, l nexus.Limits, s *state.AgentSessionState, facts AttemptTreeFacts) RepairStep {
	r := a.LastRound()
	if step, ok := handOverToTester(t, a, l, s); ok {
		return step
	}
	if r.Verdict == nil && r.Role == firstWriterRole(t) && !facts.Untouched && !isTreeJudged(a) {
		return RepairStep{Move: Judge}
	}
	return RepairStep{Move: End, Outcome: s.Outcome, Category: sessionFailure(a, r, s), Why: cmp.Or(s.Why, string(r.Role)+" did not finish")}
}

// isTreeJudged reports whether the last verdict is about the present tree.
func isTreeJudged(a *state.AttemptState) bool {
	for _, r := range slices.Backward(a.Rounds) {
		if r.Verdict != nil {
			return r.Verdict.Tree == a.Snapshot.Tree
		}
	}
	return false
}

// resumeRound continues a round with the same cause.
func resumeRound(a *state.AttemptState, r *state.AttemptRound) RepairStep {
	step := RepairStep{Move: Write, Role: r.Role, Cause: r.Cause, Resume: true}
	if r.Cause == "train" {
		step.Findings, step.Why = r.Handed, r.HandedWhy
		return step
	}
	if strings.HasPrefix(r.Cause, nexus.StepCause) {
		return step // its instruction is that of the step
	}
	if r.Cause == ProofGate && a.Proof != nil {
		step.Findings, step.Why = a.Proof.Findings, a.Proof.Why
		return step
	}
	if r.Cause == IndependentGate {
		step.Findings = RefutedFindings(*a.Reproduced)
		return step
	}
	if len(a.Rounds) < 2 || r.Cause == "" || r.Cause == CriteriaGate {
		return step
	}
	before := a.Rounds[len(a.Rounds)-2]
	switch {
	case r.Cause == BlockedCause:
		if s := a.SessionByID(before.Session); s != nil {
			step.Why = s.Why
		}
	case isJudgeCause(r.Cause):
		step.Findings, step.Why = WriterFindings(a, len(a.Rounds)-1), JudgesSummary(a, len(a.Rounds)-1)
	case before.Verdict != nil:
		step.Findings, step.Why = decidingFindings(before), before.Verdict.Why
	}
	return step
}

func firstWriterRole(t *state.TaskState) nexus.Role {
	if t.Kind == nexus.TestTask {
		return nexus.Tester
	}
	return nexus.Coder
}

// beginRound starts a round, unless the task has used up its rounds.
func beginRound(t *state.TaskState, a *state.AttemptState, l nexus.Limits, s RepairStep) RepairStep {
	if l.Rounds > 0 && t.CountedRounds()+countNewRounds(t, a) >= l.Rounds {
		return RepairStep{Move: End, Outcome: nexus.Exhausted, Why: fmt.Sprintf("%d rounds are used up", l.Rounds)}
	}
	s.Move = Write
	return s
}

// countNewRounds counts the rounds of a that t, a copy from the attempt's start, does not contain.
func countNewRounds(t *state.TaskState, a *state.AttemptState) int {
	return max(0, len(a.Rounds)-t.RoundsOf)
}

// closer is the number of the task's round, over all attempts, from which its writer receives
// more details: the code around each finding, and more of the gates' output. At 25 people are
// notified (nexus.Alerts), at 50 the task ends.
const closer = 10

// RoundNeedingDetail returns the number of the task's present round if its writer must receive more
// details, or 0.
func RoundNeedingDetail(t *state.TaskState, a *state.AttemptState) int {
	if n := t.CountedRounds() + countNewRounds(t, a); n >= closer {
		return n
	}
	return 0
}

// decideAfterGates decides about the gates' combined result.
func decideAfterGates(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	r := a.LastRound()
	v := r.Verdict
	wantsTests := (!facts.Tested || facts.Revised) && a.LastSession(nexus.Tester) == nil && needsTests(t, a, facts)
	switch v.State {
	case nexus.Pass:
		if facts.Untouched && (!facts.Revised || !wantsTests) {
			return RepairStep{Move: End, Outcome: nexus.Unverified, Why: state.Unchanged}
		}
		if wantsTests {
			return beginRound(t, a, l, RepairStep{Role: nexus.Tester})
		}
		if facts.Claimed {
			return RepairStep{Move: Check}
		}
		return decideAfterGreenGates(t, a, l, facts)
	case nexus.NotRun:
		return decideGateNotRun(t, a, l, facts, wantsTests)
	case nexus.Unverifiable, nexus.Flaky:
		return decideAfterUnclearGate(t, a, l, facts)
	case nexus.Environmental, nexus.MissingAsset: // no writer can fix that
		return RepairStep{Move: End, Outcome: nexus.Inapplicable, Why: verdictReason(v)}
	case nexus.Fail, nexus.Timeout, nexus.Exceeded:
		return repairGateFindings(t, a, l)
	}
	return RepairStep{Move: End, Outcome: nexus.Unverified, Why: "the gates gave no result"}
}

// decideGateNotRun decides if a deciding gate did not run.
func decideGateNotRun(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts, wantsTests bool) RepairStep {
	v := a.LastRound().Verdict
	accept := strings.HasPrefix(v.Gate, nexus.AcceptGate)
	if wantsTests && (isTestGate(v.Gate) || accept) {
		return beginRound(t, a, l, RepairStep{Role: nexus.Tester})
	}
	if accept { // its tests are still to be written
		if StuckReason(a, l.Same) != "" { // and they were not written
			return RepairStep{Move: End, Outcome: nexus.Unverified, Why: verdictReason(v)}
		}
		return repairGateFindings(t, a, l)
	}
	if t.Kind == nexus.DocsTask || a.Strategy == nexus.NoTest && !isTestNeedGuessed(t, a) {
		if facts.Unshown != "" {
			return decideAfterUnprovenCriterion(t, a, l, facts)
		}
		return editOrReview(t, a, l, facts)
	}
	return decideAfterUnclearGate(t, a, l, facts)
}

// repairGateFindings starts a round in which the writer fixes the gates' findings, if that
// may help.
func repairGateFindings(t *state.TaskState, a *state.AttemptState, l nexus.Limits) RepairStep {
	if why := StuckReason(a, l.Same); why != "" {
		return RepairStep{Move: End, Outcome: nexus.NoProgress, Category: nexus.TestsFailing, Why: why}
	}
	r := a.LastRound()
	return beginRound(t, a, l, RepairStep{Role: firstWriterRole(t), Cause: r.Verdict.Gate, Findings: decidingFindings(r), Why: r.Verdict.Why})
}

// needsTests reports whether a tester must write missing tests. People's or the plan's
// statement that a task needs none is accepted. If only its title suggests it, the change
// must be of that kind, and every criterion must be shown without a new test.
func needsTests(t *state.TaskState, a *state.AttemptState, facts AttemptTreeFacts) bool {
	if t.Kind == nexus.DocsTask || facts.Unshown == "" && isShownByReading(a) {
		return false
	}
	return a.Strategy != nexus.NoTest || isTestNeedGuessed(t, a) && (!facts.Renamed || facts.Unshown != "")
}

// isTestNeedGuessed reports whether only the title of a task suggests that it needs no test.
func isTestNeedGuessed(t *state.TaskState, a *state.AttemptState) bool {
	_, renames := RenamesOf(t.Task)
	return a.Strategy == nexus.NoTest && t.Strategy == "" && renames
}

func verdictReason(v *nexus.GatesVerdictGiven) string {
	if v.Gate == "" {
		return cmp.Or(v.Why, "no gate judged it")
	}
	return fmt.Sprintf("gate %s: %s: %s", v.Gate, v.State, cmp.Or(v.Why, "no reason given"))
}

func isRed(s nexus.GateState) bool { return s.IsRed() }

// decidingFindings returns the findings of the gate that decided.
func decidingFindings(r *state.AttemptRound) []nexus.Finding {
	for _, e := range r.Evidence {
		if e.Gate == r.Verdict.Gate {
			return e.Findings
		}
	}
	return nil
}

// decideAfterReview decides about the last review of the round.
func decideAfterReview(t *state.TaskState, a *state.AttemptState, l nexus.Limits) RepairStep {
	r := a.LastRound()
	v := r.Reviews[len(r.Reviews)-1]
	switch {
	case !isDecisive(v) && len(r.Reviews) < 2:
		return RepairStep{Move: Review}
	case !isDecisive(v):
		return RepairStep{Move: End, Outcome: nexus.Unverified, Why: "not reviewed: " + v.Summary}
	case !IsRejection(v, l.MajorsBlock) && len(tamper.UnapprovedFindings(definitionofdone.ExplainedFindings(r.Evidence), v.Agreed)) == 0:
		return RepairStep{Move: End, Outcome: nexus.Accepted, Why: v.Summary}
	}
	if step, ok := endDisagreement(a, ReviewCause); ok {
		return step
	}
	if rejected := countRejections(a, l.MajorsBlock); l.ReviewRounds > 0 && rejected >= l.ReviewRounds {
		return RepairStep{Move: End, Outcome: nexus.Exhausted, Why: fmt.Sprintf("rejected by review %d times: %s", rejected, v.Summary)}
	}
	return startJudgeFixRound(t, a, l, ReviewCause, v.Findings, v.Summary)
}

// isDecisive reports whether a review has a usable result. A rejection without findings has
// none.
func isDecisive(v nexus.ReviewerVerdictGiven) bool {
	return v.Reviewed && (v.Approved || len(v.Findings) > 0)
}

// IsRejection reports whether a review sends the work back: its findings block, or the reviewer
// rejected it with at least one major finding. A rejection with only lesser findings does
// not.
func IsRejection(v nexus.ReviewerVerdictGiven, majors int) bool {
	return IsBlocking(v, majors) || !v.Approved && IsBlocking(v, 1)
}

// IsBlocking reports whether a review's findings forbid landing: a critical one always does,
// major ones from the given number on, lesser ones never, and neither does one that quotes
// code that does not exist.
func IsBlocking(v nexus.ReviewerVerdictGiven, majors int) bool {
	n := 0
	for _, f := range v.Findings {
		if f.Unverified != "" {
			continue
		}
		switch cmp.Or(f.Severity, nexus.Major) {
		case nexus.Critical:
			return true
		case nexus.Major:
			n++
		case nexus.Minor, nexus.Suggestion:
		}
	}
	return n >= max(1, majors)
}

func countRejections(a *state.AttemptState, majors int) int {
	n := 0
	for _, r := range a.Rounds {
		for _, v := range r.Reviews {
			if isDecisive(v) && IsRejection(v, majors) {
				n++
			}
		}
	}
	return n
}

// StuckReason returns why more rounds of an attempt are useless: the same failure or the same tree
// for the given number of times over the whole attempt, or a number of failures of one gate
// that grew as many times in a row, or five failed builds in a row. Empty means that it may
// continue. A limit of 0 never ends it.
func StuckReason(a *state.AttemptState, same int) string {
	if same <= 0 {
		return ""
	}
	var last *state.AttemptRound
	failures, trees, grown, unbuilt := map[string]int{}, map[string]int{}, 0, 0
	for _, r := range a.Rounds {
		if r.Verdict == nil || r.Verdict.State == nexus.Pass {
			last, grown, unbuilt = nil, 0, 0
			continue
		}
		if unbuilt++; !isBuildGate(r.Verdict.Gate) {
			unbuilt = 0
		}
		sign := FailureSignature(r.Verdict.Gate, decidingFindings(r))
		failures[sign]++
		trees[r.Verdict.Tree]++
		switch {
		case failures[sign] >= same:
			return fmt.Sprintf("the same %s failure %d times", r.Verdict.Gate, same)
		case trees[r.Verdict.Tree] >= same:
			return fmt.Sprintf("the same tree %d times", same)
		case unbuilt >= builds:
			return fmt.Sprintf("the build failed %d times in a row", builds)
		}
		if last != nil && last.Verdict.Gate == r.Verdict.Gate && len(decidingFindings(r)) > len(decidingFindings(last)) {
			grown++
		} else {
			grown = 0
		}
		if grown >= same {
			return fmt.Sprintf("findings of %s grew %d times in a row", r.Verdict.Gate, same)
		}
		last = r
	}
	return ""
}

// countGrowingRounds returns how often in a row, at an attempt's end, the number of problems in the same
// gate grew.
func countGrowingRounds(a *state.AttemptState) int {
	var last *state.AttemptRound
	grown := 0
	for _, r := range a.Rounds {
		switch {
		case r.Verdict == nil || r.Verdict.State == nexus.Pass:
			last, grown = nil, 0
			continue
		case last != nil && last.Verdict.Gate == r.Verdict.Gate && len(decidingFindings(r)) > len(decidingFindings(last)):
			grown++
		default:
			grown = 0
		}
		last = r
	}
	return grown
}

// CountStoppingFindings counts the findings of the gate that stopped a round.
func CountStoppingFindings(r *state.AttemptRound) int { return len(decidingFindings(r)) }

// builds is the number of failed builds in a row that ends an attempt, however different they
// are.
const builds = 5

// isBuildGate reports whether a gate builds the whole project or a package.
func isBuildGate(gate string) bool { return gate == "build" || strings.HasPrefix(gate, "build-") }

// LastSignature returns the signature of an attempt's last failure, or "" if its last verdict
// was not red.
func LastSignature(a *state.AttemptState) string {
	for _, r := range slices.Backward(a.Rounds) {
		if r.Verdict == nil {
			continue
		}
		if r.Verdict.State == nexus.Pass {
			return ""
		}
		return FailureSignature(r.Verdict.Gate, decidingFindings(r))
	}
	return ""
}
