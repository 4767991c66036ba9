package causes

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// causeRecord is the input of the patterns: the facts, and their tasks.
type causeRecord struct {
	state    *state.State
	events   []nexus.Event
	attempts map[nexus.SessionID]nexus.AttemptID
	tasks    map[nexus.AttemptID]nexus.TaskID
}

func newRecord(s *state.State, events []nexus.Event) *causeRecord {
	r := &causeRecord{
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

// taskOfAttempt returns the task of an attempt, or "" for a planning and the like.
func (r *causeRecord) taskOfAttempt(a nexus.AttemptID) nexus.TaskID { return r.tasks[a] }

// taskOfSession returns the task of a session.
func (r *causeRecord) taskOfSession(s nexus.SessionID) nexus.TaskID { return r.tasks[r.attempts[s]] }

// wasLeft reports whether a task did not land and will not land by itself.
func (r *causeRecord) wasLeft(id nexus.TaskID) bool {
	t := r.state.TaskByID(id)
	return t != nil && slices.Contains([]nexus.TaskStatus{nexus.Parked, nexus.Failed, nexus.Blocked}, r.state.StatusOf(t))
}

// factMark identifies facts that belong together: those about one subject of one task.
type factMark struct {
	task nexus.TaskID
	what string
}

// factGroup is a list of facts that belong together, in order.
type factGroup struct {
	factMark
	at  []int64
	all []nexus.Fact
}

// typedGroup is a list of facts of one type that belong together, in order.
type typedGroup[F nexus.Fact] struct {
	factGroup
	facts []F
}

func (s typedGroup[F]) lastFact() F { return s.facts[len(s.facts)-1] }

// groupFacts groups facts by their marks, in the order in which the marks first appear. A fact
// without a mark is skipped.
func (r *causeRecord) groupFacts(marks func(nexus.Fact) []factMark) []factGroup {
	var groups []factGroup
	index := map[factMark]int{}
	for _, e := range r.events {
		for _, m := range marks(e.Fact) {
			i, known := index[m]
			if !known {
				i = len(groups)
				index[m] = i
				groups = append(groups, factGroup{factMark: m})
			}
			groups[i].at = append(groups[i].at, e.Seq)
			groups[i].all = append(groups[i].all, e.Fact)
		}
	}
	return groups
}

// causesFromFacts returns a cause for each group with at least the given number of facts of one type.
func causesFromFacts[F nexus.Fact](r *causeRecord, least int, marks func(F) []factMark, explain func(typedGroup[F]) KnownCause) []KnownCause {
	marked := func(f nexus.Fact) []factMark {
		if f, ok := f.(F); ok {
			return marks(f)
		}
		return nil
	}
	return r.causesFromGroups(least, marked, func(g factGroup) KnownCause {
		s := typedGroup[F]{factGroup: g}
		for _, f := range g.all {
			if f, ok := f.(F); ok {
				s.facts = append(s.facts, f)
			}
		}
		return explain(s)
	})
}

// causesFromGroups is [causesFromFacts] without the code that must be copied for each type.
func (r *causeRecord) causesFromGroups(least int, marks func(nexus.Fact) []factMark, explain func(factGroup) KnownCause) []KnownCause {
	var all []KnownCause
	for _, g := range r.groupFacts(marks) {
		if len(g.at) < least {
			continue
		}
		c := explain(g)
		c.Task, c.Events = g.task, g.at
		all = append(all, c)
	}
	return all
}

// markIf returns a mark if it is wanted.
func markIf(wanted bool, task nexus.TaskID, what string) []factMark {
	if !wanted {
		return nil
	}
	return []factMark{{task, what}}
}

// timesText formats a number of times.
func timesText(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// quoteForShell quotes a word for a shell.
func quoteForShell(word string) string {
	q, err := shell.QuoteWords([]string{word})
	if err != nil {
		return "TEST"
	}
	return q
}
