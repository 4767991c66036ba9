package app

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/work/backlog"
)

// BacklogStore returns the store of a repository's backlog items.
func (a *App) BacklogStore(p *Repository) backlog.ItemStore {
	return backlog.ItemStore{Repo: p.Repo.Work, State: p.State, Mask: a.Mask.Mask, Now: a.Now}
}

// backlogRunHistory gives the backlog access to the runs of a repository.
type backlogRunHistory struct{ *Repository }

// Record returns the access of the backlog to the runs.
func (p *Repository) Record() backlog.RecordedRunSource { return backlogRunHistory{p} }

// Runs implements [backlog.RecordedRunSource].
func (p backlogRunHistory) Runs(ctx context.Context) ([]nexus.RunID, error) {
	all, err := p.Repository.Runs(ctx)
	ids := make([]nexus.RunID, len(all))
	for i, r := range all {
		ids[i] = r.ID
	}
	return ids, err
}

// Replay implements [backlog.RecordedRunSource].
func (p backlogRunHistory) Replay(ctx context.Context, run nexus.RunID) (*state.State, error) {
	all, err := p.Repository.Runs(ctx)
	if err != nil || !slices.ContainsFunc(all, func(r journal.RecordedRun) bool { return r.ID == run }) {
		return nil, err
	}
	return p.Repository.Replay(ctx, run)
}

// ActiveRun returns the latest run that is in progress and works on tasks; false if there is
// none.
func (p *Repository) ActiveRun(ctx context.Context) (r journal.RecordedRun, ok bool, err error) {
	all, err := p.Runs(ctx)
	if err != nil {
		return r, false, err
	}
	for _, r := range slices.Backward(all) {
		if r.Holder == nil {
			continue
		}
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return r, false, err
		}
		if s.Goal.Goal.Mode.WorksOnTasks() && !s.Status.HasEnded() {
			return r, true, nil
		}
	}
	return r, false, nil
}
