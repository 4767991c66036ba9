// Package improve decides the next step of a loop that finds work in a repository, does it,
// lands it, and checks whether the landing made anything worse: search, start an item, land,
// revert a landing, rest, or end.
//
// A [Loop] is folded from the facts of its run, so that a new process after a crash repeats
// nothing. It limits itself, and never competes with people; see docs/improve.md.
package improve

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Stage is the stage of an item.
type Stage string

// Stages, in order.
const (
	Working   Stage = "working"
	Worked    Stage = "worked" // it may land
	Offered   Stage = "landing"
	Landed    Stage = "landed"
	Watched   Stage = "watched" // the effect of the landing is being checked
	Weighed   Stage = "weighed"
	Reverting Stage = "reverting"
	Over      Stage = "over"
)

// Rule is the reason why a finding is skipped or a result does not land.
type Rule string

// Values of Rule.
const (
	TooLarge     Rule = "too large"
	Public       Rule = "public names"
	Dependencies Rule = "dependencies"
	Again        Rule = "touched before" // the same lines changed recently for the same reason
	Yielded      Rule = "yielded"        // people changed the same files meanwhile
	Fixed        Rule = "fixed"          // its check passes: it was already fixed
	Unlanded     Rule = "not landed"     // it could not be merged, or the merged tree fails
	StoppedEarly Rule = "stopped"
	Failed       Rule = "failed"
	Unworked     Rule = "not worked on" // its work failed for an outside reason
	Worse        Rule = "made worse"    // its landing was reverted
	RejectedBy   Rule = "rejected"      // a person rejected the result
	WaitsFor     Rule = "waits"         // a result of it waits for a person
	ThemesOpen   Rule = "branches"      // the maximum number of branches waits for a person
	// the branch for the work cannot be updated with the newest commits of the target
	Behind Rule = "behind"
)

// Result is the result of an item.
type Result string

// Values of Result.
const (
	DoneLanded   Result = "landed"
	DoneReverted Result = "reverted"
	DoneKept     Result = "kept" // its branch exists
	DoneFailed   Result = "failed"
)

// Item is a piece of work, which is a run of its own.
type Item struct {
	ID       nexus.RunID      `json:"id"`
	Wanted   nexus.Wanted     `json:"wanted"`
	Cycle    int              `json:"cycle"`
	Stage    Stage            `json:"stage"`
	Base     string           `json:"base"` // branch on which the work starts
	Reserved nexus.Money      `json:"reserved"`
	Work     nexus.ItemWorked `json:"work"`

	Target string           `json:"target,omitzero"` // branch on which it landed
	Before string           `json:"before,omitzero"`
	Commit string           `json:"commit,omitzero"` // the landed commit
	Worse  []nexus.Worsened `json:"worse,omitempty"`

	Result   Result    `json:"result,omitzero"`
	Rule     Rule      `json:"rule,omitzero"`
	Why      string    `json:"why,omitzero"`
	Reverted string    `json:"reverted,omitzero"` // commit that reverted it
	Waits    bool      `json:"waits,omitzero"`    // it waits for a person
	Ended    time.Time `json:"ended,omitzero"`
}

// Branch returns the branch with the result, or "".
func (i *Item) Branch() string {
	if i.Result == DoneLanded {
		return i.Target
	}
	return i.Work.Branch
}

// Totals count a loop's work.
type Totals struct {
	Taken    int `json:"taken"`
	Landed   int `json:"landed"`
	Reverted int `json:"reverted"`
	Kept     int `json:"kept"`
	Failed   int `json:"failed"`
}

// Loop is the state of a loop. The zero Loop has not begun; earlier loops of the same
// repository are folded into it first.
type Loop struct {
	Run    nexus.RunID
	Target string // branch
	Rules  nexus.ImproveRules
	Cycle  int
	Items  []*Item // in progress, waiting for a person, and the last of the others
	Spent  nexus.Money
	Totals Totals
	Looked *nexus.CycleLooked // of the last cycle; nil before it and during a search
	Left   []nexus.LeftOut    // findings that the search skipped
	Rest   nexus.LoopRested   // the last rest; zero when it is over
	Idle   int                // cycles in a row without work
	Fails  int                // cycles in a row whose search failed
	Unable int                // items in a row that failed for an outside reason
	Drain  string             // why nothing is started any more; empty: work continues
	Pulls  []*Pull            // of branches that wait for a person
	Status nexus.RunStatus    // final status; empty: not ended
	Why    string             // why it ended, or why the last cycle or item failed

	pulling  *nexus.PullSought      // without a result so far
	heads    map[string]string      // commits of the branches of themes, by branch
	closed   map[string]int         // branches that now belong to people, by the first branch of the theme
	refused  map[string]bool        // branches whose pull request people closed without merging
	calls    map[string]nexus.Money // worst cases of unfinished calls of models that search for work
	again    time.Time              // when work may be possible again; zero: unknown
	asked    nexus.Money            // cost of such calls in this cycle
	sought   map[string]*pushIntent // by branch, pushes whose result is unknown
	past     map[int]bool           // pull requests that people ended
	looking  bool
	chosen   bool // the selection from Looked was made
	took     int  // items started in this cycle
	begun    bool
	touched  map[string]time.Time
	bars     map[string]findingBlock
	loops    []nexus.RunID
	requests []request
}

type request struct {
	seq  int64
	verb nexus.Verb
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

// Item returns the item with a name, or nil if there is none.
func (l *Loop) Item(id nexus.RunID) *Item {
	for _, i := range slices.Backward(l.Items) {
		if i.ID == id {
			return i
		}
	}
	return nil
}

// Loops returns the loops of the repository, the latest last.
func (l *Loop) Loops() []nexus.RunID { return slices.Clone(l.loops) }

// Owns reports whether a run is an item of a loop of the repository.
func (l *Loop) Owns(run nexus.RunID) bool {
	at := strings.LastIndexByte(string(run), '-')
	return at > 0 && slices.Contains(l.loops, run[:at])
}

// owns reports whether an item belongs to this loop and not to an earlier one.
func (l *Loop) owns(i *Item) bool { return strings.HasPrefix(string(i.ID), string(l.Run)+"-") }

// Waiting returns the results that wait for a person, in order.
func (l *Loop) Waiting() []*Item {
	var all []*Item
	for _, i := range l.Items {
		if i.Waits {
			all = append(all, i)
		}
	}
	return all
}

// themes returns the branches that wait for a person.
func (l *Loop) themes() []string {
	var all []string
	for _, i := range l.Waiting() {
		if strings.HasPrefix(i.Target, nexus.Theme) && !slices.Contains(all, i.Target) {
			all = append(all, i.Target)
		}
	}
	return all
}

// Apply applies an event of a loop. It ignores events of other runs.
func (l *Loop) Apply(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted:
		if f.Goal.Mode == nexus.Improve {
			l.begin(e.Run, f.Target)
		}
	case nexus.LoopOpened:
		l.Rules, l.Rest, l.Status, l.Drain, l.Unable = f.Rules, nexus.LoopRested{}, "", "", 0
	case nexus.PullSought, nexus.PullTold, nexus.PullFailed, nexus.PullClosed:
		l.applyPull(f)
	case nexus.CycleStarted:
		for _, p := range l.Pulls { // failed pushes are tried again
			p.failed = ""
		}
		l.asked = 0
		if l.Cycle, l.looking, l.chosen, l.took, l.Rest = f.Cycle, true, false, 0, (nexus.LoopRested{}); f.Cycle%often == 0 {
			l.forget(e.At)
		}
	case nexus.BudgetReserved, nexus.BudgetSpent:
		l.applyCallBudget(f)
	case nexus.CycleLooked:
		l.looking, l.Looked, l.Left, l.Fails, l.Why = false, &f, nil, 0, ""
		l.Spent += max(f.Spent-l.asked, 0) // the calls were counted before
	case nexus.CycleFailed:
		l.looking, l.Looked, l.Why, l.chosen = false, nil, f.Why, true
		l.Fails++
	case nexus.LoopRested:
		if l.Rest = f; f.Idle {
			l.Idle++
		}
	case nexus.RequestMade, nexus.RequestSettled, nexus.RunDrained:
		l.applyRequest(e.Seq, f)
	case nexus.RunEnded:
		l.Status, l.Why = f.Status, f.Why
	case nexus.ItemTaken:
		l.applyTaken(f)
	case nexus.ItemWorked, nexus.ItemKept, nexus.ItemOffered, nexus.ItemLanded, nexus.LandingWatched, nexus.LandingWeighed, nexus.RevertSought,
		nexus.ItemReverted, nexus.RevertFailed, nexus.ResultSettled:
		l.applyItem(f, e.At)
	default:
	}
}

// begin starts another loop. Waiting results and blocks are kept.
func (l *Loop) begin(run nexus.RunID, target string) {
	old := *l
	*l = Loop{
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
		l.touched, l.bars, l.heads = map[string]time.Time{}, map[string]findingBlock{}, map[string]string{}
	}
}

func (l *Loop) applyRequest(seq int64, f nexus.Fact) {
	switch f := f.(type) {
	case nexus.RequestMade:
		l.requests = append(l.requests, request{seq, f.Request.Verb, f.Request.Now, f.Request.By})
	case nexus.RequestSettled:
		l.requests = slices.DeleteFunc(l.requests, func(r request) bool { return r.seq == f.Seq })
	case nexus.RunDrained:
		l.Drain = f.Why
	default:
	}
}

func (l *Loop) applyTaken(f nexus.ItemTaken) {
	l.Items = append(l.Items, &Item{ID: f.Item, Wanted: f.Wanted, Cycle: f.Cycle, Stage: Working, Base: f.Base, Reserved: f.Reserved})
	l.Totals.Taken++
	l.took++
	l.chosen, l.Idle = true, 0
}

// applyItem applies a fact about an item.
func (l *Loop) applyItem(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.ItemWorked:
		l.worked(f, at)
	case nexus.ItemKept:
		l.applyKept(f, at)
	case nexus.ItemOffered:
		if i := l.Item(f.Item); i != nil {
			i.Stage, i.Target = Offered, f.Target
		}
	case nexus.ItemLanded:
		if i := l.Item(f.Item); i != nil {
			i.Stage, i.Target, i.Before, i.Commit = Landed, f.Target, f.Before, f.Commit
			i.Work.Spent, l.Spent = i.Work.Spent+f.Spent, l.Spent+f.Spent
			l.touch(i, at)
			l.heads[f.Target] = f.Commit
		}
	case nexus.LandingWatched:
		if i := l.Item(f.Item); i != nil {
			i.Stage = Watched
		}
	case nexus.LandingWeighed:
		l.weighed(f, at)
	case nexus.RevertSought:
		if i := l.Item(f.Item); i != nil {
			i.Stage, i.Why = Reverting, f.Why
		}
	case nexus.ItemReverted, nexus.RevertFailed:
		l.reverted(f, at)
	case nexus.ResultSettled:
		l.settled(f)
	default:
	}
}

func (l *Loop) worked(f nexus.ItemWorked, at time.Time) {
	i := l.Item(f.Item)
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
		l.suspect(i, at)
	} else {
		l.fail(i, at)
	}
	l.prune()
}

func (l *Loop) applyKept(f nexus.ItemKept, at time.Time) {
	i := l.Item(f.Item)
	if i == nil || i.Stage == Over {
		return
	}
	i.Stage, i.Result, i.Rule, i.Why, i.Ended, i.Target = Over, DoneKept, Rule(f.Rule), f.Why, at, ""
	i.Work.Spent, l.Spent = i.Work.Spent+f.Spent, l.Spent+f.Spent
	l.Totals.Kept++
	b := findingBlock{rule: i.Rule, why: fmt.Sprintf("the work of run %s on it did not land: %s", i.ID, f.Why), mark: i.Wanted.Mark}
	switch i.Rule {
	case Yielded, Fixed, StoppedEarly:
		b.mark, b.until = "", at.Add(l.Rules.MostRest)
	case Again:
		b.mark, b.until = "", at.Add(Week)
	default:
		i.Waits = i.Work.Branch != ""
	}
	l.bars[i.Wanted.Finding] = b
	l.prune()
}

// touch records the lines that a result changed, and the reason.
func (l *Loop) touch(i *Item, at time.Time) {
	for _, mark := range i.Work.Change.Touched {
		l.touched[mark] = at
	}
	l.bars[i.Wanted.Finding] = findingBlock{
		rule: Again, until: at.Add(Week), why: fmt.Sprintf("run %s did it on %s", i.ID, at.Format(time.DateOnly)),
	}
}

func (l *Loop) weighed(f nexus.LandingWeighed, at time.Time) {
	i := l.Item(f.Item)
	if i == nil || i.Stage != Watched {
		return
	}
	if i.Worse, i.Why = f.Worse, f.Why; len(f.Worse) > 0 {
		i.Stage = Weighed
		return
	}
	l.landed(i, at)
}

// landed ends an item whose landing is kept.
func (l *Loop) landed(i *Item, at time.Time) {
	i.Stage, i.Result, i.Ended = Over, DoneLanded, at
	i.Waits = i.Target != l.Target
	l.Totals.Landed++
	l.prune()
}

func (l *Loop) reverted(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.ItemReverted:
		i := l.Item(f.Item)
		if i == nil || i.Stage != Reverting {
			return
		}
		i.Stage, i.Result, i.Rule, i.Reverted, i.Ended = Over, DoneReverted, Worse, f.Commit, at
		l.Totals.Reverted++
		l.heads[i.Target] = f.Commit
		l.bars[i.Wanted.Finding] = findingBlock{rule: Worse, mark: i.Wanted.Mark, why: fmt.Sprintf("run %s did it and was reverted: %s", i.ID, i.Why)}
		l.prune()
	case nexus.RevertFailed:
		if i := l.Item(f.Item); i != nil && i.Stage == Reverting {
			i.Why += "; it could not be reverted: " + f.Why
			l.landed(i, at)
			i.Waits = true
		}
	default:
	}
}

func (l *Loop) settled(f nexus.ResultSettled) {
	i := l.Item(f.Item)
	if i == nil {
		return
	}
	i.Waits = false
	if f.Left && strings.HasPrefix(i.Target, nexus.Theme) && len(l.Owned(i.Target)) == 0 {
		l.releaseBranch(i.Target)
	}
	if f.How == nexus.ResultRejected {
		i.Rule = RejectedBy
		l.bars[i.Wanted.Finding] = findingBlock{rule: RejectedBy, why: fmt.Sprintf("a person rejected the work of run %s on it", i.ID)}
	}
}

// prune removes ended items that do not wait for a person, except the last ones.
func (l *Loop) prune() {
	over := 0
	for _, i := range l.Items {
		if i.Stage == Over && !i.Waits {
			over++
		}
	}
	if over <= keptItems {
		return
	}
	l.Items = slices.DeleteFunc(l.Items, func(i *Item) bool {
		if i.Stage != Over || i.Waits || over <= keptItems {
			return false
		}
		over--
		return true
	})
}

// forget removes expired blocks.
func (l *Loop) forget(now time.Time) {
	maps.DeleteFunc(l.touched, func(_ string, last time.Time) bool { return now.Sub(last) >= Week })
	maps.DeleteFunc(l.bars, func(_ string, b findingBlock) bool {
		return b.fails == 0 && b.suspect == nil && !b.until.IsZero() && now.After(b.until)
	})
}

// Clone returns a copy that shares no mutable data.
func (l *Loop) Clone() *Loop {
	c := *l
	c.Items = make([]*Item, len(l.Items))
	for n, i := range l.Items {
		one := *i
		c.Items[n] = &one
	}
	c.Pulls = make([]*Pull, len(l.Pulls))
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
