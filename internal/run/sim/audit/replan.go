package audit

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// replanAudit records the thresholds that a task reached, according to the facts.
type replanAudit struct {
	last   nexus.AttemptID
	red    int                      // rounds in a row that were red, of the last attempt
	rounds int                      // multiple of its rounds with a decision, since a person gave it another chance
	failed map[nexus.AttemptID]int  // the same for failures in a row
	ended  map[nexus.AttemptID]bool // attempts that must not continue
	anew   nexus.AttemptID          // the next attempt continues from this one
	tier   nexus.Tier               // its tier
}

// recordReplanDecision records how a task continues.
func (b *FactAudit) recordReplanDecision(f nexus.ReplanDecided) {
	t := b.tasks[f.Task]
	if f.Why == "" || len(f.Crossed) == 0 || f.Course == "" {
		b.wrong("%s continues without a reason: %+v", f.Task, f)
	}
	if b.limits.Replan == (nexus.ReplanLimits{}) {
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
	if b.checkNoOtherStep(f.Task); f.Course == nexus.CourseContinue && f.Anew {
		t.replan.anew = f.Attempt
	}
	if f.Attempt != "" && f.Course != nexus.CourseContinue {
		t.replan.ended[f.Attempt] = true
	}
}

// checkRoundAllowed checks that no round begins beyond a threshold without a decision, nor after a
// decision that the attempt must not continue.
func (b *FactAudit) checkRoundAllowed(a nexus.AttemptID) {
	t, l := b.tasks[b.of[a]], b.limits
	if t.replan.last != a {
		t.replan.last, t.replan.red = a, 0
	}
	if v, ok := b.verdicts[a]; ok {
		if t.replan.red++; !v.State.IsRed() {
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

// checkContinuation checks that an attempt continues from a stored tree if that was decided, and
// reports whether it does.
func (b *FactAudit) checkContinuation(f nexus.AttemptStarted) bool {
	r := &b.tasks[f.Task].replan
	from, tier := r.anew, r.tier
	if r.anew, r.tier = "", f.Tier; from == "" {
		return false
	}
	if f.From != from || f.Tree == "" || f.Tier != tier {
		b.wrong("%s is to continue from %s at %s, and starts from %q at %s", f.Attempt, from, tier, f.From, f.Tier)
	}
	return true
}

// checkNoOtherStep checks that no other step follows for a task whose next attempt must continue.
func (b *FactAudit) checkNoOtherStep(id nexus.TaskID) {
	if t := b.tasks[id]; t != nil && t.replan.anew != "" {
		b.wrong("%s was to continue from %s, and does not", id, t.replan.anew)
	}
}

// resetThresholds records that a person gave a task another chance.
func (r *replanAudit) resetThresholds() { r.rounds, r.failed, r.ended, r.anew = 0, nil, nil, "" }
