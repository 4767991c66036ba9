package state

import (
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TaskState is a task and its progress.
type TaskState struct {
	nexus.Task
	Status    nexus.TaskStatus       // never blocked: see [State.StatusOf]
	Why       string                 // why it was parked or skipped
	Report    string                 // blob of its escalation report
	Tier      nexus.Tier             // tier of the next attempt
	Route     *nexus.StartTierChosen // estimated complexity; nil before it was routed
	Course    nexus.WritingStrategy  // strategy of the next attempts, if one was chosen; zero: the plan decides
	Turned    int                    // attempts before the tier was lowered; they do not count for escalation
	Attempts  []*AttemptState
	Rounds    int // over all attempts
	RoundsOf  int // rounds of the current attempt
	Landed    *nexus.LandingCompleted
	Inherited *nexus.TaskStateInherited // state in the run from which this one was forked; nil: none
	Replan    *nexus.ReplanRequested    // an agent's request for another plan of it
	Replans   []nexus.ReplanDecided     // decisions about its continuation when it reached thresholds
	OverCap   *nexus.BudgetRefused      // refusal by the task's own cap
	Spent     nexus.Money
	Usage     nexus.Usage
	Began     time.Time // start of the first attempt; zero before
	Ended     time.Time
	Worked    time.Duration      // time in attempts that have ended
	Retried   int                // retries by people
	Back      *nexus.TaskRetried // the last retry; nil: none
	Helped    bool               // a person gave guidance, an answer, a retry or a criterion
	Paused    *TaskPause         // set while a person has paused it; nil: not paused
	Fresh     int                // attempts that are ignored, because a person wants a fresh start
	Revised   int                // attempts before a person last changed its criteria
	Mercy     int                // attempts before the last retry; they do not count for escalation

	MercyReplans int           // number of Replans before that retry
	MercyRounds  int           // rounds before that retry
	MercyWorked  time.Duration // time worked before that retry

	Refused []VerifierRejection // valid refusals of its work by verifiers, oldest first
	Said    []DeliveredGuidance // people's guidance about it, oldest first

	Comments  []TaskComment        // people's comments on its change, oldest first; the list is replaced when one changes
	Commented int                  // number of comments ever made
	Looks     []PersonChangeReview // people's reviews of its change, oldest first
}

// VerifierRejection is a verifier's rejection of the work on a task. It is valid until a verifier
// approves later work on the same criteria, or a person changes these.
type VerifierRejection struct {
	Attempt  nexus.AttemptID
	Round    int
	Tier     nexus.Tier
	Strategy nexus.WritingStrategy
	Why      string
}

// DeliveredGuidance is a person's statement about a task.
type DeliveredGuidance struct {
	Seq   int64  // sequence number of its request; 0: it answers a question
	About string // the question that it answers, or its criterion; empty: the task
	Text  string
}

// ChangedCommits returns the two commits between which a task's change lies: of the landing, or else
// of the last attempt that changed something. Both are empty if nothing was changed.
func (t *TaskState) ChangedCommits() (from, to string) {
	if t.Landed != nil {
		return t.Landed.Parent, t.Landed.Commit
	}
	for _, a := range slices.Backward(t.Attempts) {
		if a.Snapshot.Commit != "" {
			return a.Base, a.Snapshot.Commit
		}
	}
	return "", ""
}

// CurrentAttempt returns the last attempt, or nil before the first.
func (t *TaskState) CurrentAttempt() *AttemptState {
	if len(t.Attempts) == 0 {
		return nil
	}
	return t.Attempts[len(t.Attempts)-1]
}

// IsUntried reports whether no attempt counts: none was made, or a rewind undid all of them.
func (t *TaskState) IsUntried() bool {
	for _, a := range t.Attempts {
		if !a.Undone {
			return false
		}
	}
	return true
}

// WrittenCheck returns the test that the work added for its n-th criterion, from 1, and
// whether it was written for the task's present text.
func (t *TaskState) WrittenCheck(n int) (c nexus.CriterionTest, fresh bool) {
	a := t.landedOrLastAttempt()
	if a == nil || n < 1 || n > len(t.Criteria) {
		return c, false
	}
	for _, c := range a.Checks.Checks {
		if c.Number == n {
			return c, c.Of == CriterionFingerprint(t.Task, n)
		}
	}
	return c, false
}

// CriterionEvidence returns the evidence for the n-th criterion, from 1, whose check is a
// gate: of the attempt that landed, or else of the last one. Fresh means that the criterion's
// text has not changed since.
func (t *TaskState) CriterionEvidence(n int) (s nexus.CriterionGateEvidence, fresh bool) {
	a := t.landedOrLastAttempt()
	if a == nil || n < 1 || n > len(t.Criteria) {
		return s, false
	}
	for _, s := range a.Weighed.Criteria {
		if s.Number == n {
			return s, s.Of == CriterionFingerprint(t.Task, n)
		}
	}
	return s, false
}

// landedOrLastAttempt returns the attempt that landed, or else the last one.
func (t *TaskState) landedOrLastAttempt() *AttemptState {
	for _, o := range t.Attempts {
		if t.Landed != nil && o.ID == t.Landed.Attempt {
			return o
		}
	}
	return t.CurrentAttempt()
}

// CriterionFingerprint returns a hash of the texts of a task and its n-th criterion, from 1.
func CriterionFingerprint(t nexus.Task, n int) string {
	return nexus.TextFingerprint(t.Title, t.Brief, t.Criteria[n-1].Text)
}

// WithProvedChecks returns the task with the checks that its work added for criteria without
// a command, or with one that does not show them.
func (t *TaskState) WithProvedChecks() nexus.Task {
	task := t.Task
	task.Criteria = slices.Clone(t.Criteria)
	for i := range task.Criteria {
		c, fresh := t.WrittenCheck(i + 1)
		shown, _ := t.CriterionEvidence(i + 1)
		if vain := shown.Number > 0 && shown.By == ""; fresh && c.Proved && (vain || !strings.ContainsAny(task.Criteria[i].Check, " /.")) {
			task.Criteria[i].Check = c.Command
		}
	}
	return task
}

// AttemptsAt returns the attempts at a tier that count for escalation.
func (t *TaskState) AttemptsAt(tier nexus.Tier) []*AttemptState {
	var all []*AttemptState
	for _, a := range t.Attempts[min(max(t.Mercy, t.Turned), len(t.Attempts)):] {
		if a.Tier == tier {
			all = append(all, a)
		}
	}
	return all
}

// RaisedTier returns the tier of an attempt if it is above the task's starting tier, or else
// "". The judges of its work then use at least that tier.
func (t *TaskState) RaisedTier(a *AttemptState) nexus.Tier {
	if t.Route != nil && t.Route.Tier.IsBelow(a.Tier) {
		return a.Tier
	}
	return ""
}

// IsUnderway reports whether an attempt at the task is working or waits to continue.
func (t *TaskState) IsUnderway() bool {
	a := t.CurrentAttempt()
	return a != nil && (a.Stage == Working || a.Stage == Waiting && !t.Status.HasEnded())
}

// CountedRounds returns the rounds that count against the cap.
func (t *TaskState) CountedRounds() int { return t.Rounds - t.MercyRounds }

// CountedReplans returns the decisions about the task's continuation at thresholds since a
// person last retried it.
func (t *TaskState) CountedReplans() []nexus.ReplanDecided { return t.Replans[t.MercyReplans:] }

// TimeCountedAgainstCap returns the time in ended attempts that counts against the cap.
func (t *TaskState) TimeCountedAgainstCap() time.Duration { return t.Worked - t.MercyWorked }

// FailedOnlyByMachine reports whether Nexus or the machine failed in each attempt at the task, so that
// the attempts are no evidence about it.
func (t *TaskState) FailedOnlyByMachine() bool {
	return len(t.Attempts) > 0 && !slices.ContainsFunc(t.Attempts, func(a *AttemptState) bool { return !a.Broken })
}

// FailedOnlyByMachine reports whether work was begun, and Nexus or the machine failed in each attempt.
func (s *State) FailedOnlyByMachine() bool {
	begun := func(t *TaskState) bool { return len(t.Attempts) > 0 }
	return slices.ContainsFunc(s.Tasks, begun) && !slices.ContainsFunc(s.Tasks, func(t *TaskState) bool { return begun(t) && !t.FailedOnlyByMachine() })
}
