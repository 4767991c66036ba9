package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriterionFixHistory records the search for the faults behind criteria that the landed tree does not meet:
// the searches, their results, and the tasks that fix them. The zero value is empty.
//
// A fault is searched for once: the same failure after a task that was meant to fix it means
// no progress.
type CriterionFixHistory struct {
	Rounds  int                    // searches for faults
	Planned int                    // times that tasks were planned for faults
	All     []nexus.CriterionFault // of all rounds, in order
	Round   nexus.AttemptID        // the last round
	Found   bool                   // the cause was found, and no task is planned for it yet

	from int // index of the last round's first fault
}

// Apply applies a fact. It ignores facts about anything else.
func (b *CriterionFixHistory) Apply(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.CriterionDiagnosisStarted:
		if f.Attempt == b.Round {
			return // the round continues
		}
		b.Rounds, b.Round, b.Found, b.from = b.Rounds+1, f.Attempt, false, len(b.All)
		b.All = append(b.All, f.Faults...)
	case nexus.CriterionFaultsFound:
		if f.Attempt == b.Round {
			b.All, b.Found = append(b.All[:b.from:b.from], f.Faults...), true
		}
	case nexus.FixTasksPlanned:
		b.Planned, b.Found = b.Planned+1, false
	default:
	}
}

// interruptRound forgets the round in progress: it must start again.
func (b *CriterionFixHistory) interruptRound() {
	b.All, b.Round, b.Found = b.All[:b.from:b.from], "", false
}

// LastFaults returns the faults of the last round.
func (b *CriterionFixHistory) LastFaults() []nexus.CriterionFault { return b.All[b.from:] }

// HasFault reports whether a failure of a criterion was examined before.
func (b *CriterionFixHistory) HasFault(name, signature string) bool {
	return slices.ContainsFunc(b.All, func(f nexus.CriterionFault) bool { return f.Criterion == name && f.Signature == signature })
}

// FaultOfTask returns the fault that a task fixes, or nil for other tasks.
func (b *CriterionFixHistory) FaultOfTask(task nexus.TaskID) *nexus.CriterionFault {
	for i := range b.All {
		if b.All[i].Task == string(task) {
			return &b.All[i]
		}
	}
	return nil
}

// RewrittenCheck returns the check of a criterion that was rewritten for the fingerprint of;
// by returns the check that a task wrote, if the task landed.
func (b *CriterionFixHistory) RewrittenCheck(name, of string, by func(task string) (nexus.CriterionTest, bool)) (c nexus.CriterionTest, ok bool) {
	for _, f := range b.FaultsOf(name) {
		if f.Kind != nexus.FaultStale || f.Signature != of {
			continue
		}
		if own, there := by(f.Task); there {
			c, ok = own, true
		}
	}
	return c, ok
}

// CommitWithoutWork returns the commit without the work of a criterion whose check a task
// rewrites, or "" for other tasks.
func (b *CriterionFixHistory) CommitWithoutWork(task nexus.TaskID) string {
	if f := b.FaultOfTask(task); f != nil && f.Kind == nexus.FaultStale {
		return f.Commit
	}
	return ""
}

// FaultsOf returns the faults of a criterion, in order.
func (b *CriterionFixHistory) FaultsOf(name string) []nexus.CriterionFault {
	var all []nexus.CriterionFault
	for _, f := range b.All {
		if f.Criterion == name {
			all = append(all, f)
		}
	}
	return all
}
