package worker

import (
	"context"
	"errors"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// EarlierPassedCommand is a command that passed on an earlier tree.
type EarlierPassedCommand struct {
	gate.QualityGate
	As  string // name of its gate at that time, whose network access it has
	Why string // meaning of a red result
}

// RunEarlierCommands runs old commands on the tree of a commit, one after the other as long as
// the time lasts, and records the results. A red one is run twice. Known results for that tree
// are reused.
func (b *BaseCommitJudge) RunEarlierCommands(ctx context.Context, s *TreeJudge, commit string, old []EarlierPassedCommand, within time.Duration, d AttemptFactRecorder) ([]nexus.GateEvidence, error) {
	done, err := b.waitForTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if b.known == nil {
		b.createMaps()
	}
	hash, err := s.Trees.PrivateRepo().TreeID(ctx, commit)
	if err != nil {
		return nil, err
	}
	tree, err := b.ensureWorktree(ctx, s, commit, hash)
	if err != nil {
		return nil, err
	}
	if err := s.Kit.EquipTree(ctx, dependencies.ExactTreeDir{Dir: tree.Dir, Hash: hash}, s.Gates, nil, true, d.Record); err != nil {
		return nil, err
	}
	r, err := s.GateRunner(tree, hash)
	if err != nil {
		return nil, err
	}
	r.Reached, r.Starts = RecordHosts(ctx, d, ""), RecordGateStart(ctx, d, nexus.GateStarted{Base: true})
	end := s.Site.Now().Add(within)
	var all []nexus.GateEvidence
	for _, o := range old {
		if e, ok := d.Known(ctx, hash, o.Name); ok && e.Command == o.Command() {
			all = append(all, e)
			continue
		}
		left := end.Sub(s.Site.Now())
		if within > 0 && left < time.Second {
			break
		}
		e, err := o.runWithRetry(ctx, r, gate.JudgedTreeDir{Dir: tree.Dir, Hash: hash}, s, left)
		if err != nil {
			return all, errors.Join(err, tree.Reset(context.WithoutCancel(ctx), hash))
		}
		if err := d.Record(ctx, nexus.GateJudged{Base: true, Evidence: e}); err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

// runWithRetry runs a command, and once more if it is red.
func (o EarlierPassedCommand) runWithRetry(ctx context.Context, r gate.GateRunner, t gate.JudgedTreeDir, s *TreeJudge, left time.Duration) (nexus.GateEvidence, error) {
	r.Net = func(string) *egress.CommandNetworkAccess { return s.Site.Net.GatewayForGate(o.As) }
	if left > 0 && (s.GateTime <= 0 || left < s.GateTime) {
		o.Timeout = left
	}
	e, err := r.RunGate(ctx, t, o.QualityGate)
	if err != nil || e.State != nexus.Fail {
		return e, err
	}
	again, err := r.RunGate(ctx, t, o.QualityGate)
	switch {
	case err != nil:
		return e, err
	case again.State == nexus.Pass:
		e.State, e.Why = nexus.Flaky, "it failed, and passed when it was tried again"
	case again.State == nexus.Fail:
		e.Why = o.Why
	default:
		e = again
	}
	return e, nil
}
