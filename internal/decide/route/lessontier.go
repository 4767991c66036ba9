package route

import (
	"cmp"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// learnedTier chooses the learned tier for tasks like this one, or returns false if none is
// better than the usual one.
func learnedTier(l *nexus.RunLessons, t nexus.Task, f nexus.StartTierChosen) (nexus.StartTierChosen, bool) {
	x := tierLesson(l, t, f.Complexity)
	if x == nil || x.Tier == x.Usual {
		return nexus.StartTierChosen{}, false
	}
	f.Tier, f.Why = x.Tier, x.Why
	return f, true
}

// tierLesson returns the lesson for the tasks most similar to one, or nil.
func tierLesson(l *nexus.RunLessons, t nexus.Task, c nexus.Complexity) *nexus.StartTierLesson {
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

// LessonProbeCounter counts the tasks of a run to which lessons apply, in the order of the plan.
type LessonProbeCounter struct {
	lessons *nexus.RunLessons
	seen    map[*nexus.StartTierLesson]int
}

// NewLessonProbes returns the probes of a run that counts its tasks from the first.
func NewLessonProbes(r nexus.StartTierRules) LessonProbeCounter {
	return LessonProbeCounter{r.Lessons, map[*nexus.StartTierLesson]int{}}
}

// CountTask counts a task of a complexity, and reports whether it must start at the usual tier,
// despite the lesson.
func (p LessonProbeCounter) CountTask(t nexus.Task, c nexus.Complexity) bool {
	x := tierLesson(p.lessons, t, c)
	if x == nil || x.Tier == x.Usual || x.Every <= 0 {
		return false
	}
	n := x.Seen + p.seen[x]
	p.seen[x]++
	return n%x.Every == x.Every-1
}

// ApplyProbe makes a task start at the usual tier at intervals, although a lesson names another
// one, to check whether the lesson is still right.
func (p LessonProbeCounter) ApplyProbe(t nexus.Task, f nexus.StartTierChosen) nexus.StartTierChosen {
	turn := p.CountTask(t, f.Complexity)
	if x := tierLesson(p.lessons, t, f.Complexity); turn && f.By == Adaptive && f.Tier == x.Tier {
		f.Tier, f.Why = x.Usual, fmt.Sprintf("one task in %d tries it there again; %s", x.Every, x.Why)
	}
	return f
}
