// Package failurecauses finds known causes in the facts of a run: why a task did not land, or took
// more time and money than it should, and a remedy.
//
// Each pattern is one function over the facts. It lists the events that it is based on, so
// that a person can check them. No pattern guesses: if the facts do not show a cause, there
// is none.
package failurecauses

import (
	"cmp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// KnownCause is a known cause of a problem in a run.
type KnownCause struct {
	Pattern string       `json:"pattern"`       // name of the [CausePattern] that found it
	Task    nexus.TaskID `json:"task,omitzero"` // the affected task; empty: the run
	Blocks  bool         `json:"blocks"`        // because of it the task did not land, or the run did not end well
	Symptom string       `json:"symptom"`       // the observation
	Why     string       `json:"why"`           // the cause
	Events  []int64      `json:"events"`        // sequence numbers of the facts that show it, in order
	Fix     string       `json:"fix"`           // the remedy, with the command or the setting
}

// CausePattern is one known cause.
type CausePattern struct {
	Name  string `json:"name"`
	About string `json:"about"` // short description of the cause that it recognizes
	find  func(*causeSearchInput) []KnownCause
}

// CausePatterns returns all patterns, in the order in which they are tried.
func CausePatterns() []CausePattern {
	return slices.Concat(machineCausePatterns(), gateCausePatterns(), planCausePatterns(), peopleCausePatterns(), modelCausePatterns(), workCausePatterns(), landingCausePatterns())
}

// FindCauses returns the causes that the facts of a run show: first those that prevented a landing,
// then by task in the plan's order. The events are those that s is folded from.
func FindCauses(s *state.State, events []nexus.Event) []KnownCause {
	r := newCauseSearchInput(s, events)
	var all []KnownCause
	for _, p := range CausePatterns() {
		for _, c := range p.find(r) {
			c.Pattern, c.Blocks = p.Name, c.Blocks || r.isUnlandedForGood(c.Task)
			slices.Sort(c.Events)
			c.Events = slices.Compact(c.Events)
			all = append(all, c)
		}
	}
	rank := map[nexus.TaskID]int{}
	for i, t := range s.Tasks {
		rank[t.ID] = i + 1
	}
	slices.SortStableFunc(all, func(a, b KnownCause) int {
		if a.Blocks != b.Blocks {
			if a.Blocks {
				return -1
			}
			return 1
		}
		return cmp.Compare(rank[a.Task], rank[b.Task])
	})
	return all
}

// BlockingCauses returns the causes that must be removed before a retry helps: of tasks that did
// not land, and of the run. A task that only waits for another one is omitted, unless there
// is no other cause.
func BlockingCauses(s *state.State, events []nexus.Event) []KnownCause {
	var all, waiting []KnownCause
	for _, c := range FindCauses(s, events) {
		switch t := s.TaskByID(c.Task); {
		case !c.Blocks:
		case t != nil && s.StatusOf(t) == nexus.Blocked:
			waiting = append(waiting, c)
		default:
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return waiting
	}
	return all
}
