package app

import (
	"context"
	"reflect"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// Limits of the history: the newest runs, up to a number of them and up to a number of events
// together.
const (
	pastRuns   = 50
	pastEvents = 200_000
)

// forEachRecentRun calls see with the newest runs of the repository, the newest first. It skips
// runs that cannot be replayed.
func forEachRecentRun(ctx context.Context, j *journal.Journal, see func(*state.State)) error {
	runs, err := j.Runs(ctx)
	if err != nil {
		return err
	}
	events := int64(0)
	for i := len(runs) - 1; i >= 0 && len(runs)-i <= pastRuns; i-- {
		if events += runs[i].Events; events > pastEvents {
			break
		}
		s, err := state.ReplayRun(runs[i].ID, j.Events(ctx, runs[i].ID, 0))
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			continue // nexus journal verify reports the damage
		}
		see(s)
	}
	return nil
}

// earlierChecks returns the passed checks of the work that the newest runs, except one, landed.
func earlierChecks(ctx context.Context, j *journal.Journal, but nexus.RunID) ([]accept.EarlierRunCheck, error) {
	var all []accept.EarlierRunCheck
	err := forEachRecentRun(ctx, j, func(s *state.State) {
		if s.Run != but {
			all = append(all, accept.EarlierChecks(s)...)
		}
	})
	return all, err
}

// RecentRunStatistics summarizes the newest runs of the repository, except one.
func RecentRunStatistics(ctx context.Context, j *journal.Journal, but nexus.RunID) (*route.PastRunStatistics, error) {
	var h route.PastRunStatistics
	add := func(s *state.State) {
		if s.Run != but {
			h.AddRun(s)
		}
	}
	if err := forEachRecentRun(ctx, j, add); err != nil {
		return nil, err
	}
	return &h, nil
}

// PastWorkOnFindings returns the results of findings that runs of the repository worked on.
func PastWorkOnFindings(ctx context.Context, j *journal.Journal) (discoveredwork.PastWorkRecord, error) {
	var runs []*state.State
	if j != nil {
		if err := forEachRecentRun(ctx, j, func(s *state.State) { runs = append(runs, s) }); err != nil {
			return discoveredwork.PastWorkRecord{}, err
		}
	}
	slices.Reverse(runs)
	return discoveredwork.SummarizePastWork(runs), nil
}

// estimateStats summarizes the newest runs of the repository for estimates: those that count,
// if lessons are learned from them at all.
func (p *Repository) estimateStats(ctx context.Context, c config.Config) (*route.PastRunStatistics, error) {
	if !c.Lessons.Enabled {
		return &route.PastRunStatistics{}, nil
	}
	since, err := p.lessonResets()
	if err != nil {
		return nil, err
	}
	var h route.PastRunStatistics
	err = forEachRecentRun(ctx, p.Journal, func(s *state.State) {
		if !s.Started.Before(since[nexus.EstimateLesson]) {
			h.AddRun(s)
		}
	})
	return &h, err
}

// startTierRules returns the start tiers from the settings and the lessons. Untested is true if the
// repository has no test.
func startTierRules(c config.Config, learned *nexus.RunLessons, untested bool) nexus.StartTierRules {
	order := c.Routing.Order
	for _, p := range c.Plugins {
		if slices.Contains(p.Kinds, string(nexus.PluginRouter)) {
			order = route.PutPluginsFirst(order)
			break
		}
	}
	r := nexus.StartTierRules{Order: order, Tiers: c.Routing.Tiers, Kinds: c.Routing.Kinds, Untested: untested, Lessons: learned}
	if s := nexus.WritingStrategy(c.Routing.Strategy); s.IsKnown() {
		r.Strategy = s
	}
	return r
}

// resumeLimits returns the new limits of a resumed run, nil if nothing changes. A limit is new if a
// flag sets it now, or if no flag can set it and the present configuration has another value. All
// others stay as they were when the run started.
func resumeLimits(ctx context.Context, a *App, p *Repository, c config.Config, run nexus.RunID) (*nexus.Limits, error) {
	s, err := p.Replay(ctx, run)
	if err != nil {
		return nil, err
	}
	l := s.Limits
	l.DayMoney, l.RoleMoney, l.ProviderMoney, l.RunTokens = c.Limits.DayMoney, c.Limits.RoleMoney, c.Limits.ProviderMoney, c.Limits.RunTokens
	l.Fixes, l.Points = c.Limits.Fixes, c.Limits.Points
	l.Alerts = c.Limits.Alerts // another person may be available now
	for key := range a.Set {
		switch key {
		case "budget.run":
			l.RunMoney = max(c.Limits.RunMoney-s.Goal.Planning, 0)
		case "limits.run_time":
			l.RunTime = c.Limits.RunTime
		case "limits.parallel":
			l.Parallel = c.Limits.Parallel
		case "step":
			l.Step = c.Limits.Step
		case "approval":
			l.Approval = c.Limits.Approval
		case "review.people":
			l.Review.People = c.Limits.Review.People
		case "review.resolve_fixed":
			l.Review.Fixed = c.Limits.Review.Fixed
		}
	}
	if reflect.DeepEqual(l, s.Limits) {
		return nil, nil //nolint:nilnil // nothing changes
	}
	return &l, nil
}

// windowRuns is the number of newest runs that are searched for the used limits of agent
// programs.
const windowRuns = 10

// QuotaWindows returns the last known limits of agent programs, from the newest runs of the
// repository; nothing outside a repository.
func (a *App) QuotaWindows(ctx context.Context) []state.AccountQuotaWindow {
	p, err := a.OpenRepository(ctx, ReadAccess)
	if err != nil {
		return nil
	}
	defer p.Close()
	if p.Journal == nil {
		return nil // no run exists there
	}
	runs, err := p.Journal.Runs(ctx)
	if err != nil {
		return nil
	}
	var all []state.AccountQuotaWindow
	for _, r := range slices.Backward(runs[max(0, len(runs)-windowRuns):]) {
		s, err := state.ReplayRun(r.ID, p.Journal.Events(ctx, r.ID, 0))
		if err != nil {
			continue // nexus journal verify reports the damage
		}
		for _, w := range s.Windows {
			if !slices.ContainsFunc(all, func(o state.AccountQuotaWindow) bool { return o.Account == w.Account && o.Name == w.Name }) {
				all = append(all, w)
			}
		}
	}
	return all
}
