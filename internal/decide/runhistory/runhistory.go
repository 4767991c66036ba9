// Package runhistory summarizes runs: the time and cost of their tasks, slow, failed and
// repeated tasks, and the accuracy of the estimates.
//
// [SummarizeRun] returns the summary of one run, a [RunRecord], which is stored; [SummarizeRuns]
// computes figures from many of them.
package runhistory

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// most limits the tasks in a list.
const most = 10

// RunHistoryStatistics are figures over several runs: the object of `nexus runs --stats --json`.
type RunHistoryStatistics struct {
	Runs    int                   `json:"runs"`
	Of      TaskGroupStatistics   `json:"all"`
	Money   nexus.Money           `json:"money"` // of the runs, including planning and judging
	ByRepo  []TaskGroupStatistics `json:"by_repository,omitempty"`
	ByKind  []TaskGroupStatistics `json:"by_kind"`
	ByStack []TaskGroupStatistics `json:"by_stack"`
	ByTier  []TaskGroupStatistics `json:"by_tier"`     // by starting tier
	ByStrat []TaskGroupStatistics `json:"by_strategy"` // by test strategy
	ByFound []TaskGroupStatistics `json:"by_found_by"` // by discovery strategy; tasks that people asked for are in none
	// a task counts for each role that worked on it, with that role's time and cost
	ByRole    []TaskGroupStatistics `json:"by_role"`
	ByModel   []TaskGroupStatistics `json:"by_model"` // as for roles
	Slowest   []TaskListItem        `json:"slowest"`
	Failed    []TaskListItem        `json:"failed"`   // including tasks that wait for a person, the latest first
	Retried   []TaskListItem        `json:"retried"`  // tasks with more than one attempt, the latest first
	Failures  []FailureGroup        `json:"failures"` // reasons for the end of attempts, the most frequent first
	Gates     []GateStatistics      `json:"gates"`
	Estimates EstimateAccuracy      `json:"estimates"`
	Learned   []EstimateAccuracy    `json:"estimates_by_run"` // the oldest first
}

// TaskGroupStatistics summarizes a group of tasks.
type TaskGroupStatistics struct {
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

// TaskListItem is a task in a list.
type TaskListItem struct {
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

// FailureGroup is a reason for the end of attempts: the same gate with the same findings.
type FailureGroup struct {
	Signature string      `json:"signature"`
	About     string      `json:"about,omitzero"`
	Attempts  int         `json:"attempts"`
	Tasks     int         `json:"tasks"`
	Money     nexus.Money `json:"money"`
	Run       nexus.RunID `json:"run"` // the latest run
}

// GateStatistics summarizes a gate's judgements.
type GateStatistics struct {
	Name    string  `json:"name"`
	Judged  int     `json:"judged"`
	Failed  int     `json:"failed"`
	Seconds float64 `json:"seconds"` // average time of a judgement
}

// EstimateAccuracy is the accuracy of estimates for landed tasks.
type EstimateAccuracy struct {
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

// taskGroupTables are the groups of tasks, by property.
type taskGroupTables struct{ repos, kinds, stacks, tiers, strategies, found, roles, models taskGroupsByName }

// SummarizeRuns summarizes runs, given oldest first.
func SummarizeRuns(runs []RunRecord) RunHistoryStatistics {
	f := RunHistoryStatistics{Runs: len(runs), Slowest: []TaskListItem{}, Failed: []TaskListItem{}, Retried: []TaskListItem{}, Learned: []EstimateAccuracy{}}
	var all estimateAccuracyCounter
	by := taskGroupTables{taskGroupsByName{}, taskGroupsByName{}, taskGroupsByName{}, taskGroupsByName{}, taskGroupsByName{}, taskGroupsByName{}, taskGroupsByName{}, taskGroupsByName{}}
	failures, gates := map[string]*FailureGroup{}, map[string]*GateStatistics{}
	for _, r := range runs {
		f.Money += r.Money
		own := estimateAccuracyCounter{}
		for _, t := range r.Tasks {
			f.Of.addTask(t, t.totalUse())
			by.addTask(r, t)
			f.addToLists(r, t)
			countFailures(failures, r.ID, t)
			all.addTask(t)
			own.addTask(t)
		}
		for _, g := range r.Gates {
			addGateUsage(gates, g)
		}
		if own.Tasks > 0 {
			own.Run = r.ID
			f.Learned = append(f.Learned, own.computeAccuracy())
		}
	}
	f.Of.computeRates()
	f.Of.PerLanded = costPerLanded(f.Money, f.Of.Landed)
	f.Estimates = all.computeAccuracy()
	f.ByRepo, f.ByKind, f.ByStack, f.ByTier = by.repos.sortedGroups(), by.kinds.sortedGroups(), by.stacks.sortedGroups(), by.tiers.sortedGroups()
	f.ByStrat, f.ByFound, f.ByRole, f.ByModel = by.strategies.sortedGroups(), by.found.sortedGroups(), by.roles.sortedGroups(), by.models.sortedGroups()
	f.Failures, f.Gates = mostFrequent(failures), sortedByFailures(gates)
	slices.SortStableFunc(f.Slowest, func(a, b TaskListItem) int { return cmp.Compare(b.Seconds, a.Seconds) })
	slices.Reverse(f.Failed)
	slices.Reverse(f.Retried)
	for _, list := range []*[]TaskListItem{&f.Slowest, &f.Failed, &f.Retried} {
		*list = (*list)[:min(len(*list), most)]
	}
	return f
}

// TaskDimensions returns the properties by which tasks are grouped, with the groups.
func (f RunHistoryStatistics) TaskDimensions() []TaskGroupingProperty {
	return []TaskGroupingProperty{
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

// TaskGroupingProperty is a property by which tasks are grouped.
type TaskGroupingProperty struct {
	Name   string
	Groups []TaskGroupStatistics
}

// addTask adds a task to its groups.
func (b *taskGroupTables) addTask(r RunRecord, t TaskRecord) {
	whole := t.totalUse()
	if r.Repo != "" {
		b.repos.groupNamed(r.Repo).addTask(t, whole)
	}
	b.kinds.groupNamed(string(t.Kind)).addTask(t, whole)
	b.stacks.groupNamed(t.Stack).addTask(t, whole)
	b.tiers.groupNamed(string(t.Tier)).addTask(t, whole)
	b.strategies.groupNamed(cmp.Or(string(t.Strategy), "none")).addTask(t, whole)
	if t.FoundBy != "" {
		b.found.groupNamed(t.FoundBy).addTask(t, whole)
	}
	roles, models := map[string]RoleUsage{}, map[string]RoleUsage{}
	for _, u := range t.Uses {
		roles[string(u.Role)] = roles[string(u.Role)].addUse(u)
		models[u.Model] = models[u.Model].addUse(u)
	}
	for name, u := range roles {
		b.roles.groupNamed(name).addTask(t, u)
	}
	for name, u := range models {
		b.models.groupNamed(name).addTask(t, u)
	}
}

func (u RoleUsage) addUse(o RoleUsage) RoleUsage {
	return RoleUsage{Sessions: u.Sessions + o.Sessions, Seconds: u.Seconds + o.Seconds, Tokens: u.Tokens + o.Tokens, Money: u.Money + o.Money}
}

// totalUse returns the time and cost of a task over all roles.
func (t TaskRecord) totalUse() RoleUsage {
	var u RoleUsage
	for _, o := range t.Uses {
		u.Tokens += o.Tokens
	}
	u.Seconds, u.Money = t.Seconds, t.Money
	return u
}

// addToLists adds a task to its lists.
func (f *RunHistoryStatistics) addToLists(r RunRecord, t TaskRecord) {
	if len(t.Tries) == 0 {
		return
	}
	item := TaskListItem{
		Repo: r.Repo, Run: r.ID, Task: t.ID, Title: t.Title, Status: t.Status, Attempts: len(t.Tries), Rounds: t.Rounds,
		Seconds: roundSeconds(t.Seconds), Money: t.Money, Why: t.Why,
	}
	f.Slowest = append(f.Slowest, item)
	if t.Status == nexus.Failed || t.Status == nexus.Parked {
		f.Failed = append(f.Failed, item)
	}
	if len(t.Tries) > 1 {
		f.Retried = append(f.Retried, item)
	}
}

// roundSeconds rounds seconds to the nearest integer.
func roundSeconds(seconds float64) int64 { return int64(math.Round(seconds)) }

// countFailures counts the reasons for the end of a task's attempts.
func countFailures(all map[string]*FailureGroup, run nexus.RunID, t TaskRecord) {
	seen := map[string]bool{}
	for _, a := range t.Tries {
		if a.Failure == "" {
			continue
		}
		f := all[a.Failure]
		if f == nil {
			f = &FailureGroup{Signature: a.Failure}
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

func mostFrequent(all map[string]*FailureGroup) []FailureGroup {
	out := []FailureGroup{}
	for _, f := range all {
		out = append(out, *f)
	}
	slices.SortStableFunc(out, func(a, b FailureGroup) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(b.Money, a.Money), strings.Compare(a.Signature, b.Signature))
	})
	return out[:min(len(out), most)]
}

func addGateUsage(all map[string]*GateStatistics, g GateUsage) {
	if all[g.Name] == nil {
		all[g.Name] = &GateStatistics{Name: g.Name}
	}
	o := all[g.Name]
	o.Judged, o.Failed, o.Seconds = o.Judged+g.Judged, o.Failed+g.Failed, o.Seconds+g.Seconds
}

func sortedByFailures(all map[string]*GateStatistics) []GateStatistics {
	out := []GateStatistics{}
	for _, g := range all {
		g.Seconds /= float64(max(1, g.Judged))
		out = append(out, *g)
	}
	slices.SortStableFunc(out, func(a, b GateStatistics) int {
		return cmp.Or(cmp.Compare(b.Failed, a.Failed), strings.Compare(a.Name, b.Name))
	})
	return out
}

// taskGroupsByName are groups of tasks by name.
type taskGroupsByName map[string]*TaskGroupStatistics

func (g taskGroupsByName) groupNamed(name string) *TaskGroupStatistics {
	if g[name] == nil {
		g[name] = &TaskGroupStatistics{Name: name}
	}
	return g[name]
}

// sortedGroups returns the groups, the largest first.
func (g taskGroupsByName) sortedGroups() []TaskGroupStatistics {
	all := []TaskGroupStatistics{}
	for _, one := range g {
		one.computeRates()
		all = append(all, *one)
	}
	slices.SortStableFunc(all, func(a, b TaskGroupStatistics) int {
		return cmp.Or(cmp.Compare(b.Tasks, a.Tasks), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// addTask adds a task, and its time and cost u.
func (g *TaskGroupStatistics) addTask(t TaskRecord, u RoleUsage) {
	if t.Status != nexus.Split { // its parts count
		g.Tasks++
	}
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
		g.took = append(g.took, roundSeconds(u.Seconds))
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

// costPerLanded returns the cost per landed task, including tasks that did not land, or 0 if none
// did.
func costPerLanded(spent nexus.Money, landed int) nexus.Money {
	if landed == 0 {
		return 0
	}
	return spent / nexus.Money(landed)
}

func (g *TaskGroupStatistics) computeRates() {
	g.FirstPass = shareOf(g.first, g.begun)
	g.PerLanded = costPerLanded(g.Money, g.Landed)
	if len(g.took) > 0 {
		slices.Sort(g.took)
		g.Seconds = g.took[len(g.took)/2]
	}
}

func shareOf(n, of int) float64 { return float64(n) / float64(max(1, of)) }

// estimateAccuracyCounter collects the data of an [EstimateAccuracy].
type estimateAccuracyCounter struct {
	EstimateAccuracy

	inside, paidInside int
	ratios, paid       []float64
}

func (a *estimateAccuracyCounter) addTask(t TaskRecord) {
	if t.Status != nexus.Landed || t.Estimate == nil {
		return
	}
	e := t.Estimate
	took := roundSeconds(t.Seconds)
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
	a.paid = append(a.paid, t.Money.Dollars()/e.Likely.Money.Dollars())
}

func (a *estimateAccuracyCounter) computeAccuracy() EstimateAccuracy {
	a.Inside, a.Ratio = shareOf(a.inside, a.Tasks), medianOf(a.ratios)
	a.PaidInside, a.PaidRatio = shareOf(a.paidInside, a.Paid), medianOf(a.paid)
	return a.EstimateAccuracy
}

// medianOf returns the median, or 0 for an empty list.
func medianOf(all []float64) float64 {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[len(all)/2]
}
