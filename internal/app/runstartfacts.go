package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// eventIterator is a sequence of journal events.
type eventIterator = iter.Seq2[nexus.Event, error]

// newRunFacts names a new run and returns the facts that begin it; none for a resumed run.
func newRunFacts(ctx context.Context, a *App, p *Repository, c config.Config, o *RunOptions) ([]nexus.Fact, error) {
	if o.Run != "" {
		return nil, nil
	}
	o.Goal.Origin = a.Origin
	begun, err := acceptGoal(ctx, a, p, c, *o)
	if err != nil {
		return nil, err
	}
	o.draw = o.seededRandom()
	if o.Run = o.Name; o.Run == "" {
		o.Run, err = unusedRunID(ctx, p, a.Now(), o.draw)
	}
	return begun, err
}

// startOptions returns the options with which this process starts or resumes the run: the
// spending of other runs today and, if again is true, the present limits.
func startOptions(ctx context.Context, a *App, p *Repository, c config.Config, id nexus.RunID, again bool) (run.StartOptions, error) {
	o := run.StartOptions{Process: journal.CallingProcess(), Reopen: again}
	var err error
	if o.Spent, err = p.Journal.SpentOnDay(ctx, a.Now(), id); err == nil && again {
		o.Limits, err = resumeLimits(ctx, a, p, c, id)
	}
	return o, err
}

// leasedJournal is a run's part of the journal while this process holds its lease.
type leasedJournal struct {
	*journal.Lease
	journal *journal.Journal
	run     nexus.RunID
	pin     func(ctx context.Context, f nexus.Fact) // receives recorded checkpoints
}

// Append implements [run.Journal]. It pins the commits of checkpoints at once. If the process
// is killed in between, the one that resumes the run pins them.
func (h leasedJournal) Append(ctx context.Context, facts ...nexus.Fact) ([]nexus.Event, error) {
	events, err := h.Lease.Append(ctx, facts...)
	if err != nil {
		return events, err
	}
	for _, f := range facts {
		h.pin(ctx, f)
	}
	return events, nil
}

// Events implements [run.Journal].
func (h leasedJournal) Events(ctx context.Context, after int64) eventIterator {
	return h.journal.Events(ctx, h.run, after)
}

// acceptGoal returns the facts that begin a run.
func acceptGoal(ctx context.Context, a *App, p *Repository, c config.Config, o RunOptions) ([]nexus.Fact, error) {
	commit, branch, err := p.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	if c.Target != "" {
		if branch, err = p.ResolveTarget(ctx, c.ProtectedBranches(), c.Target); err != nil {
			return nil, err
		}
		if commit, err = p.Repo.Resolve(ctx, "refs/heads/"+branch); err != nil {
			return nil, err
		}
	}
	learned, err := a.newRunLessons(ctx, p, c)
	if err != nil {
		return nil, err
	}
	if c, err = applyLearnedGateOrder(p.Repo.Work, c, learned); err != nil {
		return nil, err
	}
	gates, err := gateNames(p, c)
	if err != nil {
		return nil, err
	}
	if err := o.addPlanningCost(ctx, p); err != nil {
		return nil, err
	}
	c.Limits.RunMoney = max(c.Limits.RunMoney-o.Spent, 0)
	c.Limits.Items = cmp.Or(o.Items, c.Limits.Items)
	past, err := p.estimateStats(ctx, c)
	if err != nil {
		return nil, err
	}
	price, err := a.modelPrices(c, o.tap)
	if err != nil {
		return nil, err
	}
	if c.Limits.Batch, err = a.tasksPerSession(c, o.tap); err != nil {
		return nil, err
	}
	files, err := p.Repo.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	untested := !slices.ContainsFunc(strings.Split(files, "\x00"), stack.IsTest)
	routing := startTierRules(c, learned, untested)
	routing.Experience = past.EstimateBasis(price)
	facts := []nexus.Fact{nexus.GoalAccepted{
		Goal: o.Goal, Base: commit, Target: branch, Land: c.Land, Limits: c.Limits, Gates: gates, Routing: routing, Planning: o.Spent,
		Consent: o.Consent, Asked: o.Asked,
	}}
	if o.Checked != nil {
		facts = append(facts, *o.Checked)
	}
	for _, d := range o.Refused {
		offer, err := planFacts(p, &nexus.Plan{
			Version: plan.Version, Goal: d.Goal, Tasks: d.Tasks, Assumptions: d.Assumed, Foreseen: d.Foreseen,
		})
		if err != nil {
			return nil, err
		}
		facts = append(append(facts, offer...), nexus.PlanRejected{Why: d.Why, By: d.By})
	}
	for _, r := range o.Added {
		facts = append(facts, nexus.RequestMade{Request: r})
	}
	if o.Plan == nil {
		return facts, nil
	}
	offer, err := planFacts(p, o.Plan)
	return append(facts, offer...), err
}

// planFacts returns the facts that propose a plan.
func planFacts(p *Repository, made *nexus.Plan) ([]nexus.Fact, error) {
	hash, err := storePlan(p, made)
	if err != nil {
		return nil, err
	}
	facts := []nexus.Fact{nexus.PlanProposed{
		Plan: hash, Tasks: len(made.Tasks), Cover: made.Cover, Assumptions: made.Assumptions, Foreseen: made.Foreseen,
	}}
	for _, t := range made.Tasks {
		facts = append(facts, nexus.TaskPlanned{Task: t})
	}
	return facts, nil
}

// unusedRunID returns the name of a new run. A seed draws the same names again, and no two runs
// may share one.
func unusedRunID(ctx context.Context, p *Repository, now time.Time, draw func(string) uint64) (nexus.RunID, error) {
	all, err := p.Runs(ctx)
	if err != nil {
		return "", err
	}
	for {
		id := newRunID(now, draw)
		if !slices.ContainsFunc(all, func(r journal.RecordedRun) bool { return r.ID == id }) {
			return id, nil
		}
	}
}

// gateNames returns the names of the gates that check the work, in their order, without those
// of submodules.
func gateNames(p *Repository, c config.Config) ([]string, error) {
	all, err := detect.DetectGates(p.Repo.Work, c.Gates)
	err = cmp.Or(detect.CheckPackages(p.Repo.Work, c.Gates), err)
	all = slices.DeleteFunc(all, func(g gate.QualityGate) bool {
		for dir := filepath.Clean(g.Dir); filepath.IsLocal(dir) && dir != "."; dir = filepath.Dir(dir) {
			if _, err := os.Lstat(filepath.Join(p.Repo.Work, dir, ".git")); err == nil {
				return true
			}
		}
		return false
	})
	names := make([]string, len(all))
	for i, g := range all {
		names[i] = g.Name
	}
	return names, err
}

// storePlan stores a plan as a blob.
func storePlan(p *Repository, made *nexus.Plan) (string, error) {
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(made); err != nil {
		return "", &nexus.Error{Code: nexus.CodeInternal, Message: "encode the plan", Cause: err}
	}
	store, err := p.OpenBlobStore()
	if err != nil {
		return "", err
	}
	return store.Put(b.Bytes())
}
