package audit

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func (b *FactAudit) recordAttemptStart(f nexus.AttemptStarted) {
	t := b.tasks[f.Task]
	switch {
	case b.paused || b.draining:
		b.wrong("%s is started; paused %v, draining %v", f.Attempt, b.paused, b.draining)
	case t.over || t.landed || t.held || t.flying || b.of[f.Attempt] != "" || b.isSplitting(f.Task):
		b.wrong("%s is started once too often", f.Attempt)
	}
	if b.routed && f.Tier != t.begins {
		b.wrong("%s is started at %q, and the task was routed or moved to %q", f.Attempt, f.Tier, t.begins)
	}
	for _, id := range t.Needs {
		if !b.tasks[id].landed {
			b.wrong("%s is started before %s has landed", f.Attempt, id)
		}
	}
	for _, id := range t.Wants {
		if n := b.tasks[id]; n.flying || !n.landed && !n.over && !b.isStuck(n) {
			b.wrong("%s is started before %s, which it wants, has ended", f.Attempt, id)
		}
	}
	if f.Base != b.tip {
		b.wrong("%s starts from %s, the tip is %s", f.Attempt, f.Base, b.tip)
	}
	b.of[f.Attempt], b.ways[f.Attempt] = f.Task, f.Strategy
	t.attempt = f.Attempt
	if b.starts++; b.limits.Dispatches > 0 && b.starts > b.limits.Dispatches {
		b.wrong("%d attempts were started", b.starts)
	}
	if t.tries[f.Tier]++; !b.checkContinuation(f) && t.tries[f.Tier] > max(1, b.limits.PerTier[f.Tier]) {
		b.wrong("%s is try %d at tier %s", f.Attempt, t.tries[f.Tier], f.Tier)
	}
	b.recordWorker(f.Attempt)
}

// isStuck reports whether a dependency of a task has ended without landing.
func (b *FactAudit) isStuck(t *auditedTask) bool {
	return slices.ContainsFunc(t.Needs, func(id nexus.TaskID) bool {
		n := b.tasks[id]
		return n.over && !n.landed || !n.over && !n.landed && b.isStuck(n)
	})
}

// recordWorker records that an attempt has a worker from now on.
func (b *FactAudit) recordWorker(id nexus.AttemptID) {
	t := b.tasks[b.of[id]]
	for _, o := range b.tasks {
		if o != t && o.flying && slices.ContainsFunc(o.Files, func(f string) bool { return slices.Contains(t.Files, f) }) {
			b.wrong("%s and %s declare the same file and are under way together", t.ID, o.ID)
		}
	}
	t.flying, b.working[id] = true, true
	if len(b.working) > max(1, b.limits.Parallel) {
		b.wrong("%d attempts work at once", len(b.working))
	}
}

// recordCall records calls: none while paused, none beyond a cap, each settled once.
func (b *FactAudit) recordCall(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.BudgetReserved:
		b.recordReservation(f)
	case nexus.BudgetRefused:
		spent := b.spent
		if f.Cap == "day" {
			spent = b.days[b.today] + b.others(b.today)
		}
		if (f.Cap == "run" || f.Cap == "day") && f.Asked <= f.Limit-spent {
			b.wrong("%s is refused though it may fit: %s of %s are spent, and %d calls may still turn out cheap", f.Asked, spent, f.Limit, len(b.open))
		}
	case nexus.BudgetSettled:
		if b.open[f.ID].ID == "" || b.closed[f.ID] {
			b.wrong("%s is settled, and is not open", f.ID)
		}
		delete(b.open, f.ID)
		b.closed[f.ID] = true
		b.spent += f.Money
		b.days[b.asked[f.ID]] += f.Money
	default:
	}
	if over := b.world.Snapshot().Charged - b.cap; over > b.largest {
		b.wrong("the provider charged %s more than the cap", over)
	}
}
