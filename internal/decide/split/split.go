// Package split keeps which tasks were to be split when nothing else helped,
// and what came of it, and says what a split must hold to.
//
// It is folded from the run's facts. A task is split at most once, unless a
// person gives it another chance.
package split

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Entry is one task that is or was to be split.
type Entry struct {
	nexus.SplitSought
	Parts   []nexus.TaskID // that stand in its place; none while that is open
	Refused string         // why it is not split; empty while that is open
}

// Open reports whether nothing came of it yet.
func (e *Entry) Open() bool { return len(e.Parts) == 0 && e.Refused == "" }

// Book is what the facts so far say. The zero Book has heard none.
type Book struct {
	All    []*Entry // in order, the last of each task
	Sought int      // how many there ever were
}

// Apply folds a fact. Facts of anything else change nothing.
func (b *Book) Apply(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.SplitSought:
		if e := b.Of(f.Task); e == nil || e.Attempt != f.Attempt {
			b.forget(f.Task)
			b.All, b.Sought = append(b.All, &Entry{SplitSought: f}), b.Sought+1
		}
	case nexus.TaskSplit:
		if e := b.Of(f.Task); e != nil {
			e.Parts = f.Parts
		}
	case nexus.SplitFailed:
		if e := b.Of(f.Task); e != nil && e.Attempt == f.Attempt {
			e.Refused = f.Why
		}
	case nexus.TaskRetried:
		b.forget(f.Task)
	default:
	}
}

func (b *Book) forget(task nexus.TaskID) {
	b.All = slices.DeleteFunc(b.All, func(e *Entry) bool { return e.Task == task })
}

// Of returns what is known of a task, nil where nobody sought to split it, or
// a person gave it another chance since.
func (b *Book) Of(task nexus.TaskID) *Entry {
	for _, e := range b.All {
		if e.Task == task {
			return e
		}
	}
	return nil
}

// Instead returns what a task needs once its parts stand in the place of one
// that it needed.
func Instead(needs []nexus.TaskID, task nexus.TaskID, parts []nexus.TaskID) []nexus.TaskID {
	at := slices.Index(needs, task)
	if at < 0 {
		return needs
	}
	all := slices.Clone(needs[:at])
	for _, id := range slices.Concat(parts, needs[at+1:]) {
		if id != task && !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}
