package audit

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// replanning is what a task's thresholds came to, as the facts tell it.
type replanning struct {
	last   nexus.AttemptID
	red    int                      // rounds in a row that were red, of the last attempt
	rounds int                      // multiple of its rounds that was decided about, since a person gave it another chance
	failed map[nexus.AttemptID]int  // the same of failures in a row
	ended  map[nexus.AttemptID]bool // that are not to go on
}

// decided books how a task is to continue.
func (b *Audit) decided(f nexus.ReplanDecided) {
	t := b.tasks[f.Task]
	if f.Why == "" || len(f.Crossed) == 0 || f.Course == "" {
		b.wrong("%s continues without a reason: %+v", f.Task, f)
	}
	if b.limits.Replan == (nexus.Replan{}) {
		b.wrong("%s has no thresholds, and reached one", f.Task)
	}
	if t.replan.failed == nil {
		t.replan.failed, t.replan.ended = map[nexus.AttemptID]int{}, map[nexus.AttemptID]bool{}
	}
	for _, c := range f.Crossed {
		switch c.Threshold {
		case nexus.OverRounds:
			t.replan.rounds = max(t.replan.rounds+1, c.Times)
		case nexus.OverFailures:
			t.replan.failed[f.Attempt] = max(t.replan.failed[f.Attempt]+1, c.Times)
		case nexus.NeedFailed:
			if !slices.ContainsFunc(t.Needs, func(id nexus.TaskID) bool { return b.tasks[id].over }) {
				b.wrong("%s is said to need what failed", f.Task)
			}
		default:
		}
	}
	if f.Attempt != "" && f.Course != nexus.CourseContinue {
		t.replan.ended[f.Attempt] = true
	}
}

// goesOn checks that no round begins past a threshold about which nothing was
// decided, nor after a decision that the attempt is not to continue.
func (b *Audit) goesOn(a nexus.AttemptID) {
	t, l := b.tasks[b.of[a]], b.limits
	if t.replan.last != a {
		t.replan.last, t.replan.red = a, 0
	}
	if v, ok := b.verdicts[a]; ok {
		if t.replan.red++; v.State != nexus.Fail && v.State != nexus.Timeout {
			t.replan.red = 0
		}
	}
	if n := (l.Rounds*l.Replan.Rounds + 99) / 100; n > 0 && t.rounds/n > t.replan.rounds {
		b.wrong("%s begins another round after %d of %d, and nothing was decided", t.ID, t.rounds, l.Rounds)
	}
	if n := l.Replan.Failures; n > 0 && t.replan.red/n > t.replan.failed[a] {
		b.wrong("%s begins another round after %d red ones in a row, and nothing was decided", a, t.replan.red)
	}
	if t.replan.ended[a] {
		b.wrong("%s goes on, and was not to", a)
	}
}

// forgive books that a person gave a task another chance.
func (r *replanning) forgive() { r.rounds, r.failed, r.ended = 0, nil, nil }
