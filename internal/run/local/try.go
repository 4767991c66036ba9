package local

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// Limits for the checks of a plan, each time that one is submitted.
const (
	eachTrial = 2 * time.Minute
	allTrials = 10 * time.Minute
)

// try runs the commands of a plan's criteria on the tree that it is made for. Results of
// earlier runs are reused, also by a process that continues after a crash.
func (p *planning) try(ctx context.Context, made nexus.Plan) (accept.Trials, error) {
	own, err := p.Worker.Judge.Gates(p.tree.Dir)
	if err != nil {
		return nil, err
	}
	var open []gate.Gate
	each(made, func(_ nexus.Task, _ int, g gate.Gate) {
		has := func(o gate.Gate) bool { return o.Command() == g.Command() }
		if _, known := p.tried(g); !known && !slices.ContainsFunc(own, func(o gate.Gate) bool { return gate.RunsSameCommand(o, g) }) && !slices.ContainsFunc(open, has) {
			open = append(open, g)
		}
	})
	if len(open) > 0 {
		if err := p.run(ctx, open); err != nil {
			return nil, fmt.Errorf("try the checks of the plan: %w", err)
		}
	}
	around := accept.CheckContext{Tests: detect.RunsTests, Old: p.Worker.Judge.Bases.Known(ctx, p.a.Base), Short: p.Worker.Judge.GateTime <= 0 || p.Worker.Judge.GateTime > eachTrial}
	var all accept.Trials
	each(made, func(t nexus.Task, number int, g gate.Gate) {
		if e, ok := p.tried(g); ok {
			all = append(all, accept.JudgeTrial(t, number, e, around))
		}
	})
	return all, nil
}

// run runs commands and records the result of each.
func (p *planning) run(ctx context.Context, gates []gate.Gate) error {
	spare, stop := p.desk.Spare(ctx, false)
	defer stop()
	of := worker.Base{Commit: p.a.Base, For: nexus.GateStarted{Attempt: p.a.ID}}
	err := p.Worker.Judge.Bases.TryCommands(spare, p.Worker.Judge, of, gates, eachTrial, allTrials, func(e nexus.Evidence) error {
		return p.record(ctx, nexus.CheckTried{Attempt: p.a.ID, Evidence: e})
	}, p.desk)
	if err != nil && spare.Err() != nil {
		err = context.Cause(spare)
	}
	return err
}

// tried returns the result of a command if it has run.
func (p *planning) tried(g gate.Gate) (nexus.Evidence, bool) {
	i := slices.IndexFunc(p.a.Tried, func(e nexus.Evidence) bool { return e.Command == g.Command() })
	if i < 0 {
		return nexus.Evidence{}, false
	}
	return p.a.Tried[i], true
}

// each calls do for each criterion of a plan whose check is a command.
func each(made nexus.Plan, do func(t nexus.Task, number int, g gate.Gate)) {
	for _, t := range made.Tasks {
		for i, c := range t.Criteria {
			if g, ok := detect.Accept(c); ok {
				do(t, i+1, g)
			}
		}
	}
}
