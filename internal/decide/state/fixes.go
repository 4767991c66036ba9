package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Fixes keeps what was done about criteria that are not met on what landed:
// what was looked for, what was found, and which task fixes it. The zero Fixes
// has heard of none.
//
// A fault is looked for once: who finds the same failure again after a task was
// to fix it has made no progress.
type Fixes struct {
	Rounds  int                    // times that faults were looked for
	Planned int                    // times that tasks were planned for them
	All     []nexus.CriterionFault // of all rounds, in order
	Round   nexus.AttemptID        // the last round
	Found   bool                   // what it is about was found, and nothing is planned for it yet

	from int // where those of the last round begin
}

// Apply folds a fact. Facts of anything else change nothing.
func (b *Fixes) Apply(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.FaultsSought:
		if f.Attempt == b.Round {
			return // it continues
		}
		b.Rounds, b.Round, b.Found, b.from = b.Rounds+1, f.Attempt, false, len(b.All)
		b.All = append(b.All, f.Faults...)
	case nexus.FaultsFound:
		if f.Attempt == b.Round {
			b.All, b.Found = append(b.All[:b.from:b.from], f.Faults...), true
		}
	case nexus.FixesPlanned:
		b.Planned, b.Found = b.Planned+1, false
	default:
	}
}

// interrupt forgets the round under way: it is to be begun again.
func (b *Fixes) interrupt() {
	b.All, b.Round, b.Found = b.All[:b.from:b.from], "", false
}

// LastFaults returns the faults of the last round.
func (b *Fixes) LastFaults() []nexus.CriterionFault { return b.All[b.from:] }

// HasFault reports whether a failure of a criterion was looked at before.
func (b *Fixes) HasFault(name, signature string) bool {
	return slices.ContainsFunc(b.All, func(f nexus.CriterionFault) bool { return f.Criterion == name && f.Signature == signature })
}

// FaultOfTask returns what a task fixes, nil where it is no such task.
func (b *Fixes) FaultOfTask(task nexus.TaskID) *nexus.CriterionFault {
	for i := range b.All {
		if b.All[i].Task == string(task) {
			return &b.All[i]
		}
	}
	return nil
}

// RewrittenCheck returns the check of a criterion that was written when it read as of
// stands for; by says what a task wrote, if it landed.
func (b *Fixes) RewrittenCheck(name, of string, by func(task string) (nexus.CriterionCheck, bool)) (c nexus.CriterionCheck, ok bool) {
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
// writes again, empty where it does not.
func (b *Fixes) CommitWithoutWork(task nexus.TaskID) string {
	if f := b.FaultOfTask(task); f != nil && f.Kind == nexus.FaultStale {
		return f.Commit
	}
	return ""
}

// FaultsOf returns what was found of a criterion, in order.
func (b *Fixes) FaultsOf(name string) []nexus.CriterionFault {
	var all []nexus.CriterionFault
	for _, f := range b.All {
		if f.Criterion == name {
			all = append(all, f)
		}
	}
	return all
}
