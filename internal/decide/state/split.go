package state

import (
	"maps"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Split is one task that is or was to be split.
type Split struct {
	nexus.SplitSought
	Parts   []nexus.TaskID // that stand in its place; none while that is open
	Refused string         // why it is not split; empty while that is open
}

// Open reports whether nothing came of it yet.
func (e *Split) Open() bool { return len(e.Parts) == 0 && e.Refused == "" }

// Splits keeps which tasks were to be split when nothing else helped, and what
// came of it. The zero Splits has heard of none.
//
// A task is split at most once, unless a person gives it another chance.
type Splits struct {
	All    []*Split // in order, the last of each task
	Sought int      // how many there ever were
}

// Apply folds a fact. Facts of anything else change nothing.
func (b *Splits) Apply(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.SplitSought:
		if e := b.ForTask(f.Task); e == nil || e.Attempt != f.Attempt {
			b.forget(f.Task)
			b.All, b.Sought = append(b.All, &Split{SplitSought: f}), b.Sought+1
		}
	case nexus.TaskSplit:
		if e := b.ForTask(f.Task); e != nil {
			e.Parts = f.Parts
		}
	case nexus.SplitFailed:
		if e := b.ForTask(f.Task); e != nil && e.Attempt == f.Attempt {
			e.Refused = f.Why
		}
	case nexus.TaskRetried:
		b.forget(f.Task)
	default:
	}
}

func (b *Splits) forget(task nexus.TaskID) {
	b.All = slices.DeleteFunc(b.All, func(e *Split) bool { return e.Task == task })
}

// ForTask returns what is known of a task, nil where nobody sought to split it, or
// a person gave it another chance since.
func (b *Splits) ForTask(task nexus.TaskID) *Split {
	for _, e := range b.All {
		if e.Task == task {
			return e
		}
	}
	return nil
}

// replaceNeed gives a task, which needs or wants another one, the parts of that in its place.
func replaceNeed(t *nexus.Task, whole nexus.TaskID, parts []nexus.TaskID) {
	t.Needs, t.Wants = ReplaceNeed(t.Needs, whole, parts), ReplaceNeed(t.Wants, whole, parts)
	if tie, ok := t.Ties[whole]; ok {
		t.Ties = maps.Clone(t.Ties)
		delete(t.Ties, whole)
		for _, id := range parts {
			t.Ties[id] = tie
		}
	}
}

// ReplaceNeed returns what a task needs once its parts are in the place of one
// that it needed.
func ReplaceNeed(needs []nexus.TaskID, task nexus.TaskID, parts []nexus.TaskID) []nexus.TaskID {
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

// applySplit folds what is done about a task that is stuck. What needed it
// needs its parts instead.
func (s *State) applySplit(f nexus.Fact, at time.Time) {
	s.Splits.Apply(f)
	switch f := f.(type) {
	case nexus.SplitSought:
		if s.attempts[f.Attempt] == nil {
			s.attempts[f.Attempt] = &Attempt{ID: f.Attempt, Base: s.Tip, Began: at, Active: at}
		}
		s.attempts[f.Attempt].Stage = Working
	case nexus.TaskSplit:
		a, t := s.attempts[f.Attempt], s.tasks[f.Task]
		a.Stage, a.Finished = Over, at
		s.splitInto(t, f.Parts, at)
		s.order()
	case nexus.SplitFailed:
		a := s.attempts[f.Attempt]
		a.Stage, a.Finished, a.Why = Over, at, f.Why
	default:
	}
}
