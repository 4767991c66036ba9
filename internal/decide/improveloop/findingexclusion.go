package improveloop

import (
	"fmt"
	"time"
)

// findingExclusion is the reason why a finding is skipped, and the condition that ends the block.
type findingExclusion struct {
	rule  ItemSkipRule
	why   string
	mark  string    // fingerprint whose change ends the block; empty: only time ends it
	until time.Time // zero: no time limit
	fails int

	suspect *LoopItem // the item that produced nothing for an outside reason, with no work done since
}

// postponeFinding delays a finding whose work failed for an outside reason, so that another one is
// tried first. A finding that waits for the budget of another day is not delayed.
func (l *ImproveLoop) postponeFinding(i *LoopItem, at time.Time) {
	i.Rule = Unworked
	if !l.again.IsZero() {
		return
	}
	b := l.bars[i.Wanted.Finding]
	if b.mark != i.Wanted.Mark {
		b.fails = 0
	}
	b.rule, b.mark, b.until, b.suspect = Unworked, i.Wanted.Mark, at.Add(l.Rules.MostRest), i
	b.why = fmt.Sprintf("run %s could not finish it, for a reason outside the work: %s", i.ID, i.Why)
	l.bars[i.Wanted.Finding] = b
}

// recordWorkPossible records that work is possible: failures of other findings were their
// own.
func (l *ImproveLoop) recordWorkPossible(done *LoopItem, at time.Time) {
	l.Unable, l.again = 0, time.Time{}
	for finding, b := range l.bars {
		if b.suspect != nil && finding != done.Wanted.Finding {
			l.countFailure(b.suspect, at)
		}
	}
}

// countFailure counts a failure of the work on a finding.
func (l *ImproveLoop) countFailure(i *LoopItem, at time.Time) {
	b := l.bars[i.Wanted.Finding]
	if b.mark != i.Wanted.Mark {
		b.fails = 0
	}
	b = findingExclusion{rule: Failed, mark: i.Wanted.Mark, fails: b.fails + 1}
	b.why = fmt.Sprintf("it was tried %d times, last in run %s, and its files have not changed since", b.fails, i.ID)
	if b.fails < tries {
		b.until = at // it may be tried once more
	}
	l.bars[i.Wanted.Finding] = b
}
