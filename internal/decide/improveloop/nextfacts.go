package improveloop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// LoopDecisionInputs is the input of a decision besides the loop.
type LoopDecisionInputs struct {
	Now   time.Time                       // in people's time zone
	Quiet WeeklyHours                     // hours in which nothing starts or lands
	Due   func(after time.Time) time.Time // next start of a cycle by the schedule; nil: there is none
	Woken string                          // why a rest ends early; empty: it does not
}

// NextFacts returns the next step as facts, which must be recorded before the step is done. It
// returns nothing while the loop waits.
func (l *ImproveLoop) NextFacts(w LoopDecisionInputs) []nexus.Fact {
	if l.Status != "" || !l.begun {
		return nil
	}
	if f := l.settleRequests(); f != nil {
		return f
	}
	if f := l.advanceItems(w); f != nil {
		return f
	}
	if l.looking || l.countActive() > 0 || l.pulling != nil {
		return nil
	}
	if f := l.pushFacts(w.Now, w.Quiet); f != nil {
		return f
	}
	if f := l.endIfDue(w); f != nil {
		return f
	}
	if l.Looked != nil && !l.chosen {
		if f := l.startItems(w); len(f) > 0 {
			return f
		}
	}
	return l.startCycleOrPause(w)
}

// NextWakeTime returns the time of the next decision if nothing happens, or zero for never.
func (l *ImproveLoop) NextWakeTime(w LoopDecisionInputs) time.Time {
	var at time.Time
	soon := func(t time.Time) {
		if t.After(w.Now) && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if end, quiet := w.Quiet.EndOfCurrentHours(w.Now); quiet {
		soon(end)
	}
	soon(l.Rest.Until)
	soon(l.Rules.Until)
	return at
}

// settleRequests settles a request.
func (l *ImproveLoop) settleRequests() []nexus.Fact {
	var all []nexus.Fact
	for _, r := range l.requests {
		switch r.verb {
		case nexus.VerbStop:
			all = append(all, nexus.RequestSettled{Seq: r.seq, Granted: true})
			if l.Drain == "" && len(all) == 1 {
				all = append(all, nexus.RunDrainStarted{To: nexus.StatusStopped, Why: strings.TrimSpace("stopped by " + r.by)})
			}
		default:
			all = append(all, nexus.RequestSettled{Seq: r.seq, Why: "a loop can only be stopped; its items are runs that can be steered"})
		}
	}
	return all
}

// advanceItems continues with items whose work has ended: one at a time lands, and a landing
// that made something worse is reverted before the next one.
func (l *ImproveLoop) advanceItems(w LoopDecisionInputs) []nexus.Fact {
	_, quiet := w.Quiet.EndOfCurrentHours(w.Now)
	for _, i := range l.Items {
		switch i.Stage {
		case Landed:
			return []nexus.Fact{nexus.CheckAfterLandingStarted{Item: i.ID}}
		case Weighed:
			return []nexus.Fact{nexus.LoopItemRevertStarted{Item: i.ID, Why: worsenedText(i.Worse)}}
		case Offered, Watched, Reverting:
			return nil
		case Working, Worked, Over:
		}
	}
	for _, i := range l.Items {
		if i.Stage != Worked {
			continue
		}
		if rule, why := l.ruleAgainstLanding(i, w.Now); rule != "" {
			return []nexus.Fact{nexus.LoopItemLandingConfirmed{Item: i.ID, Rule: string(rule), Why: why}}
		}
		if !quiet {
			return []nexus.Fact{nexus.LoopItemLandingStarted{Item: i.ID, Target: l.landingBranch(i)}}
		}
	}
	return nil
}

// BaseBranch returns the branch on which work on a strategy's findings starts: the branch of its
// theme while results wait there, so that they build on each other, or else the target.
func (l *ImproveLoop) BaseBranch(strategy string) string {
	if theme := l.themeBranch(strategy); !l.Rules.Direct && slices.Contains(l.waitingBranches(), theme) {
		return theme
	}
	return l.Target
}

// landingBranch returns the branch on which a result lands.
func (l *ImproveLoop) landingBranch(i *LoopItem) string {
	if l.Rules.Direct {
		return l.Target
	}
	return l.themeBranch(i.Wanted.Strategy)
}

// worsenedText describes the findings that a landing made worse.
func worsenedText(all []nexus.WorsenedFinding) string {
	var parts []string
	for n, w := range all {
		if n == 3 {
			parts = append(parts, fmt.Sprintf("and %d more", len(all)-n))
			break
		}
		how := "is new"
		if w.Before > 0 {
			how = fmt.Sprintf("went from %d to %d", w.Before, w.After)
		}
		parts = append(parts, fmt.Sprintf("%s (%s) %s", w.Finding, w.Title, how))
	}
	return strings.Join(parts, ", ")
}

// countActive returns the number of items in progress.
func (l *ImproveLoop) countActive() int {
	n := 0
	for _, i := range l.Items {
		if i.Stage != Over {
			n++
		}
	}
	return n
}

// moneyLeft returns the money that may still be spent or reserved; negative if there is no limit.
func (l *ImproveLoop) moneyLeft() nexus.Money {
	if l.Rules.Budget <= 0 {
		return -1
	}
	left := l.Rules.Budget - l.Spent
	for _, worst := range l.calls {
		left -= worst
	}
	for _, i := range l.Items {
		switch i.Stage {
		case Working:
			left -= i.Reserved
		case Worked, Offered: // a conflict may cost the rest
			left -= max(i.Reserved-i.Work.Spent, 0)
		case Landed, Watched, Weighed, Reverting, Over:
		}
	}
	return max(left, 0)
}

// RemainingMoney returns the money that may still be spent or reserved; negative if there is no limit.
func (l *ImproveLoop) RemainingMoney() nexus.Money { return l.moneyLeft() }

// reserveForItem returns the amount to reserve for another item, or 0 if it would be too little.
func (l *ImproveLoop) reserveForItem(left nexus.Money) nexus.Money {
	if left < 0 || left >= l.Rules.Item {
		return l.Rules.Item
	}
	if left < l.Rules.Item/10 || left <= 0 {
		return 0
	}
	return left
}

// isOutOfMoney reports whether there is no money for another item.
func (l *ImproveLoop) isOutOfMoney() bool { return l.reserveForItem(l.moneyLeft()) == 0 }

// isFull reports whether the maximum number of results waits for a person.
func (l *ImproveLoop) isFull() bool {
	return l.Rules.Waiting > 0 && len(l.ItemsWaitingForPerson()) >= l.Rules.Waiting
}

// HasNoFreeSlot reports whether a cycle needs no search because nothing could be started.
func (l *ImproveLoop) HasNoFreeSlot() bool { return l.isFull() }

// endIfDue ends the loop if there is a reason and nothing is in progress.
func (l *ImproveLoop) endIfDue(w LoopDecisionInputs) []nexus.Fact {
	ended := func(to nexus.RunStatus, why string) []nexus.Fact {
		return []nexus.Fact{nexus.RunEnded{Status: to, Why: why}}
	}
	over := l.Rules.Cycles > 0 && l.Cycle >= l.Rules.Cycles && (l.chosen || l.Looked != nil && len(l.eligibleItems(w)) == 0)
	switch {
	case l.Drain != "":
		return ended(nexus.StatusStopped, l.Drain)
	case over && l.failedForOutsideReason() && !l.again.IsZero():
		return ended(nexus.StatusLimit, unableWhy+l.Why)
	case over && l.failedForOutsideReason(), l.Unable >= mostFails && l.again.IsZero():
		return ended(nexus.StatusFailed, unableWhy+l.Why)
	case l.Fails >= mostFails || over && l.Fails > 0:
		return ended(nexus.StatusFailed, "the search for work failed: "+l.Why)
	case over && l.isFull():
		return ended(nexus.StatusWaiting, l.capacityText())
	case !l.Rules.Until.IsZero() && !w.Now.Before(l.Rules.Until):
		return ended(nexus.StatusDone, "its time is over")
	case l.Rules.Landings > 0 && l.Totals.Landed >= l.Rules.Landings:
		return ended(nexus.StatusDone, fmt.Sprintf("%s landed", countText(l.Totals.Landed, "result")))
	case over && (l.took > 0 || !l.isOutOfMoney()):
		return ended(nexus.StatusDone, l.cyclesText())
	case l.isOutOfMoney():
		return ended(nexus.StatusLimit, fmt.Sprintf("%s of the budget of %s are spent", l.Spent, l.Rules.Budget))
	case l.Rules.Empty && !l.failedForOutsideReason() && l.Looked != nil && l.Cycle > 0 && l.took == 0 && len(l.eligibleItems(w)) == 0 && !l.isFull():
		return ended(nexus.StatusDone, "there is nothing left to do")
	}
	return nil
}

func (l *ImproveLoop) cyclesText() string {
	if l.took == 0 && l.Cycle == 1 {
		return "there was nothing to do"
	}
	return countText(l.Cycle, "cycle")
}

func (l *ImproveLoop) capacityText() string {
	return fmt.Sprintf("%s for a person, and no more may (improve.waiting)", waitingText(len(l.ItemsWaitingForPerson())))
}

func waitingText(n int) string {
	if n == 1 {
		return "1 result waits"
	}
	return fmt.Sprintf("%d results wait", n)
}

func countText(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// startItems starts work on findings of the last cycle.
func (l *ImproveLoop) startItems(w LoopDecisionInputs) []nexus.Fact {
	if _, quiet := w.Quiet.EndOfCurrentHours(w.Now); quiet {
		return nil // by then the tip may have changed: the next cycle searches again
	}
	var all []nexus.Fact
	left := l.moneyLeft()
	for n, x := range l.eligibleItems(w) {
		money := l.reserveForItem(left)
		if money == 0 {
			break
		}
		if left >= 0 {
			left -= money
		}
		id := nexus.RunID(fmt.Sprintf("%s-%d", l.Run, l.Totals.Taken+n+1))
		all = append(all, nexus.LoopItemWorkStarted{Item: id, Cycle: l.Cycle, Wanted: x, Reserved: money, Base: l.BaseBranch(x.Strategy)})
	}
	return all
}

// eligibleItems returns the findings of the last cycle to start: up to the number of parallel items,
// and never two about the same file.
func (l *ImproveLoop) eligibleItems(w LoopDecisionInputs) []nexus.CandidateWorkItem {
	if l.Looked == nil {
		return nil
	}
	room := max(l.Rules.Parallel, 1)
	if l.Rules.Waiting > 0 {
		room = min(room, l.Rules.Waiting-len(l.ItemsWaitingForPerson()))
	}
	var all []nexus.CandidateWorkItem
	themes := l.waitingBranches()
	for _, x := range l.Looked.Wanted {
		if len(all) >= room {
			break
		}
		if rule, _ := l.blockingRule(x, w.Now, themes); rule != "" {
			continue
		}
		if slices.ContainsFunc(all, func(o nexus.CandidateWorkItem) bool { return shareFile(o.Files, x.Files) }) {
			continue
		}
		all = append(all, x)
		if t := l.themeBranch(x.Strategy); !l.Rules.Direct && !slices.Contains(themes, t) {
			themes = append(themes, t)
		}
	}
	return all
}

func shareFile(a, b []string) bool {
	return slices.ContainsFunc(a, func(file string) bool { return slices.Contains(b, file) })
}

// startCycleOrPause starts the next cycle, or rests before it.
func (l *ImproveLoop) startCycleOrPause(w LoopDecisionInputs) []nexus.Fact {
	if end, quiet := w.Quiet.EndOfCurrentHours(w.Now); quiet {
		if l.Rest.Why == quietWhy && l.Rest.Until.Equal(end) {
			return nil
		}
		return []nexus.Fact{nexus.LoopPauseStarted{Until: end, For: end.Sub(w.Now), Why: quietWhy}}
	}
	begin := func(why string) []nexus.Fact {
		return []nexus.Fact{nexus.ImproveCycleStarted{Cycle: l.Cycle + 1, Why: why}}
	}
	switch {
	case l.Rest.Why != "" && w.Woken != "":
		return begin(w.Woken)
	case l.Rest.Why != "" && (l.Rest.Until.IsZero() || w.Now.Before(l.Rest.Until)):
		return nil
	case l.Rest.Why != "":
		return begin("")
	case l.Cycle == 0 && w.Due != nil:
		return l.pauseUntilWork(w, "it waits for its time")
	case l.failedForOutsideReason():
		return l.pauseUntilWork(w, unableWhy+l.Why)
	case l.Cycle == 0, l.took > 0:
		return begin("")
	case l.isFull():
		return l.pauseUntilWork(w, l.capacityText())
	case l.Fails > 0:
		return l.pauseUntilWork(w, "the search for work failed: "+l.Why)
	}
	return l.pauseUntilWork(w, "there is nothing to do")
}

// quietWhy is the reason for a rest in quiet hours.
const quietWhy = "quiet hours"

// unableWhy starts the reason for the rest or end of a loop that cannot work on its findings.
const unableWhy = "no work can be done now: "

// failedForOutsideReason reports whether the last work failed for an outside reason, which may affect other
// findings too.
func (l *ImproveLoop) failedForOutsideReason() bool { return l.Unable > 0 }

// pauseUntilWork rests until there may be work.
func (l *ImproveLoop) pauseUntilWork(w LoopDecisionInputs, why string) []nexus.Fact {
	f, from := nexus.LoopPauseStarted{Why: why, Idle: true}, w.Now
	if l.failedForOutsideReason() && l.again.After(from) {
		from = l.again
	}
	switch {
	case w.Due != nil:
		f.Until = w.Due(from)
	case from.After(w.Now):
		f.Until = from
	case l.Rules.Watch != "" && l.Fails == 0 && !l.isFull() && !l.failedForOutsideReason():
		// until it is woken
	default:
		f.For = l.pauseDuration()
		f.Until = w.Now.Add(f.For)
	}
	if end := l.Rules.Until; !end.IsZero() && f.Until.After(end) {
		f.Until = end
	}
	if !f.Until.IsZero() {
		f.For = f.Until.Sub(w.Now)
	}
	return []nexus.Fact{f}
}

// pauseDuration returns the duration of a rest: it grows with the number of cycles without work.
func (l *ImproveLoop) pauseDuration() time.Duration {
	rest := l.Rules.Rest
	for range min(max(l.Idle, l.Unable-1), 32) {
		if rest *= 2; rest >= l.Rules.MostRest {
			break
		}
	}
	return min(rest, l.Rules.MostRest)
}
