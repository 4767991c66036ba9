package state

import (
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Task is a task and what became of it so far.
type Task struct {
	nexus.Task
	Status    nexus.TaskStatus  // never blocked: see [State.StatusOf]
	Why       string            // why it was parked or skipped
	Report    string            // blob of its escalation report
	Tier      nexus.Tier        // where the next attempt starts
	Route     *nexus.TaskRouted // how hard it is taken to be; nil before it was routed
	Course    nexus.Strategy    // of the next attempts, where that was chosen; zero leaves it to the plan
	Turned    int               // attempts before that was lowered; they do not count against the ladder
	Attempts  []*Attempt
	Rounds    int // over all attempts
	RoundsOf  int // of them in the current attempt
	Landed    *nexus.TrainLanded
	Inherited *nexus.TaskInherited  // what the run that this one was forked from made of it; nil for nothing
	Replan    *nexus.ReplanAsked    // an agent wants another plan for it
	Replans   []nexus.ReplanDecided // how it was to continue when it reached thresholds
	OverCap   *nexus.BudgetRefused  // the task's own cap said no
	Spent     nexus.Money
	Usage     nexus.Usage
	Began     time.Time // first attempt; zero before
	Ended     time.Time
	Worked    time.Duration      // in attempts that are over
	Retried   int                // times a person gave it another chance
	Back      *nexus.TaskRetried // the last such chance; nil for none
	Helped    bool               // a person told it something, answered it, or gave it another chance or criterion
	Paused    *Pause             // by a person, until they let it continue; nil: it is not
	Fresh     int                // attempts of which nothing is kept, as a person wants a fresh start
	Revised   int                // attempts before a person last changed its criteria
	Mercy     int                // attempts before the last such chance; they do not count against the ladder

	MercyReplans int           // of Replans, before that chance
	MercyRounds  int           // rounds before that chance
	MercyWorked  time.Duration // time worked before it

	Refused []Refusal           // verifiers' refusals of its work that still stand, oldest first
	Said    []DeliveredGuidance // what people said about it, oldest first

	Comments  []Comment      // of people on its change, oldest first; replaced when one changes
	Commented int            // comments that were made
	Looks     []PersonReview // times that people reviewed its change, oldest first
}

// Refusal is a verifier's verdict against the work on a task. It stands until
// a verifier approves later work on the same criteria, or a person changes
// these.
type Refusal struct {
	Attempt  nexus.AttemptID
	Round    int
	Tier     nexus.Tier
	Strategy nexus.Strategy
	Why      string
}

// DeliveredGuidance is what a person said about a task.
type DeliveredGuidance struct {
	Seq   int64  // of the request that said it; 0: it answers a question
	About string // the question that it answers, or the criterion that it is about; empty: the task
	Text  string
}

// Change returns the two commits between which a task's change lies: what landed,
// or else what its last attempt that changed something came to. Both are empty
// where nothing was changed.
func (t *Task) Change() (from, to string) {
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

// Current returns the last attempt, nil before the first.
func (t *Task) Current() *Attempt {
	if len(t.Attempts) == 0 {
		return nil
	}
	return t.Attempts[len(t.Attempts)-1]
}

// Untried reports whether no attempt was made that still counts: all were undone by a rewind.
func (t *Task) Untried() bool {
	for _, a := range t.Attempts {
		if !a.Undone {
			return false
		}
	}
	return true
}

// WrittenCheck returns the test that the work brought along for its n-th criterion,
// from 1, and whether that was written for what the task says now.
func (t *Task) WrittenCheck(n int) (c nexus.CriterionCheck, fresh bool) {
	a := t.worked()
	if a == nil || n < 1 || n > len(t.Criteria) {
		return c, false
	}
	for _, c := range a.Checks.Checks {
		if c.Number == n {
			return c, c.Of == Fingerprint(t.Task, n)
		}
	}
	return c, false
}

// CriterionEvidence returns what was found to show the n-th criterion, from 1, whose check
// is a gate: of the attempt that landed, and else of the last one. Fresh says
// that the criterion still says what it said then.
func (t *Task) CriterionEvidence(n int) (s nexus.CriterionShown, fresh bool) {
	a := t.worked()
	if a == nil || n < 1 || n > len(t.Criteria) {
		return s, false
	}
	for _, s := range a.Weighed.Criteria {
		if s.Number == n {
			return s, s.Of == Fingerprint(t.Task, n)
		}
	}
	return s, false
}

// worked returns the attempt that landed, and else the last one.
func (t *Task) worked() *Attempt {
	for _, o := range t.Attempts {
		if t.Landed != nil && o.ID == t.Landed.Attempt {
			return o
		}
	}
	return t.Current()
}

// Fingerprint stands for what a task and its n-th criterion, from 1, say.
func Fingerprint(t nexus.Task, n int) string {
	return nexus.Fingerprint(t.Title, t.Brief, t.Criteria[n-1].Text)
}

// WithProvedChecks returns the task with the checks that its work brought along: for
// criteria without a command, or with one that does not show them.
func (t *Task) WithProvedChecks() nexus.Task {
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

// AttemptsAt returns the attempts at a tier that count against the ladder.
func (t *Task) AttemptsAt(tier nexus.Tier) []*Attempt {
	var all []*Attempt
	for _, a := range t.Attempts[min(max(t.Mercy, t.Turned), len(t.Attempts)):] {
		if a.Tier == tier {
			all = append(all, a)
		}
	}
	return all
}

// RaisedTier returns the tier of an attempt where it is above the one where work on
// the task begins, and else nothing: who judges its work works no lower then.
func (t *Task) RaisedTier(a *Attempt) nexus.Tier {
	if t.Route != nil && t.Route.Tier.Below(a.Tier) {
		return a.Tier
	}
	return ""
}

// Underway reports whether an attempt at the task works, or waits to continue.
func (t *Task) Underway() bool {
	a := t.Current()
	return a != nil && (a.Stage == Working || a.Stage == Waiting && !t.Status.Ended())
}

// CountedRounds returns the rounds that count against the cap.
func (t *Task) CountedRounds() int { return t.Rounds - t.MercyRounds }

// CountedReplans returns how the task was to continue when it reached thresholds, since a
// person last gave it another chance.
func (t *Task) CountedReplans() []nexus.ReplanDecided { return t.Replans[t.MercyReplans:] }

// CountedTime returns the time in attempts that are over that counts against the
// cap.
func (t *Task) CountedTime() time.Duration { return t.Worked - t.MercyWorked }

// OnlyBroken reports whether the machinery failed in each attempt at the task, so that they
// say nothing of it.
func (t *Task) OnlyBroken() bool {
	return len(t.Attempts) > 0 && !slices.ContainsFunc(t.Attempts, func(a *Attempt) bool { return !a.Broken })
}

// OnlyBroken reports whether something was begun, and the machinery failed in each attempt.
func (s *State) OnlyBroken() bool {
	begun := func(t *Task) bool { return len(t.Attempts) > 0 }
	return slices.ContainsFunc(s.Tasks, begun) && !slices.ContainsFunc(s.Tasks, func(t *Task) bool { return begun(t) && !t.OnlyBroken() })
}
