package local

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/work/shop"
)

// accept lets every command that shows a criterion of a task that landed judge
// the last tree, one by one: a task that landed later may have undone what one
// before had shown. None keeps another from being judged.
func (w *World) accept(ctx context.Context, c shop.Case, v state.View, evidence []nexus.Evidence, d run.Desk) ([]nexus.Evidence, error) {
	done := map[string]bool{}
	for _, t := range v.Landed {
		for _, criterion := range t.Criteria {
			gate, command := accept.Gate(criterion)
			if !command || done[gate] {
				continue
			}
			done[gate] = true
			c.Task = nexus.Task{Criteria: []nexus.Criterion{criterion}}
			all, err := w.Shop.Judge(ctx, c, d)
			if err != nil {
				return nil, err
			}
			for _, e := range all {
				if e.Gate == gate {
					evidence = append(evidence, e)
				}
			}
		}
	}
	return evidence, nil
}
