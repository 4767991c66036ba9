// Package causes finds known causes in the facts of a run: why a task did not
// land, or took more time and money than it should, and what to do about it.
//
// Each pattern is one function over the facts. It names the events that it
// rests on, so that a person can look. No pattern guesses: where the facts do
// not say why, there is no cause.
package causes

import (
	"cmp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Cause is a known cause for what is seen in a run.
type Cause struct {
	Pattern string       `json:"pattern"`       // name of the [Pattern] that found it
	Task    nexus.TaskID `json:"task,omitzero"` // that it is about; empty: the run
	Blocks  bool         `json:"blocks"`        // the task did not land, or the run did not end well because of it
	Symptom string       `json:"symptom"`       // what is seen
	Why     string       `json:"why"`           // the cause
	Events  []int64      `json:"events"`        // sequence numbers of the facts that show it, in order
	Fix     string       `json:"fix"`           // what to do, with the command or the setting
}

// Pattern is one known cause.
type Pattern struct {
	Name  string `json:"name"`
	About string `json:"about"` // what it recognizes, in a few words
	find  func(*record) []Cause
}

// Patterns returns all patterns, in the order in which they are tried.
func Patterns() []Pattern {
	return slices.Concat(ofMachine(), ofGates(), ofPlan(), ofPeople(), ofModels(), ofWork(), ofLanding())
}

// Find returns the causes that the facts of a run show: first those because of
// which something did not land, then by task in the order of the plan. The
// events are those that s is folded from.
func Find(s *state.State, events []nexus.Event) []Cause {
	r := newRecord(s, events)
	var all []Cause
	for _, p := range Patterns() {
		for _, c := range p.find(r) {
			c.Pattern, c.Blocks = p.Name, c.Blocks || r.left(c.Task)
			slices.Sort(c.Events)
			c.Events = slices.Compact(c.Events)
			all = append(all, c)
		}
	}
	rank := map[nexus.TaskID]int{}
	for i, t := range s.Tasks {
		rank[t.ID] = i + 1
	}
	slices.SortStableFunc(all, func(a, b Cause) int {
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

// Blocking returns the causes to see to before it helps to try again: of tasks that did not land, and of the run.
// A task that only waits for another one is left out, unless there is no other cause.
func Blocking(s *state.State, events []nexus.Event) []Cause {
	var all, waiting []Cause
	for _, c := range Find(s, events) {
		switch t := s.Task(c.Task); {
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
