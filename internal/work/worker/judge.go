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
	"github.com/nexus-ai-builder/nexus/internal/work/gate/related"
)

// JudgeRequest is a tree to be judged, with its context.
type JudgeRequest struct {
	Tree *worktree.Tree
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

	Goal   string              // its words may name files, too
	Said   []nexus.Explanation // explanations in submissions for the removals
	Agreed bool                // the removals were approved when it was accepted
	// every package is judged, even if the change is not known to break it: this is the last
	// check
	Whole  bool
	Each   bool              // an unmet criterion does not stop the others
	Checks []nexus.Criterion // besides the task's: a gate that is the check of one always runs
}

// starts returns the fact that a gate begins to judge the tree.
func (c JudgeRequest) starts() nexus.GateStarted {
	of := c.Mark(nexus.GateJudged{})
	return nexus.GateStarted{Attempt: of.Attempt, Task: of.Task}
}

// RecordGateStart records which gates begin, for progress displays.
func RecordGateStart(ctx context.Context, d Desk, f nexus.GateStarted) func(gate.Gate) error {
	return func(g gate.Gate) error {
		f.Gate = g.Name
		return d.Record(ctx, f)
	}
}

// RunGates runs the gates on a tree in their order and stops at the first red one. A gate that
// was red on the base for the same reasons is not red. Each result is recorded at once.
//
// It ends when the run releases its workers: gates can be run again for free.
func (j *Judge) RunGates(ctx context.Context, c JudgeRequest, d Desk) ([]nexus.Evidence, error) {
	var evidence []nexus.Evidence
	err := RunInterruptible(ctx, d, c.Paid, func(ctx context.Context) error {
		r, gates, done, err := j.prepare(ctx, c, d)
		if evidence = done; err != nil || evidence != nil {
			return err
		}
		v, err := r.RunAll(ctx, gate.Tree{Dir: c.Tree.Dir, Hash: c.Hash}, gates, known(ctx, d))
		if evidence = v.Evidence; err != nil {
			return err
		}
		evidence, err = j.measure(ctx, c, gates, evidence, r.Base, d)
		return err
	})
	return evidence, err
}

// measure adds the meter's results for a tree that the gates judged.
func (j *Judge) measure(ctx context.Context, c JudgeRequest, gates []gate.Gate, evidence []nexus.Evidence, base func(string) (nexus.Evidence, bool), d Desk) ([]nexus.Evidence, error) {
	evidence, taken := j.Meter.ExtractMeasurements(gates, evidence, base)
	done, err := j.checkDefinitionOfDone(ctx, c, evidence, taken, d)
	return append(evidence, done...), err
}

// prepare returns the runner of the gates on a tree, and the gates. Evidence is the reason if
// the tree is red before any gate runs.
func (j *Judge) prepare(ctx context.Context, c JudgeRequest, d Desk) (r gate.Runner, gates []gate.Gate, evidence []nexus.Evidence, err error) {
	// ignored files do not land, so they must not help here
	if err := c.Tree.ResetExactly(ctx, c.Hash); err != nil {
		return r, nil, nil, err
	}
	spared, e, red, err := j.findForbiddenChange(ctx, c)
	if red && err == nil {
		err = d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: e}))
	}
	if red || err != nil {
		return r, nil, []nexus.Evidence{e}, err
	}
	if err := j.recordCriticalFiles(ctx, c, d); err != nil {
		return r, nil, nil, err
	}
	gates, err = j.Gates(c.Tree.Dir)
	scope, wrong := j.scope(ctx, c)
	if err := errors.Join(err, wrong); err != nil {
		return r, nil, nil, err
	}
	apart := scope.apart
	var base map[string]nexus.Evidence
	if c.Base != "" {
		if gates, base, err = j.Bases.Judge(ctx, j, Base{c.Base, c.starts()}, j.Meter.AppendMeasuringGates(gates, gates, c.Task.ID == ""), apart, d); err != nil {
			return r, nil, nil, fmt.Errorf("judge the base: %w", err)
		}
	}
	if err := j.Kit.Equip(ctx, dependencies.Tree{Dir: c.Tree.Dir, Hash: c.Hash}, j.Gates, c.Task.Criteria, false, d.Record); err != nil {
		return r, nil, nil, err
	}
	if r, err = j.Runner(c.Tree, c.Hash); err != nil {
		return r, nil, nil, err
	}
	r.Reached, r.Quarantine = RecordHosts(ctx, d, c.Mark(nexus.GateJudged{}).Attempt), spared
	if e, red := j.Kit.Of(c.Tree.Dir).Fault(c.Hash); red && c.Base != "" {
		return r, nil, []nexus.Evidence{e}, d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: e}))
	}
	r.Each = c.Each
	r.Wanted = append(accept.Texts(c.Task), c.Wanted...)
	for _, criterion := range c.Task.Criteria {
		if g, ok := detect.Accept(criterion); ok {
			gates = append(gates, g)
		}
	}
	if c.Base != "" {
		if r.Origin, err = j.Bases.origin(ctx, j, c.Base, c.Hash, r.Reached); err != nil {
			return r, nil, nil, fmt.Errorf("judge the base: %w", err)
		}
		gates, r.Later = j.addRelatedTests(c, r.Origin.Changed, gates, base)
		gates = j.Meter.AppendMeasuringGates(scope.near(gates), gates, c.Task.ID == "")
	}
	gates = append(gates, j.stepsOf(c)...)
	r.Apart = apart
	r.Moved = j.movedLinesFunc(c.Base, c.Hash)
	r.Base = func(name string) (nexus.Evidence, bool) { e, ok := base[name]; return e, ok }
	r.Starts = RecordGateStart(ctx, d, c.starts())
	r.Judged = func(e nexus.Evidence, cached bool) error {
		return d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: e, Cached: cached}))
	}
	return r, gates, nil, nil
}

// movedLinesFunc returns a function that maps the lines of a base to a tree; nil if there is
// no base.
func (j *Judge) movedLinesFunc(base, hash string) func(context.Context) (gate.Moves, error) {
	if base == "" {
		return nil
	}
	var once sync.Once
	var moves gate.Moves
	var err error
	return func(ctx context.Context) (gate.Moves, error) {
		once.Do(func() {
			var patch string
			patch, err = j.Trees.Git().PatchWithRenames(ctx, base, hash)
			moves = gate.ParseMoves(patch)
		})
		return moves, err
	}
}

// addRelatedTests returns the gates with those that run the affected tests, if these come
// first, and whether the others may wait. If all tests hang on the base, the selected ones are
// the only ones with a result.
func (j *Judge) addRelatedTests(c JudgeRequest, changed []string, gates []gate.Gate, base map[string]nexus.Evidence) (all []gate.Gate, later bool) {
	hung := slices.ContainsFunc(gates, func(g gate.Gate) bool { return g.Tests && base[g.Name].Hung() })
	if !c.Some && !hung || j.Related != RelatedPerTask && j.Related != RelatedDeferred {
		return gates, false
	}
	return related.InsertRelated(gates, related.Choose(c.Tree.Dir, changed, gates)), c.Some && j.Related == RelatedDeferred
}

// changed returns the files in which two commits or trees differ.
func (j *Judge) changed(ctx context.Context, from, to string) (files []string, err error) {
	changes, err := j.Trees.Git().Changed(ctx, from, to)
	for _, c := range changes {
		files = append(files, c.Path)
	}
	return files, err
}

// HasPendingTests reports whether tests of an accepted tree may not have run yet.
func (j *Judge) HasPendingTests(ctx context.Context, tree string, d Desk) bool {
	if j.Related == RelatedDeferred {
		return true
	}
	some, first := d.Known(ctx, tree, related.Name)
	_, all := d.Known(ctx, tree, "test")
	return first && some.Passed() && !all // the run was started in another mode
}

// RecordHosts records the hosts that a gate requested.
func RecordHosts(ctx context.Context, d Desk, of nexus.AttemptID) func(string, []nexus.HostReached) error {
	return func(gate string, asked []nexus.HostReached) error {
		return d.Record(ctx, nexus.NetworkJudged{Attempt: of, Gate: gate, Hosts: asked})
	}
}

func known(ctx context.Context, d Desk) func(tree, gate string) (nexus.Evidence, bool) {
	return func(tree, gate string) (nexus.Evidence, bool) { return d.Known(ctx, tree, gate) }
}

// Runner returns a runner of gates on a tree, which it restores after each.
func (j *Judge) Runner(t *worktree.Tree, hash string) (gate.Runner, error) {
	return j.runnerIn(t, hash, filepath.Join(filepath.Dir(t.Dir), "gates"))
}

func (j *Judge) runnerIn(t *worktree.Tree, hash, cache string) (gate.Runner, error) {
	setup, err := j.caches().Go(t.Dir, cache, filepath.Join(cache, "own"))
	if err != nil {
		return gate.Runner{}, err
	}
	return gate.Runner{
		Box: j.Site.Box, Net: j.Site.Net.GatewayForGate, Put: j.Site.Blobs.Put, Get: j.Site.Blobs.Get,
		Env: setup.Env, Readable: setup.Readable, Writable: setup.Writable,
		Mask: j.Site.Mask, Timeout: j.GateTime, Mark: j.Site.mark(t), Versions: j.Versions,
		Own: func(g gate.Gate) (gate.Setup, func() error, error) {
			setup, done, err := j.caches().Own(t.Dir, cache, g)
			setup.Env = j.Kit.Of(t.Dir).Vars(g.Dir, setup.Env)
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
			changes, err := t.Changed(ctx, hash, now)
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
		Environment: j.Kit.Of(t.Dir).Key, Lacks: j.Kit.Of(t.Dir).Lacks,
	}, nil
}

func (j *Judge) caches() gate.Caches {
	return gate.Caches{Exe: j.Exe, State: j.Site.State, Shared: j.Caches, User: j.Fetched}
}

// mark returns the owner name of a tree's processes.
func (s *RunEnvironment) mark(t *worktree.Tree) string { return string(s.Run) + "/" + string(t.ID) }

// Bases judges the trees from which work starts, each once for all workers.
type Bases struct {
	once  sync.Once
	turn  chan struct{} // contains a value while a worker judges a base and owns the maps
	trees map[string]*worktree.Tree
	known map[string]map[string]nexus.Evidence // evidence by commit and gate

	compared map[string]bool // commits and gates that judged the user's checkout
}

// start creates the maps. The caller has the turn.
func (b *Bases) start() {
	b.trees, b.known = map[string]*worktree.Tree{}, map[string]map[string]nexus.Evidence{}
}

// warmCaches compiles the packages for the gates of a base, once for each tree, and returns
// the duration.
func (b *Bases) warmCaches(ctx context.Context, s *Judge, of Base, hash string, d Desk) (took time.Duration, err error) {
	mark := filepath.Join(s.caches().Warm(), "warmed-"+hash)
	if _, err := os.Stat(mark); err == nil || s.Exe == "" {
		return 0, nil
	}
	if err := of.starts(ctx, d)(gate.Gate{Name: nexus.WarmUpGate}); err != nil {
		return 0, err
	}
	tree, err := b.ensureWorktree(ctx, s, of.Commit, hash)
	if err != nil {
		return 0, err
	}
	r, err := s.runnerIn(tree, hash, s.caches().Warm())
	if err != nil {
		return 0, err
	}
	began := s.Site.Now()
	warmed, err := r.Warm(ctx, gate.Tree{Dir: tree.Dir, Hash: hash})
	if err != nil {
		return 0, errors.Join(err, tree.Reset(context.WithoutCancel(ctx), hash))
	}
	if warmed {
		took = s.Site.Now().Sub(began)
	}
	return took, os.WriteFile(mark, nil, 0o600)
}

// Base is the commit from which work starts, and the work that waits for the gates' results on
// it.
type Base struct {
	Commit string
	For    nexus.GateStarted // without a gate
}

// starts records that a gate begins to judge the base.
func (of Base) starts(ctx context.Context, d Desk) func(gate.Gate) error {
	f := of.For
	f.Base = true
	return RecordGateStart(ctx, d, f)
}

// Judge returns the gates of a tree with those of its base, and the result of each on the
// base. A gate that the base has stays, even if the work deleted it. A red one does not stop
// it. A gate for which apart returns a reason does not run; apart may be nil.
func (b *Bases) Judge(ctx context.Context, s *Judge, of Base, gates []gate.Gate, apart func(gate.Gate) string, d Desk) ([]gate.Gate, map[string]nexus.Evidence, error) {
	commit := of.Commit
	done, err := b.acquireTurn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	if b.known == nil {
		b.start()
	}
	all := b.known[commit]
	if all == nil {
		all = map[string]nexus.Evidence{}
	}
	hash, err := s.Trees.Git().Tree(ctx, commit)
	if err != nil {
		return nil, nil, err
	}
	tree, err := b.ensureWorktree(ctx, s, commit, hash)
	if err != nil {
		return nil, nil, err
	}
	if err := s.Kit.Equip(ctx, dependencies.Tree{Dir: tree.Dir, Hash: hash}, s.Gates, nil, true, d.Record); err != nil {
		return nil, nil, err
	}
	had, err := s.Gates(tree.Dir)
	if err != nil {
		return nil, nil, err
	}
	gates = union(had, gates)
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
func (b *Bases) Known(ctx context.Context, commit string) []nexus.Evidence {
	done, err := b.acquireTurn(ctx)
	if err != nil {
		return nil
	}
	defer done()
	var all []nexus.Evidence
	for _, name := range slices.Sorted(maps.Keys(b.known[commit])) {
		all = append(all, b.known[commit][name])
	}
	return all
}

// union returns the gates of the base, and after them the new ones.
func union(base, now []gate.Gate) []gate.Gate {
	for _, g := range now {
		if !slices.ContainsFunc(base, func(o gate.Gate) bool { return o.Name == g.Name }) {
			base = append(base, g)
		}
	}
	return base
}

// gateEvidence returns a gate's result on a base: the known result, if that fits, or a new
// one. The duration of the baseline check's compilation is added to the first gate that runs.
func (b *Bases) gateEvidence(ctx context.Context, s *Judge, of Base, hash string, g gate.Gate, warm *time.Duration, d Desk) (nexus.Evidence, error) {
	e, ok := d.Known(ctx, hash, g.Name)
	if _, fault := gate.FaultOf(e); ok && !fault {
		plain, usable := gate.RawEvidence(e, s.Site.Blobs.Get)
		if e.Raw != "" {
			e = plain
		}
		ok = usable
	}
	if ok {
		var err error
		if ok, err = b.fits(ctx, s, of.Commit, hash, g, e); ok || err != nil {
			return e, err
		}
	}
	e, err := b.run(ctx, s, of, hash, g, d)
	if err != nil {
		return e, err
	}
	took := *warm
	*warm = 0
	return e, d.Record(ctx, nexus.GateJudged{Base: true, Evidence: e, WarmUp: took})
}

// acquireTurn waits until no other worker judges a base, or ctx ends.
func (b *Bases) acquireTurn(ctx context.Context) (done func(), err error) {
	b.once.Do(func() { b.turn = make(chan struct{}, 1) })
	select {
	case b.turn <- struct{}{}:
		return func() { <-b.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// origin returns the tree of a base for a tree that was made from it.
func (b *Bases) origin(ctx context.Context, s *Judge, commit, hash string, told func(string, []nexus.HostReached) error) (*gate.Origin, error) {
	was, err := s.Trees.Git().Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	changed, err := s.changed(ctx, commit, hash)
	if err != nil {
		return nil, err
	}
	done, err := b.acquireTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	tree, err := b.ensureWorktree(ctx, s, commit, was)
	if err != nil {
		return nil, err
	}
	return &gate.Origin{
		Dir:     tree.Dir,
		Changed: changed,
		Use: func(ctx context.Context, do func(gate.Runner, gate.Tree) error) error {
			done, err := b.acquireTurn(ctx)
			if err != nil {
				return err
			}
			defer done()
			r, err := s.Runner(tree, was)
			if err != nil {
				return err
			}
			r.Reached = told
			if err = do(r, gate.Tree{Dir: tree.Dir, Hash: was}); err != nil {
				err = errors.Join(err, tree.Reset(context.WithoutCancel(ctx), was))
			}
			return err
		},
	}, nil
}

// ensureWorktree creates the worktree of a base. The caller has the turn.
func (b *Bases) ensureWorktree(ctx context.Context, s *Judge, commit, hash string) (*worktree.Tree, error) {
	if tree := b.trees[commit]; tree != nil {
		return tree, nil
	}
	tree, err := s.Trees.Add(ctx, s.Site.Run, nexus.AttemptID("base-"+commit[:12]), commit)
	if err != nil {
		return nil, err
	}
	if err := tree.Reset(ctx, hash); err != nil {
		return nil, err
	}
	b.trees[commit] = tree
	return tree, nil
}

func (b *Bases) run(ctx context.Context, s *Judge, of Base, hash string, g gate.Gate, d Desk) (nexus.Evidence, error) {
	tree, err := b.ensureWorktree(ctx, s, of.Commit, hash)
	if err != nil {
		return nexus.Evidence{}, err
	}
	r, err := s.Runner(tree, hash)
	if err != nil {
		return nexus.Evidence{}, err
	}
	r.Reached, r.Starts = RecordHosts(ctx, d, ""), of.starts(ctx, d)
	e, err := r.Judge(ctx, gate.Tree{Dir: tree.Dir, Hash: hash}, g)
	if err != nil { // the gate may have been interrupted while writing, and others need the base
		err = errors.Join(err, tree.Reset(context.WithoutCancel(ctx), hash))
	}
	return e, err
}

// fits reports whether evidence is of exactly this gate, with these tools and dependencies.
func (b *Bases) fits(ctx context.Context, s *Judge, commit, hash string, g gate.Gate, e nexus.Evidence) (bool, error) {
	tree, err := b.ensureWorktree(ctx, s, commit, hash)
	if err != nil {
		return false, err
	}
	r, err := s.Runner(tree, hash)
	return err == nil && r.IsReusable(ctx, gate.Tree{Dir: tree.Dir, Hash: hash}, g, e), err
}

// Close removes the worktrees of the bases.
func (b *Bases) Close(ctx context.Context) error {
	done, err := b.acquireTurn(context.WithoutCancel(ctx))
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
