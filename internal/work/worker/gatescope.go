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

// gateJudgementScope is the part of a tree that the gates judge: the changes since its base, and the
// packages that these may break.
type gateJudgementScope struct {
	changed  []string
	effect   monorepo.AffectedPackages
	criteria []nexus.Criterion
	apart    func(gate.QualityGate) string // why a gate does not apply to the change; nil: all apply
}

// newGateScope returns the part of a tree that the gates judge.
func (j *TreeJudge) newGateScope(ctx context.Context, c TreeJudgeRequest) (s gateJudgementScope, err error) {
	if c.Base == "" {
		return s, nil
	}
	if s.changed, err = j.changedFiles(ctx, c.Base, c.Hash); err != nil {
		return s, err
	}
	s.criteria = slices.Concat(c.Task.Criteria, c.Checks)
	if !j.Everywhere && !c.Whole {
		s.effect = monorepo.ReadPackageGraph(os.DirFS(c.Tree.Dir)).AffectedBy(s.changed)
	}
	s.apart = s.skipReason
	return s, nil
}

// skipReason returns why a gate does not apply to the change.
func (s gateJudgementScope) skipReason(g gate.QualityGate) string {
	if why := gate.UnaffectedReason(g, s.changed, s.criteria); why != "" {
		return why
	}
	named := func(c nexus.Criterion) bool { return strings.TrimSpace(c.Check) == g.Name }
	if slices.ContainsFunc(s.criteria, named) {
		return ""
	}
	if g.BuildsPackage() && s.effect.IsDependencyOfAffected(g.Dir) {
		return ""
	}
	return s.effect.UnaffectedReason(g.Dir)
}

// sortByDistance sorts consecutive gates of the same step in several packages: those of changed packages
// first, then those of their dependents.
func (s gateJudgementScope) sortByDistance(gates []gate.QualityGate) []gate.QualityGate {
	return gate.SortByDistance(gates, s.effect.StepsFromChange)
}
