package attempt

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/depend"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// equip gives a tree, in which a git tree stands, the dependencies that its
// gates need, as they were made. Where it must, that they cannot be had is an
// error: work cannot begin from there.
func (s *Shop) equip(ctx context.Context, t *worktree.Tree, hash string, task nexus.Task, must bool, record func(context.Context, ...nexus.Fact) error) error {
	if s.Kit == nil {
		return nil
	}
	gates, err := s.Gates(t.Dir)
	if err != nil {
		return err
	}
	for _, c := range task.Criteria {
		if g, ok := gate.Accept(c); ok {
			gates = append(gates, g)
		}
	}
	r, err := s.Kit.Prepare(ctx, depend.Tree{Dir: t.Dir, Hash: hash}, gates, true, func(f nexus.EnvironmentPrepared) error { return record(ctx, f) })
	if err != nil {
		return err
	}
	for _, f := range r.Failed {
		if must && f.Need == depend.Sure {
			return f.Error()
		}
	}
	return nil
}
