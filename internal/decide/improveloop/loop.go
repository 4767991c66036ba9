// Package improveloop decides the next step of a loop that finds work in a repository, does it,
// lands it, and checks whether the landing made anything worse: search, start an item, land,
// revert a landing, rest, or end.
//
// A [ImproveLoop] is folded from the facts of its run, so that a new process after a crash repeats
// nothing. It limits itself, and never competes with people; see docs/improve.md.
package improveloop

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// LoopItemStage is the stage of an item.
type LoopItemStage string

// Stages, in order.
const (
	Working   LoopItemStage = "working"
	Worked    LoopItemStage = "worked" // it may land
	Offered   LoopItemStage = "landing"
	Landed    LoopItemStage = "landed"
	Watched   LoopItemStage = "watched" // the effect of the landing is being checked
	Weighed   LoopItemStage = "weighed"
	Reverting LoopItemStage = "reverting"
	Over      LoopItemStage = "over"
)

// ItemSkipRule is the reason why a finding is skipped or a result does not land.
type ItemSkipRule string

// Values of Rule.
const (
	TooLarge     ItemSkipRule = "too large"
	Public       ItemSkipRule = "public names"
	Dependencies ItemSkipRule = "dependencies"
	Again        ItemSkipRule = "touched before" // the same lines changed recently for the same reason
	Yielded      ItemSkipRule = "yielded"        // people changed the same files meanwhile
	Fixed        ItemSkipRule = "fixed"          // its check passes: it was already fixed
	Unlanded     ItemSkipRule = "not landed"     // it could not be merged, or the merged tree fails
	StoppedEarly ItemSkipRule = "stopped"
	Failed       ItemSkipRule = "failed"
	Unworked     ItemSkipRule = "not worked on" // its work failed for an outside reason
	Worse        ItemSkipRule = "made worse"    // its landing was reverted
	RejectedBy   ItemSkipRule = "rejected"      // a person rejected the result
	WaitsFor     ItemSkipRule = "waits"         // a result of it waits for a person
	ThemesOpen   ItemSkipRule = "branches"      // the maximum number of branches waits for a person
	// the branch for the work cannot be updated with the newest commits of the target.
	Behind ItemSkipRule = "behind"
)

// LoopItemResult is the result of an item.
type LoopItemResult string

// Values of Result.
const (
	DoneLanded   LoopItemResult = "landed"
	DoneReverted LoopItemResult = "reverted"
	DoneKept     LoopItemResult = "kept" // its branch exists
	DoneFailed   LoopItemResult = "failed"
)

// LoopItem is a piece of work, which is a run of its own.
type LoopItem struct {
	ID       nexus.RunID             `json:"id"`
	Wanted   nexus.CandidateWorkItem `json:"wanted"`
	Cycle    int                     `json:"cycle"`
	Stage    LoopItemStage           `json:"stage"`
	Base     string                  `json:"base"` // branch on which the work starts
	Reserved nexus.Money             `json:"reserved"`
	Work     nexus.LoopItemWorkEnded `json:"work"`

	Target string                  `json:"target,omitzero"` // branch on which it landed
	Before string                  `json:"before,omitzero"`
	Commit string                  `json:"commit,omitzero"` // the landed commit
	Worse  []nexus.WorsenedFinding `json:"worse,omitempty"`

	Result   LoopItemResult `json:"result,omitzero"`
	Rule     ItemSkipRule   `json:"rule,omitzero"`
	Why      string         `json:"why,omitzero"`
	Reverted string         `json:"reverted,omitzero"` // commit that reverted it
	Waits    bool           `json:"waits,omitzero"`    // it waits for a person
	Ended    time.Time      `json:"ended,omitzero"`
}

// ResultBranch returns the branch with the result, or "".
func (i *LoopItem) ResultBranch() string {
	if i.Result == DoneLanded {
		return i.Target
	}
	return i.Work.Branch
}

// LoopWorkTotals count a loop's work.
type LoopWorkTotals struct {
	Taken    int `json:"taken"`
	Landed   int `json:"landed"`
	Reverted int `json:"reverted"`
	Kept     int `json:"kept"`
	Failed   int `json:"failed"`
}

// ImproveLoop is the state of a loop. The zero value has not begun; earlier loops of the same
// repository are folded into it first.
type ImproveLoop struct {
	Run    nexus.RunID
	Target string // branch
	Rules  nexus.ImproveRules
	Cycle  int
	Items  []*LoopItem // in progress, waiting for a person, and the last of the others
	Spent  nexus.Money
	Totals LoopWorkTotals
	Looked *nexus.ImproveCycleSearched // of the last cycle; nil before it and during a search
	Left   []nexus.OmittedWorkFinding  // findings that the search skipped
	Rest   nexus.LoopPauseStarted      // the last rest; zero when it is over
	Idle   int                         // cycles in a row without work
	Fails  int                         // cycles in a row whose search failed
	Unable int                         // items in a row that failed for an outside reason
	Drain  string                      // why nothing is started any more; empty: work continues
	Pulls  []*ThemePullRequest         // of branches that wait for a person
	Status nexus.RunStatus             // final status; empty: not ended
	Why    string                      // why it ended, or why the last cycle or item failed

	pulling  *nexus.PullRequestUpdateStarted // without a result so far
	heads    map[string]string               // commits of the branches of themes, by branch
	closed   map[string]int                  // branches that now belong to people, by the first branch of the theme
	refused  map[string]bool                 // branches whose pull request people closed without merging
	calls    map[string]nexus.Money          // worst cases of unfinished calls of models that search for work
	again    time.Time                       // when work may be possible again; zero: unknown
	asked    nexus.Money                     // cost of such calls in this cycle
	sought   map[string]*pushIntent          // by branch, pushes whose result is unknown
	past     map[int]bool                    // pull requests that people ended
	looking  bool
	chosen   bool // the selection from Looked was made
	took     int  // items started in this cycle
	begun    bool
	touched  map[string]time.Time
	bars     map[string]findingExclusion
	loops    []nexus.RunID
	requests []pendingLoopRequest
}

type pendingLoopRequest struct {
	seq  int64
	verb nexus.RequestKind
	now  bool
	by   string
}

// Fixed limits.
const (
	// Week is the time for which the same line is not changed again for the same reason.
	Week = 7 * 24 * time.Hour

	keptItems = 200 // ended items that are kept, except waiting ones
	tries     = 2   // failures before a finding waits for new facts
	often     = 50  // cycles after which expired blocks are removed
	mostFails = 5   // cycles in a row without a successful search or work, before the loop ends
)

// ItemByID returns the item with a name, or nil if there is none.
func (l *ImproveLoop) ItemByID(id nexus.RunID) *LoopItem {
	for _, i := range slices.Backward(l.Items) {
		if i.ID == id {
			return i
		}
	}
	return nil
}

// RepositoryLoopIDs returns the loops of the repository, the latest last.
func (l *ImproveLoop) RepositoryLoopIDs() []nexus.RunID { return slices.Clone(l.loops) }

// IsLoopItem reports whether a run is an item of a loop of the repository.
func (l *ImproveLoop) IsLoopItem(run nexus.RunID) bool {
	at := strings.LastIndexByte(string(run), '-')
	return at > 0 && slices.Contains(l.loops, run[:at])
}

// isOwnItem reports whether an item belongs to this loop and not to an earlier one.
func (l *ImproveLoop) isOwnItem(i *LoopItem) bool {
	return strings.HasPrefix(string(i.ID), string(l.Run)+"-")
}

// ItemsWaitingForPerson returns the results that wait for a person, in order.
func (l *ImproveLoop) ItemsWaitingForPerson() []*LoopItem {
	var all []*LoopItem
	for _, i := range l.Items {
		if i.Waits {
			all = append(all, i)
		}
	}
	return all
}

// waitingBranches returns the branches that wait for a person.
func (l *ImproveLoop) waitingBranches() []string {
	var all []string
	for _, i := range l.ItemsWaitingForPerson() {
		if strings.HasPrefix(i.Target, nexus.Theme) && !slices.Contains(all, i.Target) {
			all = append(all, i.Target)
		}
	}
	return all
}

// Apply applies an event of a loop. It ignores events of other runs.
func (l *ImproveLoop) Apply(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted:
		if f.Goal.Mode == nexus.Improve {
			l.beginLoop(e.Run, f.Target)
		}
	case nexus.LoopRulesSet:
		l.Rules, l.Rest, l.Status, l.Drain, l.Unable = f.Rules, nexus.LoopPauseStarted{}, "", "", 0
	case nexus.PullRequestUpdateStarted, nexus.PullRequestUpdated, nexus.PullRequestUpdateFailed, nexus.PullRequestClosed:
		l.applyPull(f)
	case nexus.ImproveCycleStarted:
		for _, p := range l.Pulls { // failed pushes are tried again
			p.failed = ""
		}
		l.asked = 0
		if l.Cycle, l.looking, l.chosen, l.took, l.Rest = f.Cycle, true, false, 0, (nexus.LoopPauseStarted{}); f.Cycle%often == 0 {
			l.dropExpiredBlocks(e.At)
		}
	case nexus.BudgetReserved, nexus.BudgetSettled:
		l.applyCallBudget(f)
	case nexus.ImproveCycleSearched:
		l.looking, l.Looked, l.Left, l.Fails, l.Why = false, &f, nil, 0, ""
		l.Spent += max(f.Spent-l.asked, 0) // the calls were counted before
	case nexus.ImproveCycleFailed:
		l.looking, l.Looked, l.Why, l.chosen = false, nil, f.Why, true
		l.Fails++
	case nexus.LoopPauseStarted:
		if l.Rest = f; f.Idle {
			l.Idle++
		}
	case nexus.RequestMade, nexus.RequestSettled, nexus.RunDrainStarted:
		l.applyRequest(e.Seq, f)
	case nexus.RunEnded:
		l.Status, l.Why = f.Status, f.Why
	case nexus.LoopItemWorkStarted:
		l.applyWorkStarted(f)
	case nexus.LoopItemWorkEnded, nexus.LoopItemLandingConfirmed, nexus.LoopItemLandingStarted, nexus.LoopItemLanded, nexus.CheckAfterLandingStarted, nexus.LandingCheckEnded, nexus.LoopItemRevertStarted,
		nexus.LoopItemReverted, nexus.LoopItemRevertFailed, nexus.WaitingResultDecided:
		l.applyItem(f, e.At)
	default:
	}
}

// beginLoop starts another loop. Waiting results and blocks are kept.
func (l *ImproveLoop) beginLoop(run nexus.RunID, target string) {
	old := *l
	*l = ImproveLoop{
		Run: run, Target: target, touched: old.touched, bars: old.bars, loops: append(old.loops, run), begun: true,
		Pulls: old.Pulls, heads: old.heads, closed: old.closed, refused: old.refused, sought: old.sought, past: old.past,
	}
	for finding, b := range l.bars { // the person who starts another loop may have fixed the outside reason
		if b.suspect != nil {
			b.until = b.suspect.Ended
			l.bars[finding] = b
		}
	}
	for _, i := range old.Items {
		if i.Waits {
			l.Items = append(l.Items, i)
		}
	}
	if l.touched == nil {
		l.touched, l.bars, l.heads = map[string]time.Time{}, map[string]findingExclusion{}, map[string]string{}
	}
}

func (l *ImproveLoop) applyRequest(seq int64, f nexus.Fact) {
	switch f := f.(type) {
	case nexus.RequestMade:
		l.requests = append(l.requests, pendingLoopRequest{seq, f.Request.Verb, f.Request.Now, f.Request.By})
	case nexus.RequestSettled:
		l.requests = slices.DeleteFunc(l.requests, func(r pendingLoopRequest) bool { return r.seq == f.Seq })
	case nexus.RunDrainStarted:
		l.Drain = f.Why
	default:
	}
}

func (l *ImproveLoop) applyWorkStarted(f nexus.LoopItemWorkStarted) {
	l.Items = append(l.Items, &LoopItem{ID: f.Item, Wanted: f.Wanted, Cycle: f.Cycle, Stage: Working, Base: f.Base, Reserved: f.Reserved})
	l.Totals.Taken++
	l.took++
	l.chosen, l.Idle = true, 0
}

// applyItem applies a fact about an item.
func (l *ImproveLoop) applyItem(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.LoopItemWorkEnded:
		l.applyWorkEnded(f, at)
	case nexus.LoopItemLandingConfirmed:
		l.applyLandingConfirmed(f, at)
	case nexus.LoopItemLandingStarted:
		if i := l.ItemByID(f.Item); i != nil {
			i.Stage, i.Target = Offered, f.Target
		}
	case nexus.LoopItemLanded:
		if i := l.ItemByID(f.Item); i != nil {
			i.Stage, i.Target, i.Before, i.Commit = Landed, f.Target, f.Before, f.Commit
			i.Work.Spent, l.Spent = i.Work.Spent+f.Spent, l.Spent+f.Spent
			l.recordTouchedLines(i, at)
			l.heads[f.Target] = f.Commit
		}
	case nexus.CheckAfterLandingStarted:
		if i := l.ItemByID(f.Item); i != nil {
			i.Stage = Watched
		}
	case nexus.LandingCheckEnded:
		l.applyLandingCheck(f, at)
	case nexus.LoopItemRevertStarted:
		if i := l.ItemByID(f.Item); i != nil {
			i.Stage, i.Why = Reverting, f.Why
		}
	case nexus.LoopItemReverted, nexus.LoopItemRevertFailed:
		l.applyReverted(f, at)
	case nexus.WaitingResultDecided:
		l.applyResultDecision(f)
	default:
	}
}

func (l *ImproveLoop) applyWorkEnded(f nexus.LoopItemWorkEnded, at time.Time) {
	i := l.ItemByID(f.Item)
	if i == nil || i.Stage != Working {
		return
	}
	i.Stage, i.Work = Worked, f
	l.Spent += f.Spent
	if !f.Outside {
		l.recordWorkPossible(i, at)
	}
	if f.Commit != "" {
		return
	}
	i.Stage, i.Result, i.Rule, i.Why, i.Ended = Over, DoneFailed, Failed, f.Why, at
	l.Totals.Failed++
	if f.Outside {
		l.Unable, l.again, l.Why = l.Unable+1, f.Again, f.Why
		l.postponeFinding(i, at)
	} else {
		l.countFailure(i, at)
	}
	l.dropOldItems()
}

func (l *ImproveLoop) applyLandingConfirmed(f nexus.LoopItemLandingConfirmed, at time.Time) {
	i := l.ItemByID(f.Item)
	if i == nil || i.Stage == Over {
		return
	}
	i.Stage, i.Result, i.Rule, i.Why, i.Ended, i.Target = Over, DoneKept, ItemSkipRule(f.Rule), f.Why, at, ""
	i.Work.Spent, l.Spent = i.Work.Spent+f.Spent, l.Spent+f.Spent
	l.Totals.Kept++
	b := findingExclusion{rule: i.Rule, why: fmt.Sprintf("the work of run %s on it did not land: %s", i.ID, f.Why), mark: i.Wanted.Mark}
	switch i.Rule {
	case Yielded, Fixed, StoppedEarly:
		b.mark, b.until = "", at.Add(l.Rules.MostRest)
	case Again:
		b.mark, b.until = "", at.Add(Week)
	default:
		i.Waits = i.Work.Branch != ""
	}
	l.bars[i.Wanted.Finding] = b
	l.dropOldItems()
}

// recordTouchedLines records the lines that a result changed, and the reason.
func (l *ImproveLoop) recordTouchedLines(i *LoopItem, at time.Time) {
	for _, mark := range i.Work.Change.Touched {
		l.touched[mark] = at
	}
	l.bars[i.Wanted.Finding] = findingExclusion{
		rule: Again, until: at.Add(Week), why: fmt.Sprintf("run %s did it on %s", i.ID, at.Format(time.DateOnly)),
	}
}

func (l *ImproveLoop) applyLandingCheck(f nexus.LandingCheckEnded, at time.Time) {
	i := l.ItemByID(f.Item)
	if i == nil || i.Stage != Watched {
		return
	}
	if i.Worse, i.Why = f.Worse, f.Why; len(f.Worse) > 0 {
		i.Stage = Weighed
		return
	}
	l.endLanded(i, at)
}

// endLanded ends an item whose landing is kept.
func (l *ImproveLoop) endLanded(i *LoopItem, at time.Time) {
	i.Stage, i.Result, i.Ended = Over, DoneLanded, at
	i.Waits = i.Target != l.Target
	l.Totals.Landed++
	l.dropOldItems()
}

func (l *ImproveLoop) applyReverted(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.LoopItemReverted:
		i := l.ItemByID(f.Item)
		if i == nil || i.Stage != Reverting {
			return
		}
		i.Stage, i.Result, i.Rule, i.Reverted, i.Ended = Over, DoneReverted, Worse, f.Commit, at
		l.Totals.Reverted++
		l.heads[i.Target] = f.Commit
		l.bars[i.Wanted.Finding] = findingExclusion{rule: Worse, mark: i.Wanted.Mark, why: fmt.Sprintf("run %s did it and was reverted: %s", i.ID, i.Why)}
		l.dropOldItems()
	case nexus.LoopItemRevertFailed:
		if i := l.ItemByID(f.Item); i != nil && i.Stage == Reverting {
			i.Why += "; it could not be reverted: " + f.Why
			l.endLanded(i, at)
			i.Waits = true
		}
	default:
	}
}

func (l *ImproveLoop) applyResultDecision(f nexus.WaitingResultDecided) {
	i := l.ItemByID(f.Item)
	if i == nil {
		return
	}
	i.Waits = false
	if f.Left && strings.HasPrefix(i.Target, nexus.Theme) && len(l.LandedItemsOn(i.Target)) == 0 {
		l.releaseBranch(i.Target)
	}
	if f.How == nexus.ResultRejected {
		i.Rule = RejectedBy
		l.bars[i.Wanted.Finding] = findingExclusion{rule: RejectedBy, why: fmt.Sprintf("a person rejected the work of run %s on it", i.ID)}
	}
}

// dropOldItems removes ended items that do not wait for a person, except the last ones.
func (l *ImproveLoop) dropOldItems() {
	over := 0
	for _, i := range l.Items {
		if i.Stage == Over && !i.Waits {
			over++
		}
	}
	if over <= keptItems {
		return
	}
	l.Items = slices.DeleteFunc(l.Items, func(i *LoopItem) bool {
		if i.Stage != Over || i.Waits || over <= keptItems {
			return false
		}
		over--
		return true
	})
}

// dropExpiredBlocks removes expired blocks.
func (l *ImproveLoop) dropExpiredBlocks(now time.Time) {
	maps.DeleteFunc(l.touched, func(_ string, last time.Time) bool { return now.Sub(last) >= Week })
	maps.DeleteFunc(l.bars, func(_ string, b findingExclusion) bool {
		return b.fails == 0 && b.suspect == nil && !b.until.IsZero() && now.After(b.until)
	})
}

// Clone returns a copy that shares no mutable data.
func (l *ImproveLoop) Clone() *ImproveLoop {
	c := *l
	c.Items = make([]*LoopItem, len(l.Items))
	for n, i := range l.Items {
		one := *i
		c.Items[n] = &one
	}
	c.Pulls = make([]*ThemePullRequest, len(l.Pulls))
	for n, p := range l.Pulls {
		one := *p
		c.Pulls[n] = &one
	}
	c.heads, c.refused, c.pulling = nil, nil, nil
	c.closed, c.sought, c.past, c.calls = maps.Clone(l.closed), maps.Clone(l.sought), maps.Clone(l.past), nil
	c.loops, c.requests = slices.Clone(l.loops), slices.Clone(l.requests)
	c.touched, c.bars = nil, nil
	if l.looking { // the search skips blocked findings
		c.touched, c.bars = maps.Clone(l.touched), maps.Clone(l.bars)
	}
	return &c
}
