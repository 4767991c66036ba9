package schedule

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// broken is the number of attempts in a row that Nexus or the machine may fail.
const broken = 3

// decideAfterAttempt decides the next step after a task's last attempt.
func decideAfterAttempt(s *state.State, t *state.TaskState, now time.Time) []nexus.Fact {
	a := t.CurrentAttempt()
	if a == nil || t.Status.HasEnded() || t.Status == nexus.Boarding {
		return nil
	}
	if len(t.Attempts) <= t.Mercy {
		return nil // a person retried it: begin starts it
	}
	switch a.Stage {
	case state.Working:
		return nil
	case state.Waiting:
		return resumeAttempt(s, t, a)
	case state.Over:
	}
	switch {
	case a.Outcome == nexus.Accepted && a.Refusals >= max(1, s.Limits.LandTries):
		return endTaskByFault(t, fmt.Sprintf("landing failed %d times: %s", a.Refusals, a.Why))
	case a.Outcome == nexus.Accepted && len(t.Refused) > 0: // in a journal of an earlier version
		return parkTask(t, "no verifier has approved it since")
	case a.Outcome == nexus.Accepted:
		if fs, held := reviewBeforeLanding(s, t, a, now); held {
			return fs
		}
		return factList(nexus.LandingQueued{Task: t.ID, Attempt: a.ID})
	case t.Status != nexus.Pending && a.Outcome != nexus.Conflicted:
		return nil
	}
	if fs, over := applyReplan(s, t, a); over {
		return fs
	}
	switch {
	case isOutOfTime(s, t):
		return splitTask(s, t, nexus.TaskSplitStarted{Why: capReason(s, t), Failed: true, Rescope: true})
	case capReason(s, t) != "":
		return endTaskByFault(t, capReason(s, t))
	}
	switch a.Outcome {
	case nexus.Conflicted:
		return parkTask(t, "conflict: "+a.Why)
	case nexus.Unverified, nexus.Inapplicable:
		return parkTask(t, a.Why)
	case nexus.GaveUp:
		switch r := t.Replan; { // a stronger model would receive the same request
		case r != nil && len(r.Blockers) > 0:
			return parkTask(t, replanReason(*r))
		case r != nil:
			return splitTask(s, t, nexus.TaskSplitStarted{Why: replanReason(*r), Rescope: true})
		case a.Category == nexus.PersonNeeded: // a stronger model cannot provide it either
			return parkTask(t, a.Why)
		}
		// a tester that cannot write tests without touching code counts like one that touched
		// it
		if repair.NextStrategy(t) != a.Strategy {
			return retryOrEscalate(s, t, a)
		}
		return escalateTask(s, t, a, parkTask)
	default:
		return retryOrEscalate(s, t, a)
	}
}

// applyReplan decides how a task continues that reached a threshold, and applies a decision
// that was made during its last attempt. Over means that nothing else is to be decided about
// it now.
func applyReplan(s *state.State, t *state.TaskState, a *state.AttemptState) (fs []nexus.Fact, over bool) {
	if d := replan.DecideAfterEnd(s, t, a, isOutOfTime(s, t)); d != nil {
		return factList(*d), true
	}
	if replan.ContinuesFromLast(t) && capReason(s, t) == "" {
		return nil, true // startTasks starts it at its place
	}
	d := replan.EndingDecision(t, a)
	if d == nil || a.Outcome != nexus.Exhausted || isOutOfTime(s, t) {
		return nil, false
	}
	why := replan.DecisionText(*d)
	switch d.Course {
	case nexus.CourseSplit, nexus.CourseRescope:
		return splitTask(s, t, nexus.TaskSplitStarted{Why: why, Failed: true, Rescope: d.Course == nexus.CourseRescope}), true
	case nexus.CourseStop:
		return parkTask(t, why), true
	case nexus.CourseEscalate:
		fs = escalateTask(s, t, a, func(t *state.TaskState, why string) []nexus.Fact { return endTaskByFault(t, why) })
		return fs, fs != nil
	case nexus.CourseContinue:
	}
	return nil, false
}

// resumeAttempt resumes an attempt that lost its worker or was returned.
func resumeAttempt(s *state.State, t *state.TaskState, a *state.AttemptState) []nexus.Fact {
	switch {
	case t.OverCap != nil:
		return parkTask(t, ReachedCapText(*t.OverCap))
	case isLostTooOften(s, a):
		return endTaskByFault(t, fmt.Sprintf("interrupted %d times: %s", a.Losses, a.Why))
	case a.Refusals > 0 && a.Refusals >= max(1, s.Limits.LandTries):
		return endTaskByFault(t, fmt.Sprintf("landing failed %d times: %s", a.Refusals, a.Why))
	case len(s.ActiveAttempts()) >= allowedParallelAttempts(s):
		return nil
	case t.Status == nexus.Pending && conflictsWithRunning(s, t, tasksInFlight(s)):
		return nil // it was retried, and others began meanwhile
	}
	return factList(nexus.AttemptResumed{Attempt: a.ID, Base: a.Base, Tree: a.Start})
}

// capReason returns which of a task's own caps is reached, or "".
func capReason(s *state.State, t *state.TaskState) string {
	switch l := s.Limits; {
	case l.Rounds > 0 && t.CountedRounds() >= l.Rounds:
		used := fmt.Sprintf("%d rounds are used up", l.Rounds)
		if why := t.CurrentAttempt().Why; why != used {
			used += ": " + why
		}
		return used
	case l.TaskTime > 0 && t.TimeCountedAgainstCap() >= l.TaskTime:
		return fmt.Sprintf("its time limit of %s is reached; the work is kept", l.TaskTime)
	}
	return ""
}

// isOutOfTime reports whether the time of a task is used up, and no other cap.
func isOutOfTime(s *state.State, t *state.TaskState) bool {
	l := s.Limits
	return l.TaskTime > 0 && t.TimeCountedAgainstCap() >= l.TaskTime && (l.Rounds <= 0 || t.CountedRounds() < l.Rounds)
}

// retryOrEscalate starts a new attempt at the same tier while that may help, and then
// escalates to a stronger tier. It returns nothing if a new attempt is right: [startTasks]
// starts it.
func retryOrEscalate(s *state.State, t *state.TaskState, a *state.AttemptState) []nexus.Fact {
	tries := t.AttemptsAt(t.Tier)
	if n := len(tries); n >= broken && haveAllFailedByMachine(tries[n-broken:]) {
		return parkTask(t, fmt.Sprintf("the environment failed %d times: %s", broken, a.Why))
	}
	if a.Category == nexus.GreenfieldNoTests && repair.NextStrategy(t) == a.Strategy {
		// it was lite already: more attempts at the same tier would write no test either
		return escalateTask(s, t, a, parkTask)
	}
	if why := futileRetryReason(s, t, a); why != "" {
		a := *a
		a.Why = why + ": " + cmp.Or(a.Why, string(a.Outcome))
		return escalateTask(s, t, &a, parkTask)
	}
	limit, capped := s.Limits.PerTier[t.Tier]
	if len(tries) == 0 || (!capped || len(tries) < limit) && !failedTheSameTwice(tries) && !repair.IsResubmission(tries[len(tries)-1]) {
		return nil
	}
	if a.Category.NeedsPerson() {
		return escalateTask(s, t, a, parkTask)
	}
	return escalateTask(s, t, a, func(t *state.TaskState, why string) []nexus.Fact {
		return splitTask(s, t, nexus.TaskSplitStarted{Why: why, Failed: true})
	})
}

func haveAllFailedByMachine(tries []*state.AttemptState) bool {
	for _, a := range tries {
		if !a.Broken {
			return false
		}
	}
	return true
}

// failedTheSameTwice reports whether the last two attempts ended with the same failure: a third at this
// tier would not differ.
func failedTheSameTwice(tries []*state.AttemptState) bool {
	if len(tries) < 2 {
		return false
	}
	last := repair.LastSignature(tries[len(tries)-1])
	return last != "" && last == repair.LastSignature(tries[len(tries)-2])
}

// escalateTask moves the task to the next tier that may try it. At the top it continues with a
// less strict strategy; if there is none it is split, or parked.
func escalateTask(s *state.State, t *state.TaskState, a *state.AttemptState, leave func(*state.TaskState, string) []nexus.Fact) []nexus.Fact {
	why := cmp.Or(a.Why, string(a.Outcome))
	if len(t.AttemptsAt(t.Tier)) == 0 {
		return nil // it was moved to this tier, and has not tried it yet
	}
	to, ok := t.Tier.NextTier()
	for ok && isTierClosed(s, to) {
		to, ok = to.NextTier()
	}
	if !ok {
		if less, ok := strategyAfterLastTier(t, a); ok {
			return factList(nexus.TaskEscalated{Task: t.ID, From: t.Tier, To: t.Tier, Why: why, Strategy: less})
		}
		return leave(t, why)
	}
	return factList(nexus.TaskEscalated{Task: t.ID, From: t.Tier, To: to, Why: why})
}

// strategyAfterLastTier returns the strategy with which a task continues after the last tier. It never
// removes a judge that refused the work: while a verifier's refusal is valid, the next
// strategy has a verifier too, and a judgement that only a person can make is left to a
// person.
func strategyAfterLastTier(t *state.TaskState, a *state.AttemptState) (nexus.WritingStrategy, bool) {
	way := repair.NextStrategy(t)
	if way != a.Strategy {
		return way, true // no attempt was made with it yet
	}
	less, ok := repair.LowerStrategy(way)
	return less, ok && !a.Category.NeedsPerson() && (len(t.Refused) == 0 || less.UsesSeparateSessions())
}

// isTierClosed reports whether no attempt may be made at a tier.
func isTierClosed(s *state.State, tier nexus.Tier) bool {
	limit, capped := s.Limits.PerTier[tier]
	return capped && limit <= 0
}

// replanReason returns, for people, why an agent wants its task to be planned again.
func replanReason(f nexus.ReplanRequested) string {
	text := "it needs a new plan: " + f.Reason
	for _, b := range f.Blockers {
		text += "; " + b
	}
	if f.Suggestion != "" {
		text += "; suggested: " + f.Suggestion
	}
	return text
}

// parkTask parks a task for a person's judgement.
func parkTask(t *state.TaskState, why string) []nexus.Fact {
	if len(t.Refused) > 0 {
		why = strings.TrimSuffix(why, ".") + standingRefusals(t)
	}
	return factList(nexus.TaskParked{Task: t.ID, Why: why})
}

// endTaskByFault ends a task for a mechanical reason. While a verifier's refusal is valid, it needs a
// person anyway.
func endTaskByFault(t *state.TaskState, why string) []nexus.Fact {
	if len(t.Refused) > 0 {
		return parkTask(t, why)
	}
	return factList(nexus.TaskParked{Task: t.ID, Why: why, Failed: true})
}

// standingRefusals lists the valid refusals of a task, or returns "".
func standingRefusals(t *state.TaskState) string {
	var b strings.Builder
	for i, r := range t.Refused {
		lead := "; "
		if i == 0 {
			lead = fmt.Sprintf(". A verifier rejected the work %d times and has not approved it since: ", len(t.Refused))
			if len(t.Refused) == 1 {
				lead = ". A verifier rejected the work and has not approved it since: "
			}
		}
		fmt.Fprintf(&b, "%s%s round %d (%s, %s): %s", lead, r.Attempt, r.Round, r.Tier, r.Strategy, shortenReason(r.Why))
	}
	return b.String()
}

// shortenReason cuts a reason for a list. The journal contains all of it.
func shortenReason(why string) string {
	const most = 240
	why = strings.Join(strings.Fields(why), " ")
	if r := []rune(why); len(r) > most {
		return string(r[:most]) + "..."
	}
	return why
}
