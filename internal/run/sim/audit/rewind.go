package audit

import (
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// rebuildAfterRewind restores the earlier records from the log. Spending, questions, settled requests and
// names since then stay in them: no name may be used and no call be paid twice.
func (b *FactAudit) rebuildAfterRewind(f nexus.RunRewound) {
	if len(b.working) > 0 && b.ended != "" {
		b.wrong("the run has ended and %d attempts work", len(b.working))
	}
	then := NewFactAudit(b.world, b.others, func(string, ...any) {})
	then.again = true
	for _, e := range b.log {
		if e.Seq <= f.To {
			then.RecordEvent(e)
		}
	}
	if f.Tip != then.tip {
		b.wrong("the run goes back to %s, and its branch was at %s then", f.Tip, then.tip)
	}
	for id, t := range then.tasks {
		t.flying, t.rounds = false, 0
		if !t.over && !t.landed {
			t.replan.resetThresholds()
			clear(t.tries)
			delete(then.splits.sought, id)
		}
	}
	then.working, then.aboard, then.draining, then.paused = map[nexus.AttemptID]bool{}, "", false, false
	then.consents.question = ""
	if m := &then.mends; !m.found {
		m.sought = nil
	}
	then.mends.rounds, then.mends.most = b.mends.rounds, max(b.mends.most, then.mends.most)
	then.splits.open, then.mends.open = nil, 0
	then.wrong, then.again, then.log = b.wrong, b.again, b.log
	then.limits, then.cap, then.starts, then.accounts = b.limits, b.cap, b.starts, b.accounts
	then.spent, then.open, then.closed, then.largest, then.days, then.asked = b.spent, b.open, b.closed, b.largest, b.days, b.asked
	then.requests, then.of, then.turns, then.now, then.today = b.requests, b.of, b.turns, b.now, b.today
	maps.Copy(then.passed, b.passed)
	for seq := range then.adds.wanted { // a request that was settled since no longer counts
		if b.requests[seq] && !b.adds.wanted[seq] && !slices.ContainsFunc(then.log, func(e nexus.Event) bool { return e.Seq == seq && e.Seq <= f.To }) {
			delete(then.adds.wanted, seq)
		}
	}
	for seq, done := range b.requests { // an unsettled one still does
		if !done && b.adds.wanted[seq] {
			if then.adds.wanted == nil {
				then.adds.wanted = map[int64]bool{}
			}
			then.adds.wanted[seq] = true
		}
	}
	*b = *then
}
