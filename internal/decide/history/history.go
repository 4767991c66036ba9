// Package history summarizes runs: the time and cost of their tasks, slow, failed and
// repeated tasks, and the accuracy of the estimates.
//
// [SummarizeRun] returns the summary of one run, a [Run], which is stored; [Summarize]
// computes figures from many of them.
package history

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// most limits the tasks in a list.
const most = 10

// Figures are figures over several runs: the object of `nexus history --json`.
type Figures struct {
	Runs    int         `json:"runs"`
	Of      Group       `json:"all"`
	Money   nexus.Money `json:"money"` // of the runs, including planning and judging
	ByRepo  []Group     `json:"by_repository,omitempty"`
	ByKind  []Group     `json:"by_kind"`
	ByStack []Group     `json:"by_stack"`
	ByTier  []Group     `json:"by_tier"`     // by starting tier
	ByStrat []Group     `json:"by_strategy"` // by test strategy
	ByFound []Group     `json:"by_found_by"` // by discovery strategy; tasks that people asked for are in none
	// a task counts for each role that worked on it, with that role's time and cost
	ByRole    []Group     `json:"by_role"`
	ByModel   []Group     `json:"by_model"` // as for roles
	Slowest   []Item      `json:"slowest"`
	Failed    []Item      `json:"failed"`   // including tasks that wait for a person, the latest first
	Retried   []Item      `json:"retried"`  // tasks with more than one attempt, the latest first
	Failures  []Failure   `json:"failures"` // reasons for the end of attempts, the most frequent first
	Gates     []GateGroup `json:"gates"`
	Estimates Accuracy    `json:"estimates"`
	Learned   []Accuracy  `json:"estimates_by_run"` // the oldest first
}

// Group summarizes a group of tasks.
type Group struct {
	Name     string `json:"name,omitzero"`
	Tasks    int    `json:"tasks"`
	Landed   int    `json:"landed"`
	Failed   int    `json:"failed"`
	Parked   int    `json:"parked"`
	Retried  int    `json:"retried"` // tasks with more than one attempt
	Attempts int    `json:"attempts"`
	Rounds   int    `json:"rounds"`
	Raised   int    `json:"escalations"` // number of moves to a stronger tier
	// share of started tasks that landed with one attempt that was never sent back
	FirstPass float64 `json:"first_pass"`
	Seconds   int64   `json:"seconds"` // median time of the landed tasks
	// cost of all tasks per landed one; 0: none landed; for all tasks: including planning and
	// judging
	PerLanded nexus.Money `json:"per_landed"`
	Money     nexus.Money `json:"money"`
	Tokens    int64       `json:"tokens"`

	first, begun int
	took         []int64
}

// Item is a task in a list.
type Item struct {
	Repo     string           `json:"repository,omitzero"`
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

// Failure is a reason for the end of attempts: the same gate with the same findings.
type Failure struct {
	Signature string      `json:"signature"`
	About     string      `json:"about,omitzero"`
	Attempts  int         `json:"attempts"`
	Tasks     int         `json:"tasks"`
	Money     nexus.Money `json:"money"`
	Run       nexus.RunID `json:"run"` // the latest run
}

// GateGroup summarizes a gate's judgements.
type GateGroup struct {
	Name    string  `json:"name"`
	Judged  int     `json:"judged"`
	Failed  int     `json:"failed"`
	Seconds float64 `json:"seconds"` // average time of a judgement
}

// Accuracy is the accuracy of estimates for landed tasks.
type Accuracy struct {
	Run   nexus.RunID `json:"run,omitzero"`
	Tasks int         `json:"tasks"` // landed tasks with an estimate
	// those of them whose estimate is based on landed tasks and not on a rule of thumb
	Learned    int     `json:"learned"`
	Inside     float64 `json:"inside"`      // share with a time within the range
	Ratio      float64 `json:"ratio"`       // median ratio of time to estimate
	Paid       int     `json:"paid"`        // those of them with an estimate of money
	PaidInside float64 `json:"paid_inside"` // share with a cost within the range
	PaidRatio  float64 `json:"paid_ratio"`  // median ratio of cost to estimate
}

// tables are the groups of tasks, by property.
type tables struct{ repos, kinds, stacks, tiers, strategies, found, roles, models groups }

// Summarize summarizes runs, given oldest first.
func Summarize(runs []Run) Figures {
	f := Figures{Runs: len(runs), Slowest: []Item{}, Failed: []Item{}, Retried: []Item{}, Learned: []Accuracy{}}
	var all accuracy
	by := tables{groups{}, groups{}, groups{}, groups{}, groups{}, groups{}, groups{}, groups{}}
	failures, gates := map[string]*Failure{}, map[string]*GateGroup{}
	for _, r := range runs {
		f.Money += r.Money
		own := accuracy{}
		for _, t := range r.Tasks {
			f.Of.add(t, t.whole())
			by.add(r, t)
			f.list(r, t)
			countFailures(failures, r.ID, t)
			all.add(t)
			own.add(t)
		}
		for _, g := range r.Gates {
			weigh(gates, g)
		}
		if own.Tasks > 0 {
			own.Run = r.ID
			f.Learned = append(f.Learned, own.sum())
		}
	}
	f.Of.sum()
	f.Of.PerLanded = perLanded(f.Money, f.Of.Landed)
	f.Estimates = all.sum()
	f.ByRepo, f.ByKind, f.ByStack, f.ByTier = by.repos.all(), by.kinds.all(), by.stacks.all(), by.tiers.all()
	f.ByStrat, f.ByFound, f.ByRole, f.ByModel = by.strategies.all(), by.found.all(), by.roles.all(), by.models.all()
	f.Failures, f.Gates = mostFrequent(failures), byFailures(gates)
	slices.SortStableFunc(f.Slowest, func(a, b Item) int { return cmp.Compare(b.Seconds, a.Seconds) })
	slices.Reverse(f.Failed)
	slices.Reverse(f.Retried)
	for _, list := range []*[]Item{&f.Slowest, &f.Failed, &f.Retried} {
		*list = (*list)[:min(len(*list), most)]
	}
	return f
}

// Dimensions returns the properties by which tasks are grouped, with the groups.
func (f Figures) Dimensions() []Dimension {
	return []Dimension{
		{"repository", f.ByRepo},
		{"kind", f.ByKind},
		{"stack", f.ByStack},
		{"tier", f.ByTier},
		{"strategy", f.ByStrat},
		{"found-by", f.ByFound},
		{"role", f.ByRole},
		{"model", f.ByModel},
	}
}

// Dimension is a property by which tasks are grouped.
type Dimension struct {
	Name   string
	Groups []Group
}

// add adds a task to its groups.
func (b *tables) add(r Run, t Task) {
	whole := t.whole()
	if r.Repo != "" {
		b.repos.of(r.Repo).add(t, whole)
	}
	b.kinds.of(string(t.Kind)).add(t, whole)
	b.stacks.of(t.Stack).add(t, whole)
	b.tiers.of(string(t.Tier)).add(t, whole)
	b.strategies.of(cmp.Or(string(t.Strategy), "none")).add(t, whole)
	if t.FoundBy != "" {
		b.found.of(t.FoundBy).add(t, whole)
	}
	roles, models := map[string]Use{}, map[string]Use{}
	for _, u := range t.Uses {
		roles[string(u.Role)] = roles[string(u.Role)].plus(u)
		models[u.Model] = models[u.Model].plus(u)
	}
	for name, u := range roles {
		b.roles.of(name).add(t, u)
	}
	for name, u := range models {
		b.models.of(name).add(t, u)
	}
}

func (u Use) plus(o Use) Use {
	return Use{Sessions: u.Sessions + o.Sessions, Seconds: u.Seconds + o.Seconds, Tokens: u.Tokens + o.Tokens, Money: u.Money + o.Money}
}

// whole returns the time and cost of a task over all roles.
func (t Task) whole() Use {
	var u Use
	for _, o := range t.Uses {
		u.Tokens += o.Tokens
	}
	u.Seconds, u.Money = t.Seconds, t.Money
	return u
}

// list adds a task to its lists.
func (f *Figures) list(r Run, t Task) {
	if len(t.Tries) == 0 {
		return
	}
	item := Item{
		Repo: r.Repo, Run: r.ID, Task: t.ID, Title: t.Title, Status: t.Status, Attempts: len(t.Tries), Rounds: t.Rounds,
		Seconds: whole(t.Seconds), Money: t.Money, Why: t.Why,
	}
	f.Slowest = append(f.Slowest, item)
	if t.Status == nexus.Failed || t.Status == nexus.Parked {
		f.Failed = append(f.Failed, item)
	}
	if len(t.Tries) > 1 {
		f.Retried = append(f.Retried, item)
	}
}

// whole rounds seconds to the nearest integer.
func whole(seconds float64) int64 { return int64(math.Round(seconds)) }

// countFailures counts the reasons for the end of a task's attempts.
func countFailures(all map[string]*Failure, run nexus.RunID, t Task) {
	seen := map[string]bool{}
	for _, a := range t.Tries {
		if a.Failure == "" {
			continue
		}
		f := all[a.Failure]
		if f == nil {
			f = &Failure{Signature: a.Failure}
			all[a.Failure] = f
		}
		f.Attempts++
		f.Money += a.Money
		f.Run, f.About = run, a.About
		if !seen[a.Failure] {
			seen[a.Failure] = true
			f.Tasks++
		}
	}
}

func mostFrequent(all map[string]*Failure) []Failure {
	out := []Failure{}
	for _, f := range all {
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(b.Money, a.Money), strings.Compare(a.Signature, b.Signature))
	})
	return out[:min(len(out), most)]
}

func weigh(all map[string]*GateGroup, g Gate) {
	if all[g.Name] == nil {
		all[g.Name] = &GateGroup{Name: g.Name}
	}
	o := all[g.Name]
	o.Judged, o.Failed, o.Seconds = o.Judged+g.Judged, o.Failed+g.Failed, o.Seconds+g.Seconds
}

func byFailures(all map[string]*GateGroup) []GateGroup {
	out := []GateGroup{}
	for _, g := range all {
		g.Seconds /= float64(max(1, g.Judged))
		out = append(out, *g)
	}
	slices.SortStableFunc(out, func(a, b GateGroup) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), strings.Compare(a.Name, b.Name))
	})
	return out
}

// groups are groups of tasks by name.
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
	slices.SortStableFunc(all, func(a, b Group) int { return cmp.Or(cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(a.Name, b.Name)) })
	return all
}

// add adds a task, and its time and cost u.
func (g *Group) add(t Task, u Use) {
	g.Tasks++
	g.Money += u.Money
	g.Tokens += u.Tokens
	g.Attempts += len(t.Tries)
	g.Rounds += t.Rounds
	g.Raised += t.Raised
	if len(t.Tries) > 0 {
		g.begun++
	}
	if len(t.Tries) > 1 {
		g.Retried++
	}
	switch t.Status {
	case nexus.Landed:
		g.Landed++
		g.took = append(g.took, whole(u.Seconds))
		if t.First {
			g.first++
		}
	case nexus.Failed:
		g.Failed++
	case nexus.Parked:
		g.Parked++
	default:
	}
}

// perLanded returns the cost per landed task, including tasks that did not land, or 0 if none
// did.
func perLanded(spent nexus.Money, landed int) nexus.Money {
	if landed == 0 {
		return 0
	}
	return spent / nexus.Money(landed)
}

func (g *Group) sum() {
	g.FirstPass = share(g.first, g.begun)
	g.PerLanded = perLanded(g.Money, g.Landed)
	if len(g.took) > 0 {
		slices.Sort(g.took)
		g.Seconds = g.took[len(g.took)/2]
	}
}

func share(n, of int) float64 { return float64(n) / float64(max(1, of)) }

// accuracy collects the data of an [Accuracy].
type accuracy struct {
	Accuracy

	inside, paidInside int
	ratios, paid       []float64
}

func (a *accuracy) add(t Task) {
	if t.Status != nexus.Landed || t.Estimate == nil {
		return
	}
	e := t.Estimate
	took := whole(t.Seconds)
	a.Tasks++
	if e.Samples > 0 {
		a.Learned++
	}
	if took >= e.Low.Seconds && took <= e.High.Seconds {
		a.inside++
	}
	a.ratios = append(a.ratios, t.Seconds/float64(max(1, e.Likely.Seconds)))
	if e.Unpriced || e.Likely.Money <= 0 {
		return
	}
	if a.Paid++; t.Money >= e.Low.Money && t.Money <= e.High.Money {
		a.paidInside++
	}
	a.paid = append(a.paid, t.Money.Float()/e.Likely.Money.Float())
}

func (a *accuracy) sum() Accuracy {
	a.Inside, a.Ratio = share(a.inside, a.Tasks), middle(a.ratios)
	a.PaidInside, a.PaidRatio = share(a.paidInside, a.Paid), middle(a.paid)
	return a.Accuracy
}

// middle returns the median, or 0 for an empty list.
func middle(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
