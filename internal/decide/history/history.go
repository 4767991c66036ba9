// Package history sums up runs of a repository: what their tasks took and cost,
// which were slow, failed or were tried again, and how right the estimates were.
package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// most is how many tasks a list names.
const most = 10

// Figures are the figures over runs: the object of `nexus history --json`.
type Figures struct {
	Runs      int         `json:"runs"`
	Of        Group       `json:"all"`
	Money     nexus.Money `json:"money"` // of the runs, with planning and judging
	ByKind    []Group     `json:"by_kind"`
	ByStack   []Group     `json:"by_stack"`
	ByTier    []Group     `json:"by_tier"` // where work on them began
	Slowest   []Item      `json:"slowest"`
	Failed    []Item      `json:"failed"`  // and those that wait for a person, the latest first
	Retried   []Item      `json:"retried"` // that took more than one attempt, the latest first
	Estimates Accuracy    `json:"estimates"`
	Learned   []Accuracy  `json:"estimates_by_run"` // the oldest first
}

// Group sums up tasks of one sort.
type Group struct {
	Name      string      `json:"name,omitzero"`
	Tasks     int         `json:"tasks"`
	Landed    int         `json:"landed"`
	Failed    int         `json:"failed"`
	Parked    int         `json:"parked"`
	Retried   int         `json:"retried"`    // that took more than one attempt
	FirstPass float64     `json:"first_pass"` // share of those begun that landed with one attempt, and nothing was sent back
	Seconds   int64       `json:"seconds"`    // that the middle one of those that landed took
	PerLanded nexus.Money `json:"per_landed"` // what all of them cost, for each that landed; of all: with planning and judging
	Money     nexus.Money `json:"money"`

	first, begun int
	took         []int64
}

// Item is one task.
type Item struct {
	Run      nexus.RunID      `json:"run"`
	Task     nexus.TaskID     `json:"task"`
	Title    string           `json:"title"`
	Status   nexus.TaskStatus `json:"status"`
	Attempts int              `json:"attempts"`
	Rounds   int              `json:"rounds"`
	Seconds  int64            `json:"seconds"`
	Money    nexus.Money      `json:"money"`
	Why      string           `json:"why,omitzero"`
}

// Accuracy is how right estimates were of tasks that landed.
type Accuracy struct {
	Run        nexus.RunID `json:"run,omitzero"`
	Tasks      int         `json:"tasks"`       // that were estimated, and landed
	Learned    int         `json:"learned"`     // of them, those estimated from landed tasks and not by a rule of thumb
	Inside     float64     `json:"inside"`      // share that took a time within the range
	Ratio      float64     `json:"ratio"`       // what the middle one took, for each second of its estimate
	Paid       int         `json:"paid"`        // of them, those whose money was estimated
	PaidInside float64     `json:"paid_inside"` // share that cost an amount within the range
	PaidRatio  float64     `json:"paid_ratio"`  // what the middle one cost, for each dollar of its estimate
}

// Of sums up runs, the oldest first.
func Of(runs []*state.State) Figures {
	f := Figures{
		Runs: len(runs), ByKind: []Group{}, ByStack: []Group{}, ByTier: []Group{},
		Slowest: []Item{}, Failed: []Item{}, Retried: []Item{}, Learned: []Accuracy{},
	}
	var all accuracy
	kinds, stacks, tiers := groups{}, groups{}, groups{}
	for _, s := range runs {
		f.Money += s.Ledger.Spent()
		own := accuracy{}
		for _, t := range s.Tasks {
			status := s.StatusOf(t)
			f.Of.add(t, status)
			kinds.of(string(cmp.Or(t.Kind, nexus.CodeTask))).add(t, status)
			stacks.of(cmp.Or(stack.Written(files(t)), "other")).add(t, status)
			tiers.of(string(began(t))).add(t, status)
			f.list(s.Run, t, status)
			all.add(t)
			own.add(t)
		}
		if own.Tasks > 0 {
			own.Run = s.Run
			f.Learned = append(f.Learned, own.sum())
		}
	}
	f.Of.sum()
	f.Of.PerLanded = f.Money / nexus.Money(max(1, f.Of.Landed))
	f.Estimates = all.sum()
	f.ByKind, f.ByStack, f.ByTier = kinds.all(), stacks.all(), tiers.all()
	slices.SortStableFunc(f.Slowest, func(a, b Item) int { return cmp.Compare(b.Seconds, a.Seconds) })
	slices.Reverse(f.Failed)
	slices.Reverse(f.Retried)
	for _, list := range []*[]Item{&f.Slowest, &f.Failed, &f.Retried} {
		*list = (*list)[:min(len(*list), most)]
	}
	return f
}

func files(t *state.Task) []string {
	if len(t.Files) == 0 && t.Landed != nil {
		return t.Landed.Changes.Files
	}
	return t.Files
}

// began returns the tier where work on a task began.
func began(t *state.Task) nexus.Tier {
	if t.Route != nil {
		return t.Route.Tier
	}
	if len(t.Attempts) > 0 {
		return t.Attempts[0].Tier
	}
	return t.Tier
}

// list puts a task on the lists that it belongs to.
func (f *Figures) list(run nexus.RunID, t *state.Task, status nexus.TaskStatus) {
	if len(t.Attempts) == 0 {
		return
	}
	item := Item{
		Run: run, Task: t.ID, Title: t.Title, Status: status, Attempts: len(t.Attempts), Rounds: t.Rounds,
		Seconds: whole(t.Worked), Money: t.Spent, Why: t.Why,
	}
	f.Slowest = append(f.Slowest, item)
	if status == nexus.Failed || status == nexus.Parked {
		f.Failed = append(f.Failed, item)
	}
	if len(t.Attempts) > 1 {
		f.Retried = append(f.Retried, item)
	}
}

// whole returns seconds, rounded to the nearest.
func whole(d time.Duration) int64 { return int64(d.Round(time.Second) / time.Second) }

// groups are tasks by a name.
type groups map[string]*Group

func (g groups) of(name string) *Group {
	if g[name] == nil {
		g[name] = &Group{Name: name}
	}
	return g[name]
}

// all returns the groups, the largest first.
func (g groups) all() []Group {
	all := []Group{}
	for _, one := range g {
		one.sum()
		all = append(all, *one)
	}
	slices.SortFunc(all, func(a, b Group) int { return cmp.Or(cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(a.Name, b.Name)) })
	return all
}

func (g *Group) add(t *state.Task, status nexus.TaskStatus) {
	g.Tasks++
	g.Money += t.Spent
	if len(t.Attempts) > 0 {
		g.begun++
	}
	if len(t.Attempts) > 1 {
		g.Retried++
	}
	switch status {
	case nexus.Landed:
		g.Landed++
		g.took = append(g.took, whole(t.Worked))
		if firstPass(t) {
			g.first++
		}
	case nexus.Failed:
		g.Failed++
	case nexus.Parked:
		g.Parked++
	default:
	}
}

func (g *Group) sum() {
	g.FirstPass = share(g.first, g.begun)
	g.PerLanded = g.Money / nexus.Money(max(1, g.Landed))
	if len(g.took) > 0 {
		slices.Sort(g.took)
		g.Seconds = g.took[len(g.took)/2]
	}
}

// firstPass reports whether a task landed with one attempt in which nothing was
// sent back.
func firstPass(t *state.Task) bool {
	return len(t.Attempts) == 1 && !slices.ContainsFunc(t.Attempts[0].Rounds, func(r *state.Round) bool { return r.Cause != "" })
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }

// accuracy is an [Accuracy] that is being counted.
type accuracy struct {
	Accuracy

	inside, paidInside int
	ratios, paid       []float64
}

func (a *accuracy) add(t *state.Task) {
	if t.Landed == nil || t.Route == nil || t.Route.Estimate == nil {
		return
	}
	e := t.Route.Estimate
	took := whole(t.Worked)
	a.Tasks++
	if e.Samples > 0 {
		a.Learned++
	}
	if took >= e.Low.Seconds && took <= e.High.Seconds {
		a.inside++
	}
	a.ratios = append(a.ratios, t.Worked.Seconds()/float64(max(1, e.Likely.Seconds)))
	if e.Unpriced || e.Likely.Money <= 0 {
		return
	}
	if a.Paid++; t.Spent >= e.Low.Money && t.Spent <= e.High.Money {
		a.paidInside++
	}
	a.paid = append(a.paid, t.Spent.Float()/e.Likely.Money.Float())
}

func (a *accuracy) sum() Accuracy {
	a.Inside, a.Ratio = share(a.inside, a.Tasks), middle(a.ratios)
	a.PaidInside, a.PaidRatio = share(a.paidInside, a.Paid), middle(a.paid)
	return a.Accuracy
}

// middle returns the middle value, 0 of none.
func middle(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
