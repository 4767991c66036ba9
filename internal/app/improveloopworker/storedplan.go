package improveloopworker

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// storePlan stores the plan that fixes a finding, in the form in which it is read from a
// person's file.
func (h *LocalLoopExecutor) storePlan(f discoveredwork.WorkFinding) (string, error) {
	size := h.config.Limits.Size
	data, err := json.Marshal(f.PlanForFinding(size.Minutes))
	if err != nil {
		return "", err
	}
	made, err := plan.LoadPlan(data, size)
	if err != nil {
		return "", err
	}
	repo := monorepo.ReadPackageGraph(os.DirFS(h.place.Repo.Work))
	if err := plan.AssignPackages(made.Tasks, repo); err != nil {
		return "", err
	}
	plan.SetStartTiers(made.Tasks, repo, h.config.Gates.Packages)
	made.Tasks[0].Criteria[0].Red = f.IsRed()
	if data, err = json.Marshal(made); err != nil {
		return "", err
	}
	store, err := h.place.OpenBlobStore()
	if err != nil {
		return "", err
	}
	return store.Put(data)
}

// loadPlan reads a stored plan.
func (h *LocalLoopExecutor) loadPlan(hash string) (*nexus.Plan, error) {
	store, err := h.place.OpenBlobStore()
	if err != nil {
		return nil, err
	}
	data, err := store.Get(hash)
	if err != nil {
		return nil, err
	}
	var made nexus.Plan
	if err := json.Unmarshal(data, &made); err != nil {
		return nil, fmt.Errorf("read the plan of an item: %w", err)
	}
	return &made, nil
}
