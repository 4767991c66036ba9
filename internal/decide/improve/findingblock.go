package improve

import (
	"fmt"
	"time"
)

// findingBlock is why a finding is not taken up, and until what changes.
type findingBlock struct {
	rule  Rule
	why   string
	mark  string    // it is free again once its files are others; empty: that frees nothing
	until time.Time // zero: time frees nothing
	fails int

	suspect *Item // findCommit it nothing came for a reason outside the work, and nothing was worked on since
}

// suspect puts off a finding of whose work nothing came for a reason outside it, so that
// another one is tried first. What waits for the money of another day is as good as any.
func (l *Loop) suspect(i *Item, at time.Time) {
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

// recordWorkPossible counts that work can be done: that nothing came of other findings was theirs.
func (l *Loop) recordWorkPossible(done *Item, at time.Time) {
	l.Unable, l.again = 0, time.Time{}
	for finding, b := range l.bars {
		if b.suspect != nil && finding != done.Wanted.Finding {
			l.fail(b.suspect, at)
		}
	}
}

// fail counts that work on a finding came to nothing.
func (l *Loop) fail(i *Item, at time.Time) {
	b := l.bars[i.Wanted.Finding]
	if b.mark != i.Wanted.Mark {
		b.fails = 0
	}
	b = findingBlock{rule: Failed, mark: i.Wanted.Mark, fails: b.fails + 1}
	b.why = fmt.Sprintf("it was tried %d times, last in run %s, and its files have not changed since", b.fails, i.ID)
	if b.fails < tries {
		b.until = at // it may be tried once more
	}
	l.bars[i.Wanted.Finding] = b
}
