package causes

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// record is the input of the patterns: the facts, and their tasks.
type record struct {
	state    *state.State
	events   []nexus.Event
	attempts map[nexus.SessionID]nexus.AttemptID
	tasks    map[nexus.AttemptID]nexus.TaskID
}

func newRecord(s *state.State, events []nexus.Event) *record {
	r := &record{
		state: s, events: events,
		attempts: map[nexus.SessionID]nexus.AttemptID{}, tasks: map[nexus.AttemptID]nexus.TaskID{},
	}
	for _, e := range events {
		switch f := e.Fact.(type) {
		case nexus.SessionStarted:
			r.attempts[f.Session] = f.Attempt
		case nexus.AttemptStarted:
			r.tasks[f.Attempt] = f.Task
		default: // the fact does not name its task
		}
	}
	return r
}

// attempt returns the task of an attempt, or "" for a planning and the like.
func (r *record) attempt(a nexus.AttemptID) nexus.TaskID { return r.tasks[a] }

// session returns the task of a session.
func (r *record) session(s nexus.SessionID) nexus.TaskID { return r.tasks[r.attempts[s]] }

// left reports whether a task did not land and will not land by itself.
func (r *record) left(id nexus.TaskID) bool {
	t := r.state.Task(id)
	return t != nil && slices.Contains([]nexus.TaskStatus{nexus.Parked, nexus.Failed, nexus.Blocked}, r.state.StatusOf(t))
}

// mark identifies facts that belong together: those about one subject of one task.
type mark struct {
	task nexus.TaskID
	what string
}

// group is a list of facts that belong together, in order.
type group struct {
	mark
	at  []int64
	all []nexus.Fact
}

// typedGroup is a list of facts of one type that belong together, in order.
type typedGroup[F nexus.Fact] struct {
	group
	facts []F
}

func (s typedGroup[F]) last() F { return s.facts[len(s.facts)-1] }

// collect groups facts by their marks, in the order in which the marks first appear. A fact
// without a mark is skipped.
func (r *record) collect(marks func(nexus.Fact) []mark) []group {
	var groups []group
	index := map[mark]int{}
	for _, e := range r.events {
		for _, m := range marks(e.Fact) {
			i, known := index[m]
			if !known {
				i = len(groups)
				index[m] = i
				groups = append(groups, group{mark: m})
			}
			groups[i].at = append(groups[i].at, e.Seq)
			groups[i].all = append(groups[i].all, e.Fact)
		}
	}
	return groups
}

// causes returns a cause for each group with at least the given number of facts of one type.
func causes[F nexus.Fact](r *record, least int, marks func(F) []mark, explain func(typedGroup[F]) Cause) []Cause {
	marked := func(f nexus.Fact) []mark {
		if f, ok := f.(F); ok {
			return marks(f)
		}
		return nil
	}
	return r.explained(least, marked, func(g group) Cause {
		s := typedGroup[F]{group: g}
		for _, f := range g.all {
			if f, ok := f.(F); ok {
				s.facts = append(s.facts, f)
			}
		}
		return explain(s)
	})
}

// explained is [causes] without the code that must be copied for each type.
func (r *record) explained(least int, marks func(nexus.Fact) []mark, explain func(group) Cause) []Cause {
	var all []Cause
	for _, g := range r.collect(marks) {
		if len(g.at) < least {
			continue
		}
		c := explain(g)
		c.Task, c.Events = g.task, g.at
		all = append(all, c)
	}
	return all
}

// only returns a mark if it is wanted.
func only(wanted bool, task nexus.TaskID, what string) []mark {
	if !wanted {
		return nil
	}
	return []mark{{task, what}}
}

// times formats a number of times.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// quote quotes a word for a shell.
func quote(word string) string {
	q, err := shell.Quote([]string{word})
	if err != nil {
		return "TEST"
	}
	return q
}
