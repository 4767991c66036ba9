package worker

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TryCommands runs commands on a base, one after the other, each for at most as long as a gate
// may take, and at most each. None begins after the time for all. Told receives each result.
// The commands are not approved yet: without a sandbox, only those run that the policy allows
// a planner to run.
func (b *BaseCommitJudge) TryCommands(ctx context.Context, s *TreeJudge, of JudgedBaseCommit, gates []gate.QualityGate, each, all time.Duration, told func(nexus.GateEvidence) error, d AttemptFactRecorder) error {
	done, err := b.waitForTurn(ctx)
	if err != nil {
		return err
	}
	defer done()
	if b.known == nil {
		b.createMaps()
	}
	hash, err := s.Trees.PrivateRepo().TreeID(ctx, of.Commit)
	if err != nil {
		return err
	}
	tree, err := b.ensureWorktree(ctx, s, of.Commit, hash)
	if err != nil {
		return err
	}
	if err := s.Kit.EquipTree(ctx, dependencies.ExactTreeDir{Dir: tree.Dir, Hash: hash}, s.Gates, nil, true, d.Record); err != nil {
		return err
	}
	r, err := s.GateRunner(tree, hash)
	if err != nil {
		return err
	}
	r.Reached, r.Starts = RecordHosts(ctx, d, ""), of.recordGateStart(ctx, d)
	end := s.Site.Now().Add(all)
	for _, g := range gates {
		if !s.Site.Now().Before(end) {
			break
		}
		if !s.mayRunCommand(g, tree.Dir) {
			continue
		}
		if g.Timeout = each; s.GateTime > 0 {
			g.Timeout = min(each, s.GateTime)
		}
		e, err := runWithRetry(ctx, r, gate.JudgedTreeDir{Dir: tree.Dir, Hash: hash}, g)
		if err != nil {
			return errors.Join(err, tree.Reset(context.WithoutCancel(ctx), hash))
		}
		if err := told(e); err != nil {
			return err
		}
	}
	return nil
}

// runWithRetry runs a command, and once more if only tests failed: an accidental failure
// proves nothing when it passes.
func runWithRetry(ctx context.Context, r gate.GateRunner, t gate.JudgedTreeDir, g gate.QualityGate) (nexus.GateEvidence, error) {
	e, err := r.RunGate(ctx, t, g)
	other := func(f nexus.Finding) bool { return f.Test == "" }
	if err != nil || e.State != nexus.Fail || len(e.Findings) == 0 || slices.ContainsFunc(e.Findings, other) {
		return e, err
	}
	again, err := r.RunGate(ctx, t, g)
	if err == nil && again.State == nexus.Pass {
		e.State, e.Why = nexus.Flaky, "it failed, and passed when it was tried again"
	}
	return e, err
}

func (j *TreeJudge) mayRunCommand(g gate.QualityGate, dir string) bool {
	if j.Site.Box.Name() != string(sandbox.ModeOff) {
		return true
	}
	rules := j.Site.policyRules(nexus.Planner)
	rules.Dir, rules.Open = dir, true // as for the planner's own commands
	return policy.JudgeCommand(g.Command(), rules).IsAllowed()
}
