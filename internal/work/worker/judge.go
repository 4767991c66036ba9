package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/dependencies"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
)

// TreeJudgeRequest is a tree to be judged, with its context.
type TreeJudgeRequest struct {
	Tree *worktree.AttemptTree
	Hash string // git tree of its contents
	Base string // commit whose failures do not count against it; empty: none
	Task nexus.Task
	Paid bool // accepted work waits for it
	// names of tests that must pass whatever their result on the base
	Wanted []string
	// the tests that the change affects run first, and alone if the others may wait for the
	// landing
	Some bool
	Mark func(nexus.GateJudged) nexus.GateJudged // adds the owner of the judgement

	Goal   string                     // its words may name files, too
	Said   []nexus.RemovalExplanation // explanations in submissions for the removals
	Agreed bool                       // the removals were approved when it was accepted
	// every package is judged, even if the change is not known to break it: this is the last
	// check
	Whole  bool
	Each   bool              // an unmet criterion does not stop the others
	Checks []nexus.Criterion // besides the task's: a gate that is the check of one always runs
}

// gateStartedFact returns the fact that a gate begins to judge the tree.
func (c TreeJudgeRequest) gateStartedFact() nexus.GateStarted {
	of := c.Mark(nexus.GateJudged{})
	return nexus.GateStarted{Attempt: of.Attempt, Task: of.Task}
}

// RecordGateStart records which gates begin, for progress displays.
func RecordGateStart(ctx context.Context, d AttemptFactRecorder, f nexus.GateStarted) func(gate.QualityGate) error {
	return func(g gate.QualityGate) error {
		f.Gate = g.Name
		return d.Record(ctx, f)
	}
}

// RunGates runs the gates on a tree in their order and stops at the first red one. A gate that
// was red on the base for the same reasons is not red. Each result is recorded at once.
//
// It ends when the run releases its workers: gates can be run again for free.
func (j *TreeJudge) RunGates(ctx context.Context, c TreeJudgeRequest, d AttemptFactRecorder) ([]nexus.GateEvidence, error) {
	var evidence []nexus.GateEvidence
	err := RunInterruptible(ctx, d, c.Paid, func(ctx context.Context) error {
		r, gates, done, err := j.prepareGates(ctx, c, d)
		if evidence = done; err != nil || evidence != nil {
			return err
		}
		v, err := r.RunAll(ctx, gate.JudgedTreeDir{Dir: c.Tree.Dir, Hash: c.Hash}, gates, knownEvidence(ctx, d))
		if evidence = v.Evidence; err != nil {
			return err
		}
		evidence, err = j.addMeasurements(ctx, c, gates, evidence, r.Base, d)
		return err
	})
	return evidence, err
}

// addMeasurements adds the meter's results for a tree that the gates judged.
func (j *TreeJudge) addMeasurements(ctx context.Context, c TreeJudgeRequest, gates []gate.QualityGate, evidence []nexus.GateEvidence, base func(string) (nexus.GateEvidence, bool), d AttemptFactRecorder) ([]nexus.GateEvidence, error) {
	evidence, taken := j.Meter.ExtractMeasurements(gates, evidence, base)
	done, err := j.checkDefinitionOfDone(ctx, c, evidence, taken, d)
	return append(evidence, done...), err
}

// prepareGates returns the runner of the gates on a tree, and the gates. Evidence is the reason if
// the tree is red before any gate runs.
func (j *TreeJudge) prepareGates(ctx context.Context, c TreeJudgeRequest, d AttemptFactRecorder) (r gate.GateRunner, gates []gate.QualityGate, evidence []nexus.GateEvidence, err error) {
	// ignored files do not land, so they must not help here
	if err := c.Tree.ResetExactly(ctx, c.Hash); err != nil {
		return r, nil, nil, err
	}
	spared, e, red, err := j.findForbiddenChange(ctx, c)
	if red && err == nil {
		err = d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: e}))
	}
	if red || err != nil {
		return r, nil, []nexus.GateEvidence{e}, err
	}
	if err := j.recordCriticalFiles(ctx, c, d); err != nil {
		return r, nil, nil, err
	}
	gates, err = j.Gates(c.Tree.Dir)
	scope, wrong := j.newGateScope(ctx, c)
	if err := errors.Join(err, wrong); err != nil {
		return r, nil, nil, err
	}
	apart := scope.apart
	var base map[string]nexus.GateEvidence
	if c.Base != "" {
		if gates, base, err = j.Bases.JudgeOnBase(ctx, j, JudgedBaseCommit{c.Base, c.gateStartedFact()}, j.Meter.AppendMeasuringGates(gates, gates, c.Task.ID == ""), apart, d); err != nil {
			return r, nil, nil, fmt.Errorf("judge the base: %w", err)
		}
	}
	if err := j.Kit.EquipTree(ctx, dependencies.ExactTreeDir{Dir: c.Tree.Dir, Hash: c.Hash}, j.Gates, c.Task.Criteria, false, d.Record); err != nil {
		return r, nil, nil, err
	}
	if r, err = j.GateRunner(c.Tree, c.Hash); err != nil {
		return r, nil, nil, err
	}
	r.Reached, r.Quarantine = RecordHosts(ctx, d, c.Mark(nexus.GateJudged{}).Attempt), spared
	if e, red := j.Kit.EnvironmentOfTree(c.Tree.Dir).InstallFaultEvidence(c.Hash); red && c.Base != "" {
		return r, nil, []nexus.GateEvidence{e}, d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: e}))
	}
	r.Each = c.Each
	r.Wanted = append(accept.TaskTexts(c.Task), c.Wanted...)
	for _, criterion := range c.Task.Criteria {
		if g, ok := detect.CriterionGate(criterion); ok {
			gates = append(gates, g)
		}
	}
	if c.Base != "" {
		if r.Origin, err = j.Bases.originTreeOfBase(ctx, j, c.Base, c.Hash, r.Reached); err != nil {
			return r, nil, nil, fmt.Errorf("judge the base: %w", err)
		}
		gates, r.Later = j.addRelatedTests(c, r.Origin.Changed, gates, base)
		gates = j.Meter.AppendMeasuringGates(scope.sortByDistance(gates), gates, c.Task.ID == "")
	}
	gates = append(gates, j.pipelineStepGates(c)...)
	r.Apart = apart
	r.Moved = j.movedLinesFunc(c.Base, c.Hash)
	r.Base = func(name string) (nexus.GateEvidence, bool) { e, ok := base[name]; return e, ok }
	r.Starts = RecordGateStart(ctx, d, c.gateStartedFact())
	r.Judged = func(e nexus.GateEvidence, cached bool) error {
		return d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: e, Cached: cached}))
	}
	return r, gates, nil, nil
}

// movedLinesFunc returns a function that maps the lines of a base to a tree; nil if there is
// no base.
func (j *TreeJudge) movedLinesFunc(base, hash string) func(context.Context) (gate.TreeLineMapping, error) {
	if base == "" {
		return nil
	}
	var once sync.Once
	var moves gate.TreeLineMapping
	var err error
	return func(ctx context.Context) (gate.TreeLineMapping, error) {
		once.Do(func() {
			var patch string
			patch, err = j.Trees.PrivateRepo().PatchWithRenames(ctx, base, hash)
			moves = gate.ParseLineMoves(patch)
		})
		return moves, err
	}
}

// addRelatedTests returns the gates with those that run the affected tests, if these come
// first, and whether the others may wait. If all tests hang on the base, the selected ones are
// the only ones with a result.
func (j *TreeJudge) addRelatedTests(c TreeJudgeRequest, changed []string, gates []gate.QualityGate, base map[string]nexus.GateEvidence) (all []gate.QualityGate, later bool) {
	hung := slices.ContainsFunc(gates, func(g gate.QualityGate) bool { return g.Tests && base[g.Name].HasHung() })
	if !c.Some && !hung || j.Related != RelatedPerTask && j.Related != RelatedDeferred {
		return gates, false
	}
	return testselection.InsertRelatedGates(gates, testselection.ChooseRelatedTests(c.Tree.Dir, changed, gates)), c.Some && j.Related == RelatedDeferred
}

// changedFiles returns the files in which two commits or trees differ.
func (j *TreeJudge) changedFiles(ctx context.Context, from, to string) (files []string, err error) {
	changes, err := j.Trees.PrivateRepo().ChangedFiles(ctx, from, to)
	for _, c := range changes {
		files = append(files, c.Path)
	}
	return files, err
}

// HasPendingTests reports whether tests of an accepted tree may not have run yet.
func (j *TreeJudge) HasPendingTests(ctx context.Context, tree string, d AttemptFactRecorder) bool {
	if j.Related == RelatedDeferred {
		return true
	}
	some, first := d.Known(ctx, tree, testselection.Name)
	_, all := d.Known(ctx, tree, "test")
	return first && some.Passed() && !all // the run was started in another mode
}

// RecordHosts records the hosts that a gate requested.
func RecordHosts(ctx context.Context, d AttemptFactRecorder, of nexus.AttemptID) func(string, []nexus.RequestedHost) error {
	return func(gate string, asked []nexus.RequestedHost) error {
		return d.Record(ctx, nexus.NetworkRequestsRecorded{Attempt: of, Gate: gate, Hosts: asked})
	}
}

func knownEvidence(ctx context.Context, d AttemptFactRecorder) func(tree, gate string) (nexus.GateEvidence, bool) {
	return func(tree, gate string) (nexus.GateEvidence, bool) { return d.Known(ctx, tree, gate) }
}

// GateRunner returns a runner of gates on a tree, which it restores after each.
func (j *TreeJudge) GateRunner(t *worktree.AttemptTree, hash string) (gate.GateRunner, error) {
	return j.newGateRunner(t, hash, filepath.Join(filepath.Dir(t.Dir), "gates"))
}

func (j *TreeJudge) newGateRunner(t *worktree.AttemptTree, hash, cache string) (gate.GateRunner, error) {
	setup, err := j.gateCaches().PrepareGoCaches(t.Dir, cache, filepath.Join(cache, "own"))
	if err != nil {
		return gate.GateRunner{}, err
	}
	return gate.GateRunner{
		Box: j.Site.Box, Net: j.Site.Net.GatewayForGate, Put: j.Site.Blobs.Put, Get: j.Site.Blobs.Get,
		Env: setup.Env, Readable: setup.Readable, Writable: setup.Writable,
		Mask: j.Site.Mask, Timeout: j.GateTime, Mark: j.Site.processOwner(t), Versions: j.Versions,
		Own: func(g gate.QualityGate) (gate.ToolRequirements, func() error, error) {
			setup, done, err := j.gateCaches().CachesForGate(t.Dir, cache, g)
			setup.Env = j.Kit.EnvironmentOfTree(t.Dir).CommandVars(g.Dir, setup.Env)
			return setup, done, err
		},
		Reset: func(ctx context.Context, bare bool) error {
			if bare {
				return errors.Join(t.ResetExactly(ctx, hash), j.Kit.ResetTree(ctx, t.Dir))
			}
			return errors.Join(t.Reset(ctx, hash), j.Kit.ResetTree(ctx, t.Dir))
		},
		Wrote: func(ctx context.Context) (w gate.WrittenFiles, err error) {
			_, now, err := t.Snapshot(ctx, "nexus: after a gate")
			if err != nil || now == hash {
				return w, err
			}
			changes, err := t.ChangedFiles(ctx, hash, now)
			for _, c := range changes {
				if c.Status == "A" {
					w.Added = append(w.Added, c.Path)
				} else {
					w.Changed = append(w.Changed, c.Path)
				}
			}
			return w, err
		},
		Ground: func(ctx context.Context) ([]string, func() error, error) { return t.ExposeGateRepo(ctx, hash) },
		Ignored: func(ctx context.Context, paths []string) (map[string]string, error) {
			rules, err := t.IgnoreRules(ctx, paths)
			all := map[string]string{}
			for p, rule := range rules {
				all[p] = rule.String()
			}
			return all, err
		},
		CI:          j.CI,
		Environment: j.Kit.EnvironmentOfTree(t.Dir).Key, Lacks: j.Kit.EnvironmentOfTree(t.Dir).MissingDependencyReason,
	}, nil
}

func (j *TreeJudge) gateCaches() gate.GateCaches {
	return gate.GateCaches{Exe: j.Exe, State: j.Site.State, Shared: j.Caches, User: j.Fetched}
}

// processOwner returns the owner name of a tree's processes.
func (s *RunEnvironment) processOwner(t *worktree.AttemptTree) string {
	return string(s.Run) + "/" + string(t.ID)
}

// BaseCommitJudge judges the trees from which work starts, each once for all workers.
type BaseCommitJudge struct {
	once  sync.Once
	turn  chan struct{} // contains a value while a worker judges a base and owns the maps
	trees map[string]*worktree.AttemptTree
	known map[string]map[string]nexus.GateEvidence // evidence by commit and gate

	compared map[string]bool // commits and gates that judged the user's checkout
}

// createMaps creates the maps. The caller has the turn.
func (b *BaseCommitJudge) createMaps() {
	b.trees, b.known = map[string]*worktree.AttemptTree{}, map[string]map[string]nexus.GateEvidence{}
}

// warmCaches compiles the packages for the gates of a base, once for each tree, and returns
// the duration.
func (b *BaseCommitJudge) warmCaches(ctx context.Context, s *TreeJudge, of JudgedBaseCommit, hash string, d AttemptFactRecorder) (took time.Duration, err error) {
	mark := filepath.Join(s.gateCaches().WarmBuildCache(), "warmed-"+hash)
	if _, err := os.Stat(mark); err == nil || s.Exe == "" {
		return 0, nil
	}
	if err := of.recordGateStart(ctx, d)(gate.QualityGate{Name: nexus.WarmUpGate}); err != nil {
		return 0, err
	}
	tree, err := b.ensureWorktree(ctx, s, of.Commit, hash)
	if err != nil {
		return 0, err
	}
	r, err := s.newGateRunner(tree, hash, s.gateCaches().WarmBuildCache())
	if err != nil {
		return 0, err
	}
	began := s.Site.Now()
	warmed, err := r.WarmBuildCache(ctx, gate.JudgedTreeDir{Dir: tree.Dir, Hash: hash})
	if err != nil {
		return 0, errors.Join(err, tree.Reset(context.WithoutCancel(ctx), hash))
	}
	if warmed {
		took = s.Site.Now().Sub(began)
	}
	return took, os.WriteFile(mark, nil, 0o600)
}

// JudgedBaseCommit is the commit from which work starts, and the work that waits for the gates' results on
// it.
type JudgedBaseCommit struct {
	Commit string
	For    nexus.GateStarted // without a gate
}

// recordGateStart records that a gate begins to judge the base.
func (of JudgedBaseCommit) recordGateStart(ctx context.Context, d AttemptFactRecorder) func(gate.QualityGate) error {
	f := of.For
	f.Base = true
	return RecordGateStart(ctx, d, f)
}

// JudgeOnBase returns the gates of a tree with those of its base, and the result of each on the
// base. A gate that the base has stays, even if the work deleted it. A red one does not stop
// it. A gate for which apart returns a reason does not run; apart may be nil.
func (b *BaseCommitJudge) JudgeOnBase(ctx context.Context, s *TreeJudge, of JudgedBaseCommit, gates []gate.QualityGate, apart func(gate.QualityGate) string, d AttemptFactRecorder) ([]gate.QualityGate, map[string]nexus.GateEvidence, error) {
	commit := of.Commit
	done, err := b.waitForTurn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if b.known == nil {
		b.createMaps()
	}
	all := b.known[commit]
	if all == nil {
		all = map[string]nexus.GateEvidence{}
	}
	hash, err := s.Trees.PrivateRepo().TreeID(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	tree, err := b.ensureWorktree(ctx, s, commit, hash)
	if err != nil {
		return nil, nil, err
	}
	if err := s.Kit.EquipTree(ctx, dependencies.ExactTreeDir{Dir: tree.Dir, Hash: hash}, s.Gates, nil, true, d.Record); err != nil {
		return nil, nil, err
	}
	had, err := s.Gates(tree.Dir)
	if err != nil {
		return nil, nil, err
	}
	gates = mergeGates(had, gates)
	warm, err := b.warmCaches(ctx, s, of, hash, d)
	if err != nil {
		return nil, nil, err
	}
	for _, g := range gates {
		if _, ok := all[g.Name]; ok || apart != nil && apart(g) != "" || g.RepeatsHangingTests(all[g.Again]) {
			continue
		}
		if all[g.Name], err = b.gateEvidence(ctx, s, of, hash, g, &warm, d); err != nil {
			return nil, nil, err
		}
	}
	b.known[commit] = all
	return gates, all, nil
}

// Known returns the known results on a base, by the names of the gates. It runs nothing.
func (b *BaseCommitJudge) Known(ctx context.Context, commit string) []nexus.GateEvidence {
	done, err := b.waitForTurn(ctx)
	if err != nil {
		return nil
	}
	defer done()
	var all []nexus.GateEvidence
	for _, name := range slices.Sorted(maps.Keys(b.known[commit])) {
		all = append(all, b.known[commit][name])
	}
	return all
}

// mergeGates returns the gates of the base, and after them the new ones.
func mergeGates(base, now []gate.QualityGate) []gate.QualityGate {
	for _, g := range now {
		if !slices.ContainsFunc(base, func(o gate.QualityGate) bool { return o.Name == g.Name }) {
			base = append(base, g)
		}
	}
	return base
}

// gateEvidence returns a gate's result on a base: the known result, if that fits, or a new
// one. The duration of the baseline check's compilation is added to the first gate that runs.
func (b *BaseCommitJudge) gateEvidence(ctx context.Context, s *TreeJudge, of JudgedBaseCommit, hash string, g gate.QualityGate, warm *time.Duration, d AttemptFactRecorder) (nexus.GateEvidence, error) {
	e, ok := d.Known(ctx, hash, g.Name)
	if _, fault := gate.EnvironmentObstacleOf(e); ok && !fault {
		plain, usable := gate.RawEvidence(e, s.Site.Blobs.Get)
		if e.Raw != "" {
			e = plain
		}
		ok = usable
	}
	if ok {
		var err error
		if ok, err = b.isReusableEvidence(ctx, s, of.Commit, hash, g, e); ok || err != nil {
			return e, err
		}
	}
	e, err := b.runBaseGate(ctx, s, of, hash, g, d)
	if err != nil {
		return e, err
	}
	took := *warm
	*warm = 0
	return e, d.Record(ctx, nexus.GateJudged{Base: true, Evidence: e, WarmUp: took})
}

// waitForTurn waits until no other worker judges a base, or ctx ends.
func (b *BaseCommitJudge) waitForTurn(ctx context.Context) (done func(), err error) {
	b.once.Do(func() { b.turn = make(chan struct{}, 1) })
	select {
	case b.turn <- struct{}{}:
		return func() { <-b.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// originTreeOfBase returns the tree of a base for a tree that was made from it.
func (b *BaseCommitJudge) originTreeOfBase(ctx context.Context, s *TreeJudge, commit, hash string, told func(string, []nexus.RequestedHost) error) (*gate.OriginTree, error) {
	was, err := s.Trees.PrivateRepo().TreeID(ctx, commit)
	if err != nil {
		return nil, err
	}
	changed, err := s.changedFiles(ctx, commit, hash)
	if err != nil {
		return nil, err
	}
	done, err := b.waitForTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := b.ensureWorktree(ctx, s, commit, was)
	if err != nil {
		return nil, err
	}
	return &gate.OriginTree{
		Dir:     tree.Dir,
		Changed: changed,
		Use: func(ctx context.Context, do func(gate.GateRunner, gate.JudgedTreeDir) error) error {
			done, err := b.waitForTurn(ctx)
			if err != nil {
				return err
			}
			defer done()
			r, err := s.GateRunner(tree, was)
			if err != nil {
				return err
			}
			r.Reached = told
			if err = do(r, gate.JudgedTreeDir{Dir: tree.Dir, Hash: was}); err != nil {
				err = errors.Join(err, tree.Reset(context.WithoutCancel(ctx), was))
			}
			return err
		},
	}, nil
}

// ensureWorktree creates the worktree of a base. The caller has the turn.
func (b *BaseCommitJudge) ensureWorktree(ctx context.Context, s *TreeJudge, commit, hash string) (*worktree.AttemptTree, error) {
	if tree := b.trees[commit]; tree != nil {
		return tree, nil
	}
	tree, err := s.Trees.AddTree(ctx, s.Site.Run, nexus.AttemptID("base-"+commit[:12]), commit)
	if err != nil {
		return nil, err
	}
	if err := tree.Reset(ctx, hash); err != nil {
		return nil, err
	}
	b.trees[commit] = tree
	return tree, nil
}

func (b *BaseCommitJudge) runBaseGate(ctx context.Context, s *TreeJudge, of JudgedBaseCommit, hash string, g gate.QualityGate, d AttemptFactRecorder) (nexus.GateEvidence, error) {
	tree, err := b.ensureWorktree(ctx, s, of.Commit, hash)
	if err != nil {
		return nexus.GateEvidence{}, err
	}
	r, err := s.GateRunner(tree, hash)
	if err != nil {
		return nexus.GateEvidence{}, err
	}
	r.Reached, r.Starts = RecordHosts(ctx, d, ""), of.recordGateStart(ctx, d)
	e, err := r.RunGate(ctx, gate.JudgedTreeDir{Dir: tree.Dir, Hash: hash}, g)
	if err != nil { // the gate may have been interrupted while writing, and others need the base
		err = errors.Join(err, tree.Reset(context.WithoutCancel(ctx), hash))
	}
	return e, err
}

// isReusableEvidence reports whether evidence is of exactly this gate, with these tools and dependencies.
func (b *BaseCommitJudge) isReusableEvidence(ctx context.Context, s *TreeJudge, commit, hash string, g gate.QualityGate, e nexus.GateEvidence) (bool, error) {
	tree, err := b.ensureWorktree(ctx, s, commit, hash)
	if err != nil {
		return false, err
	}
	r, err := s.GateRunner(tree, hash)
	return err == nil && r.IsReusable(ctx, gate.JudgedTreeDir{Dir: tree.Dir, Hash: hash}, g, e), err
}

// Close removes the worktrees of the bases.
func (b *BaseCommitJudge) Close(ctx context.Context) error {
	done, err := b.waitForTurn(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	defer done()
	for _, t := range b.trees {
		err = errors.Join(err, t.Remove(ctx))
	}
	b.trees = nil
	return err
}
