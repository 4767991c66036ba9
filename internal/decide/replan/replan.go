// Package replan decides how a task continues that reaches a threshold: it takes much longer
// than estimated, has used up much of its rounds or all of its time, changes files that it
// does not declare, fails again and again, needs a task that will not land, or its agent
// cannot continue or asks for another plan.
//
// A threshold is not a cap. If the work makes progress it continues, and the decision is
// recorded with its reason anyway. Decisions are made at points where no work is lost: before
// a round begins, or after an attempt has ended.
package replan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// continuations is how often the time of a task may start again.
const continuations = 2

// WorkerTaskFacts are data that only the task's worker knows.
type WorkerTaskFacts struct {
	Worked    time.Duration // time of work on it that counts against its cap
	Beside    []string      // files that it changes without declaring them
	Divisible bool          // it may be split
}

// DecideReplanStep returns the decision before a step of an attempt, or nil, and the resulting step. Only
// a new round can be prevented: work in progress is finished, and judged.
func DecideReplanStep(t *state.TaskState, a *state.AttemptState, l nexus.Limits, seen WorkerTaskFacts, step repair.RepairStep) (*nexus.ReplanDecided, repair.RepairStep) {
	if step.Move != repair.Write || step.Resume {
		return nil, step
	}
	d := EndingDecision(t, a)
	if d == nil {
		crossed := CrossedThresholds(t, a, l, seen)
		if len(crossed) == 0 {
			return nil, step
		}
		d = replanRunningAttempt(t, a, l, seen, crossed)
		return d, stepAfterDecision(*d, step)
	}
	return nil, stepAfterDecision(*d, step) // the process that recorded it died
}

// stepAfterDecision returns the step that follows from a decision.
func stepAfterDecision(d nexus.ReplanDecided, step repair.RepairStep) repair.RepairStep {
	if d.Course == nexus.CourseContinue {
		return step
	}
	return repair.RepairStep{Move: repair.End, Outcome: nexus.Exhausted, Why: crossedText(d.Crossed) + ": " + string(d.Course)}
}

// EndingDecision returns the decision that ends an attempt, or nil if it may continue.
func EndingDecision(t *state.TaskState, a *state.AttemptState) *nexus.ReplanDecided {
	for _, d := range slices.Backward(t.CountedReplans()) {
		if d.Attempt == a.ID && d.Course != nexus.CourseContinue {
			return &d
		}
	}
	return nil
}

// CrossedThresholds returns the thresholds that a task has reached since the last decision about them.
// Each counts again at each multiple of itself.
func CrossedThresholds(t *state.TaskState, a *state.AttemptState, l nexus.Limits, seen WorkerTaskFacts) []nexus.CrossedThreshold {
	var all []nexus.CrossedThreshold
	add := func(of nexus.ReplanThreshold, n, limit int64, format string, args ...any) {
		if limit <= 0 || n/limit <= decidedMultiple(t, a, of) {
			return
		}
		c := nexus.CrossedThreshold{Threshold: of, Why: fmt.Sprintf(format, args...)}
		if n/limit > 1 {
			c.Times = int(n / limit)
		}
		all = append(all, c)
	}
	r := l.Replan
	if likely := estimatedTime(t); likely > 0 && r.Time > 0 {
		limit := max(likely*time.Duration(r.Time)/100, r.Least, time.Second)
		add(nexus.OverEstimate, int64(seen.Worked), int64(limit), "it has taken %s, and was estimated at %s",
			seen.Worked.Round(time.Second), likely)
	}
	rounds := t.CountedRounds() + max(0, len(a.Rounds)-t.RoundsOf)
	add(nexus.OverRounds, int64(rounds), RoundThreshold(l), "%d of its %d rounds are used", rounds, l.Rounds)
	if n := len(seen.Beside); r.Files > 0 && n > r.Files {
		add(nexus.OverFiles, int64(n-1), int64(r.Files), "it changes %d files that it does not declare: %s", n, joinFirstFiles(seen.Beside))
	}
	red := countRedRounds(a)
	add(nexus.OverFailures, int64(red), int64(r.Failures), "%d rounds in a row failed", red)
	return all
}

// RoundThreshold returns the threshold in rounds, or 0 if there is none.
func RoundThreshold(l nexus.Limits) int64 {
	return int64((l.Rounds*l.Replan.Rounds + 99) / 100)
}

// estimatedTime returns the estimated time of a task, or 0 if there is none.
func estimatedTime(t *state.TaskState) time.Duration {
	if t.Route != nil && t.Route.Estimate != nil {
		return time.Duration(t.Route.Estimate.Likely.Seconds) * time.Second
	}
	return time.Duration(t.Minutes) * time.Minute
}

// decidedMultiple returns the highest multiple of a threshold for which there was a decision: of the
// task, or of the attempt if each attempt counts separately.
func decidedMultiple(t *state.TaskState, a *state.AttemptState, of nexus.ReplanThreshold) int64 {
	own := of == nexus.OverFiles || of == nexus.OverFailures
	n := int64(0)
	for _, d := range t.CountedReplans() {
		if own && d.Attempt != a.ID {
			continue
		}
		for _, c := range d.Crossed {
			if c.Threshold == of {
				n = max(n+1, int64(c.Times))
			}
		}
	}
	return n
}

// countRedRounds counts the failed rounds in a row at an attempt's end.
func countRedRounds(a *state.AttemptState) int {
	n := 0
	for _, r := range a.Rounds {
		switch {
		case r.Verdict == nil:
		case r.Verdict.State.IsRed():
			n++
		default:
			n = 0
		}
	}
	return n
}

// replanRunningAttempt decides how a task with an attempt in progress continues.
func replanRunningAttempt(t *state.TaskState, a *state.AttemptState, l nexus.Limits, seen WorkerTaskFacts, crossed []nexus.CrossedThreshold) *nexus.ReplanDecided {
	d := &nexus.ReplanDecided{Task: t.ID, Attempt: a.ID, Crossed: crossed, Course: nexus.CourseContinue}
	course, how := repair.TrendOf(a)
	again := slices.ContainsFunc(crossed, func(c nexus.CrossedThreshold) bool { return decidedMultiple(t, a, c.Threshold) > 0 })
	bad := course == repair.CourseStuck || course == repair.CourseWrong
	var wanted []nexus.TaskContinuation // best first
	switch {
	case hasPassed(a):
		d.Why = "the gates pass, and what is left is what its judges want"
		return d
	case course == repair.CourseWorking && !again:
		d.Why = how
		return d
	case hasCrossed(crossed, nexus.OverFiles):
		wanted = []nexus.TaskContinuation{nexus.CourseSplit, nexus.CourseEscalate}
	case hasCrossed(crossed, nexus.OverFailures), bad:
		wanted = []nexus.TaskContinuation{nexus.CourseEscalate, nexus.CourseRescope}
	default:
		wanted = []nexus.TaskContinuation{nexus.CourseRescope, nexus.CourseEscalate}
	}
	d.Why = how
	for _, c := range wanted {
		if canContinueBy(c, t, l, seen) {
			d.Course = c
			return d
		}
	}
	if bad && again {
		d.Course = nexus.CourseStop
	}
	d.Why += "; it can be neither split nor given to a stronger model"
	return d
}

// hasPassed reports whether the gates pass the result of the last round.
func hasPassed(a *state.AttemptState) bool {
	for _, r := range slices.Backward(a.Rounds) {
		if r.Verdict != nil {
			return r.Verdict.State == nexus.Pass
		}
	}
	return false
}

// canContinueBy reports whether a task can continue in a certain way.
func canContinueBy(c nexus.TaskContinuation, t *state.TaskState, l nexus.Limits, seen WorkerTaskFacts) bool {
	if c != nexus.CourseEscalate {
		return seen.Divisible
	}
	for to, ok := t.Tier.NextTier(); ok; to, ok = to.NextTier() {
		if limit, capped := l.PerTier[to]; !capped || limit > 0 {
			return true
		}
	}
	return false
}

// DecideAfterEnd decides how a task continues whose last attempt ended because its time was
// used up, or because its agent gave up. It returns nil in other cases, or if there is a
// decision.
func DecideAfterEnd(s *state.State, t *state.TaskState, a *state.AttemptState, late bool) *nexus.ReplanDecided {
	if s.Limits.Replan == (nexus.ReplanLimits{}) {
		return nil
	}
	d := nexus.ReplanDecided{Task: t.ID, Attempt: a.ID}
	cross := func(of nexus.ReplanThreshold, why string) {
		d.Crossed = []nexus.CrossedThreshold{{Threshold: of, Why: why}}
	}
	switch r := t.Replan; {
	case late:
		cross(nexus.OverTime, fmt.Sprintf("its time of %s is used up", s.Limits.TaskTime))
		d.Course, d.Why, d.Anew = replanOvertime(s, t, a)
	case a.Outcome != nexus.GaveUp:
		return nil
	case r != nil && len(r.Blockers) > 0:
		cross(nexus.AgentAsked, r.Reason)
		d.Course, d.Why = nexus.CourseStop, "a person has to remove what blocks it: "+strings.Join(r.Blockers, "; ")
	case r != nil:
		cross(nexus.AgentAsked, r.Reason)
		if d.Course, d.Why = nexus.CourseRescope, "its agent asks for it, and a stronger one would be asked for the same"; !s.CanSplit(t) {
			d.Course, d.Why = nexus.CourseStop, "its agent asks for another plan, and it may not be split"
		}
	case a.Category == nexus.PersonNeeded:
		cross(nexus.BlockerMet, a.Why)
		d.Course, d.Why = nexus.CourseStop, "only a person can give what it needs"
	default:
		cross(nexus.BlockerMet, a.Why)
		d.Course, d.Why = nexus.CourseEscalate, "a stronger model or another strategy may get past it"
	}
	for _, old := range t.CountedReplans() {
		if old.Attempt == d.Attempt && hasCrossed(old.Crossed, d.Crossed[0].Threshold) {
			return nil
		}
	}
	return &d
}

// replanOvertime decides how a task continues whose time is used up: from the present work, with
// new time, while that made progress; otherwise with another plan.
func replanOvertime(s *state.State, t *state.TaskState, a *state.AttemptState) (course nexus.TaskContinuation, why string, anew bool) {
	n := 0
	for _, d := range t.CountedReplans() {
		if d.Anew {
			n++
		}
	}
	best, kept := state.BestTree(t.Attempts[min(t.Fresh, len(t.Attempts)):])
	further := mayHelpWithMoreTime(a.Outcome) && kept && best.Attempt == a.ID && (a.From == "" || a.Snapshot.Tree != startingTreeOf(s, a))
	switch {
	case further && n < continuations && (s.Limits.Rounds <= 0 || t.CountedRounds() < s.Limits.Rounds):
		return nexus.CourseContinue, fmt.Sprintf("the next attempt continues from round %d of %s", best.Round, best.Attempt), true
	case s.CanSplit(t):
		return nexus.CourseRescope, noProgressReason(a, n), false
	}
	return nexus.CourseStop, noProgressReason(a, n) + ", and it may not be split", false
}

// mayHelpWithMoreTime reports whether more time may help after an attempt with this outcome: it ended for
// lack of time, and not because its work must not or cannot continue.
func mayHelpWithMoreTime(o nexus.Outcome) bool {
	switch o {
	case nexus.Conflicted, nexus.GaveUp, nexus.Unverified, nexus.Inapplicable:
		return false
	default:
		return true
	}
}

// ContinuesFromLast reports whether the next attempt at a task continues from the tree of the last
// one, by the decision when its time was used up.
func ContinuesFromLast(t *state.TaskState) bool {
	a := t.CurrentAttempt()
	if a == nil || a.Stage != state.Over || !mayHelpWithMoreTime(a.Outcome) {
		return false
	}
	for _, d := range slices.Backward(t.CountedReplans()) {
		if d.Attempt == a.ID {
			return d.Anew
		}
	}
	return false
}

// startingTreeOf returns the tree of the round with which an attempt began, or "" if unknown.
func startingTreeOf(s *state.State, a *state.AttemptState) string {
	if old := s.AttemptByID(a.From); old != nil && len(old.Rounds) == a.FromRound {
		return old.Snapshot.Tree
	}
	return ""
}

func noProgressReason(a *state.AttemptState, n int) string {
	if !mayHelpWithMoreTime(a.Outcome) {
		return "its last attempt did not end because time ran out: " + cmp.Or(a.Why, string(a.Outcome))
	}
	if n >= continuations {
		return fmt.Sprintf("it was continued %d times", n)
	}
	return "its last attempt left nothing to continue from"
}

// DecideBlocked decides how a task continues that needs a task that will not land. It returns
// nil in other cases, or if there is a decision.
func DecideBlocked(s *state.State, t *state.TaskState) *nexus.ReplanDecided {
	if s.Limits.Replan == (nexus.ReplanLimits{}) || t.Status != nexus.Pending {
		return nil
	}
	for _, id := range t.Needs {
		n := s.TaskByID(id)
		if n == nil || !n.Status.HasEnded() || n.Status == nexus.Landed || n.Status == nexus.Split {
			continue
		}
		why := fmt.Sprintf("%s, which it needs, is %s: %s", id, n.Status, n.Why)
		if !slices.ContainsFunc(t.CountedReplans(), func(d nexus.ReplanDecided) bool { return d.Crossed[0].Why == why }) {
			return &nexus.ReplanDecided{
				Task: t.ID, Crossed: []nexus.CrossedThreshold{{Threshold: nexus.NeedFailed, Why: why}}, Course: nexus.CourseStop,
				Why: "it waits until " + string(id) + " lands after all",
			}
		}
	}
	return nil
}

func hasCrossed(crossed []nexus.CrossedThreshold, of nexus.ReplanThreshold) bool {
	return slices.ContainsFunc(crossed, func(c nexus.CrossedThreshold) bool { return c.Threshold == of })
}

// crossedText describes the reached thresholds.
func crossedText(crossed []nexus.CrossedThreshold) string {
	all := make([]string, len(crossed))
	for i, c := range crossed {
		all[i] = c.Why
	}
	return strings.Join(all, "; ")
}

// DecisionText describes a decision for people: the thresholds, the consequence and the reason.
func DecisionText(d nexus.ReplanDecided) string {
	what := map[nexus.TaskContinuation]string{
		nexus.CourseContinue: "it continues", nexus.CourseSplit: "it is split", nexus.CourseRescope: "it is planned again",
		nexus.CourseEscalate: "a stronger model or another strategy tries", nexus.CourseStop: "it stops",
	}[d.Course]
	return crossedText(d.Crossed) + ": " + what + ", as " + d.Why
}

// joinFirstFiles names the first files of many.
func joinFirstFiles(files []string) string {
	const most = 8
	if more := len(files) - most; more > 0 {
		return strings.Join(files[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(files, ", ")
}
