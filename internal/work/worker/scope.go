package worker

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// scope is the part of a tree that the gates judge: the changes since its base, and the
// packages that these may break.
type scope struct {
	changed  []string
	effect   monorepo.Effect
	criteria []nexus.Criterion
	apart    func(gate.Gate) string // why a gate does not apply to the change; nil: all apply
}

// scope returns the part of a tree that the gates judge.
func (j *Judge) scope(ctx context.Context, c JudgeRequest) (s scope, err error) {
	if c.Base == "" {
		return s, nil
	}
	if s.changed, err = j.changed(ctx, c.Base, c.Hash); err != nil {
		return s, err
	}
	s.criteria = slices.Concat(c.Task.Criteria, c.Checks)
	if !j.Everywhere && !c.Whole {
		s.effect = monorepo.Read(os.DirFS(c.Tree.Dir)).Effect(s.changed)
	}
	s.apart = s.spares
	return s, nil
}

// spares returns why a gate does not apply to the change.
func (s scope) spares(g gate.Gate) string {
	if why := gate.UnaffectedReason(g, s.changed, s.criteria); why != "" {
		return why
	}
	named := func(c nexus.Criterion) bool { return strings.TrimSpace(c.Check) == g.Name }
	if slices.ContainsFunc(s.criteria, named) {
		return ""
	}
	if g.Builds() && s.effect.Feeds(g.Dir) {
		return ""
	}
	return s.effect.UnaffectedReason(g.Dir)
}

// near sorts consecutive gates of the same step in several packages: those of changed packages
// first, then those of their dependents.
func (s scope) near(gates []gate.Gate) []gate.Gate { return gate.SortByDistance(gates, s.effect.Steps) }
