package failurecauses

import (
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// causeSearchInput is the input of the patterns: the facts, and their tasks.
type causeSearchInput struct {
	state    *state.State
	events   []nexus.Event
	attempts map[nexus.SessionID]nexus.AttemptID
	tasks    map[nexus.AttemptID]nexus.TaskID
}

func newCauseSearchInput(s *state.State, events []nexus.Event) *causeSearchInput {
	r := &causeSearchInput{
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
func (r *causeSearchInput) taskOfAttempt(a nexus.AttemptID) nexus.TaskID { return r.tasks[a] }

// taskOfSession returns the task of a session.
func (r *causeSearchInput) taskOfSession(s nexus.SessionID) nexus.TaskID {
	return r.tasks[r.attempts[s]]
}

// isUnlandedForGood reports whether a task did not land and will not land by itself.
func (r *causeSearchInput) isUnlandedForGood(id nexus.TaskID) bool {
	t := r.state.TaskByID(id)
	return t != nil && slices.Contains([]nexus.TaskStatus{nexus.Parked, nexus.Failed, nexus.Blocked}, r.state.StatusOf(t))
}

// factSubject identifies facts that belong together: those about one subject of one task.
type factSubject struct {
	task nexus.TaskID
	what string
}

// subjectFactGroup is a list of facts that belong together, in order.
type subjectFactGroup struct {
	factSubject
	at  []int64
	all []nexus.Fact
}

// typedFactGroup is a list of facts of one type that belong together, in order.
type typedFactGroup[F nexus.Fact] struct {
	subjectFactGroup
	facts []F
}

func (s typedFactGroup[F]) lastFact() F { return s.facts[len(s.facts)-1] }

// groupFacts groups facts by their marks, in the order in which the marks first appear. A fact
// without a mark is skipped.
func (r *causeSearchInput) groupFacts(marks func(nexus.Fact) []factSubject) []subjectFactGroup {
	var groups []subjectFactGroup
	index := map[factSubject]int{}
	for _, e := range r.events {
		for _, m := range marks(e.Fact) {
			i, known := index[m]
			if !known {
				i = len(groups)
				index[m] = i
				groups = append(groups, subjectFactGroup{factSubject: m})
			}
			groups[i].at = append(groups[i].at, e.Seq)
			groups[i].all = append(groups[i].all, e.Fact)
		}
	}
	return groups
}

// causesFromFacts returns a cause for each group with at least the given number of facts of one type.
func causesFromFacts[F nexus.Fact](r *causeSearchInput, least int, marks func(F) []factSubject, explain func(typedFactGroup[F]) KnownCause) []KnownCause {
	marked := func(f nexus.Fact) []factSubject {
		if f, ok := f.(F); ok {
			return marks(f)
		}
		return nil
	}
	return r.causesFromGroups(least, marked, func(g subjectFactGroup) KnownCause {
		s := typedFactGroup[F]{subjectFactGroup: g}
		for _, f := range g.all {
			if f, ok := f.(F); ok {
				s.facts = append(s.facts, f)
			}
		}
		return explain(s)
	})
}

// causesFromGroups is [causesFromFacts] without the code that must be copied for each type.
func (r *causeSearchInput) causesFromGroups(least int, marks func(nexus.Fact) []factSubject, explain func(subjectFactGroup) KnownCause) []KnownCause {
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

// subjectIf returns a mark if it is wanted.
func subjectIf(wanted bool, task nexus.TaskID, what string) []factSubject {
	if !wanted {
		return nil
	}
	return []factSubject{{task, what}}
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
