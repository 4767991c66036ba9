package route

import (
	"cmp"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// learned takes the tier that was learned for tasks like this one; false where
// nothing better than the usual one is known.
func learned(l *nexus.Lessons, t nexus.Task, f nexus.TaskRouted) (nexus.TaskRouted, bool) {
	x := tierLesson(l, t, f.Complexity)
	if x == nil || x.Tier == x.Usual {
		return nexus.TaskRouted{}, false
	}
	f.Tier, f.Why = x.Tier, x.Why
	return f, true
}

// tierLesson returns what was learned of the tasks most like one, nil for nothing.
func tierLesson(l *nexus.Lessons, t nexus.Task, c nexus.Complexity) *nexus.TierLearned {
	if l == nil {
		return nil
	}
	for i, x := range l.Tiers {
		kind := x.Kind == "" || x.Kind == cmp.Or(t.Kind, nexus.CodeTask)
		written := x.Stack == "" || x.Stack == cmp.Or(stack.MainStack(t.Files), "other")
		if x.Complexity == c && kind && written {
			return &l.Tiers[i]
		}
	}
	return nil
}

// Probes count the tasks of a run that lessons are about, in the order of the plan.
type Probes struct {
	lessons *nexus.Lessons
	seen    map[*nexus.TierLearned]int
}

// ProbesOf returns the probes of a run that counts its tasks from the first.
func ProbesOf(r nexus.Routing) Probes { return Probes{r.Lessons, map[*nexus.TierLearned]int{}} }

// Count counts a task of a complexity, and reports whether it is its turn to begin
// at the usual tier, whatever was learned.
func (p Probes) Count(t nexus.Task, c nexus.Complexity) bool {
	x := tierLesson(p.lessons, t, c)
	if x == nil || x.Tier == x.Usual || x.Every <= 0 {
		return false
	}
	n := x.Seen + p.seen[x]
	p.seen[x]++
	return n%x.Every == x.Every-1
}

// Probe lets a task that would begin where a lesson says begin at the usual tier
// all the same, now and then: so it shows when the lesson does not hold any more.
func (p Probes) Probe(t nexus.Task, f nexus.TaskRouted) nexus.TaskRouted {
	turn := p.Count(t, f.Complexity)
	if x := tierLesson(p.lessons, t, f.Complexity); turn && f.By == Adaptive && f.Tier == x.Tier {
		f.Tier, f.Why = x.Usual, fmt.Sprintf("one task in %d tries it there again; %s", x.Every, x.Why)
	}
	return f
}
