package app

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriteriaTable returns the known results for the criteria of a run.
func (p *Repository) CriteriaTable(ctx context.Context, s *state.State) (accept.CriteriaTable, error) {
	requests, err := p.eventsWhere(ctx, s.Run, func(f nexus.Fact) bool {
		_, ok := f.(nexus.RequestMade)
		return ok
	})
	return accept.BuildCriteriaTable(s, accept.WaiversFrom(requests)), err
}

// EarlierResults returns the results of the checks that were done before a run began.
func (p *Repository) EarlierResults(ctx context.Context, run nexus.RunID) ([]accept.EarlierRunCheckResult, error) {
	judged, err := p.eventsWhere(ctx, run, func(f nexus.Fact) bool {
		g, ok := f.(nexus.GateJudged)
		return ok && g.Base
	})
	return accept.EarlierResults(judged), err
}

// eventsWhere returns the events of a run whose facts match.
func (p *Repository) eventsWhere(ctx context.Context, run nexus.RunID, matches func(nexus.Fact) bool) (all []nexus.Event, err error) {
	for e, err := range p.Journal.Events(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		if matches(e.Fact) {
			all = append(all, e)
		}
	}
	return all, nil
}
