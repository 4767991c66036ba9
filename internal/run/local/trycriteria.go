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

// tryCriteria runs the commands of a plan's criteria on the tree that it is made for. Results of
// earlier runs are reused, also by a process that continues after a crash.
func (p *planningSession) tryCriteria(ctx context.Context, made nexus.Plan) (accept.CommandTrials, error) {
	own, err := p.Worker.Judge.Gates(p.tree.Dir)
	if err != nil {
		return nil, err
	}
	var open []gate.QualityGate
	eachCommandCriterion(made, func(_ nexus.Task, _ int, g gate.QualityGate) {
		has := func(o gate.QualityGate) bool { return o.Command() == g.Command() }
		if _, known := p.triedEvidence(g); !known && !slices.ContainsFunc(own, func(o gate.QualityGate) bool { return gate.RunsSameCommand(o, g) }) && !slices.ContainsFunc(open, has) {
			open = append(open, g)
		}
	})
	if len(open) > 0 {
		if err := p.runGates(ctx, open); err != nil {
			return nil, fmt.Errorf("try the checks of the plan: %w", err)
		}
	}
	around := accept.TrialJudgementContext{Tests: detect.RunsTests, Old: p.Worker.Judge.Bases.Known(ctx, p.a.Base), Short: p.Worker.Judge.GateTime <= 0 || p.Worker.Judge.GateTime > eachTrial}
	var all accept.CommandTrials
	eachCommandCriterion(made, func(t nexus.Task, number int, g gate.QualityGate) {
		if e, ok := p.triedEvidence(g); ok {
			all = append(all, accept.JudgeTrial(t, number, e, around))
		}
	})
	return all, nil
}

// runGates runs commands and records the result of each.
func (p *planningSession) runGates(ctx context.Context, gates []gate.QualityGate) error {
	spare, stop := p.desk.Spare(ctx, false)
	defer stop()
	of := worker.JudgedBaseCommit{Commit: p.a.Base, For: nexus.GateStarted{Attempt: p.a.ID}}
	err := p.Worker.Judge.Bases.TryCommands(spare, p.Worker.Judge, of, gates, eachTrial, allTrials, func(e nexus.GateEvidence) error {
		return p.recordFacts(ctx, nexus.CriterionCommandTried{Attempt: p.a.ID, Evidence: e})
	}, p.desk)
	if err != nil && spare.Err() != nil {
		err = context.Cause(spare)
	}
	return err
}

// triedEvidence returns the result of a command if it has run.
func (p *planningSession) triedEvidence(g gate.QualityGate) (nexus.GateEvidence, bool) {
	i := slices.IndexFunc(p.a.Tried, func(e nexus.GateEvidence) bool { return e.Command == g.Command() })
	if i < 0 {
		return nexus.GateEvidence{}, false
	}
	return p.a.Tried[i], true
}

// eachCommandCriterion calls do for each criterion of a plan whose check is a command.
func eachCommandCriterion(made nexus.Plan, do func(t nexus.Task, number int, g gate.QualityGate)) {
	for _, t := range made.Tasks {
		for i, c := range t.Criteria {
			if g, ok := detect.CriterionGate(c); ok {
				do(t, i+1, g)
			}
		}
	}
}
