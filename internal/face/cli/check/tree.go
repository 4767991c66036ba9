package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/network"
	"github.com/nexus-ai-builder/nexus/internal/face/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// again is what a gate says of a tree now, beside what a run recorded of it.
type again struct {
	Gate     string      `json:"gate"`
	Recorded bool        `json:"recorded"`
	Run      nexus.RunID `json:"run,omitzero"`
	Same     bool        `json:"same"`
	Differs  []string    `json:"differs,omitempty"` // what is not the same: command, toolchain, state, counts, findings
}

// reproduced is what --tree prints.
type reproduced struct {
	verdict.Verdict
	Tree  string  `json:"tree"`
	Again []again `json:"again"`
}

// exact is a tree of the repository or of its private clone, checked out by
// itself.
type exact struct {
	dir, hash string
	repo      git.Repo // whose work tree it is
	done      func()
}

// checkout makes a directory that holds exactly a tree.
func checkout(ctx context.Context, p *frame.Place, cache, rev string) (exact, error) {
	var x exact
	var err error
	from := p.Repo
	if x.hash, err = from.Tree(ctx, rev); err != nil {
		from = git.Repo{Dir: filepath.Join(p.State, "repo.git")}
		if _, missing := os.Stat(from.Dir); missing != nil {
			return x, err
		}
		if hash, inClone := from.Tree(ctx, rev); inClone == nil {
			x.hash, err = hash, nil
		}
	}
	if err != nil {
		return x, err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return x, err
	}
	at, err := os.MkdirTemp(cache, "tree-")
	if err != nil {
		return x, err
	}
	x.done = func() { _ = os.RemoveAll(at) } // a copy
	x.dir = filepath.Join(at, "tree")
	x.repo = git.Repo{Dir: from.Dir, Work: x.dir, Index: filepath.Join(at, "index")}
	err = os.Mkdir(x.dir, 0o700)
	if err == nil {
		_, err = x.repo.Run(ctx, "read-tree", x.hash)
	}
	if err = errors.Join(err, x.reset(ctx, true)); err != nil {
		x.done()
		return x, fmt.Errorf("check out %s: %w", rev, err)
	}
	return x, nil
}

// reset puts the tree back; bare removes what git ignores, too.
func (x exact) reset(ctx context.Context, bare bool) error {
	clean := "-ffdq"
	if bare {
		clean = "-ffdqx"
	}
	_, err := x.repo.Run(ctx, "clean", clean)
	_, err2 := x.repo.Run(ctx, "checkout-index", "--all", "--force")
	return errors.Join(err, err2)
}

// reproduce runs the gates on a clean checkout of exactly one tree, and says
// whether they say what a run recorded of it.
func reproduce(ctx context.Context, a *frame.App, f checkFlags, shape string, settings config.Config) error {
	p, err := a.Open(ctx, frame.Reads)
	if err != nil {
		return err
	}
	defer p.Close()
	sum := sha256.Sum256([]byte(p.State))
	cache := filepath.Join(a.Home("XDG_CACHE_HOME", ".cache"), "nexus", "check", hex.EncodeToString(sum[:8]))
	x, err := checkout(ctx, p, cache, f.tree)
	if err != nil {
		return err
	}
	defer x.done()
	gates, err := pickGates(x.dir, settings.Gates, f.gates)
	if err != nil {
		return err
	}
	if f.list {
		return listGates(a, gates)
	}
	box, err := sandbox.Find(ctx, sandbox.Mode(settings.Sandbox))
	if err != nil {
		return err
	}
	r, err := runner(a, box, x.dir, filepath.Join(cache, "tree"), settings)
	if err != nil {
		return err
	}
	r.Reset = x.reset
	grant, err := network.Reachable(settings.Network, frame.Top(p.Repo.Work), a.Trust(), a.Env, box)
	if err != nil {
		return err
	}
	r.Net = grant.Gate
	old, err := recorded(ctx, p, x.hash)
	if err != nil {
		return err
	}
	for name := range old { // what a run was asked for besides
		if line, ok := strings.CutPrefix(name, nexus.AcceptGate); ok && len(f.gates) == 0 {
			if g, ok := detect.Accept(nexus.Criterion{Check: old[name].e.Command}); ok && line != "" {
				g.Name = name
				gates = append(gates, g)
			}
		}
	}
	out := reproduced{Tree: x.hash}
	var all []nexus.Evidence
	for _, g := range gates {
		e, err := r.Judge(ctx, gate.Tree{Dir: x.dir, Hash: x.hash}, g)
		if err != nil {
			return err
		}
		all = append(all, e)
		c := compare(old, e)
		out.Again = append(out.Again, c)
		a.Say("%s", c)
	}
	out.Verdict = verdict.Of(all)
	if err := write(a, shape, out.Verdict, out); err != nil {
		return err
	}
	if slices.ContainsFunc(out.Again, func(c again) bool { return c.Recorded && !c.Same }) {
		return frame.ExitError(frame.CodeFailed)
	}
	return ends(out.State)
}

// String says it in a line.
func (c again) String() string {
	switch {
	case !c.Recorded:
		return c.Gate + ": no run recorded what it said of this tree"
	case c.Same:
		return fmt.Sprintf("%s: the same as run %s recorded", c.Gate, c.Run)
	default:
		return fmt.Sprintf("%s: not as run %s recorded: %s", c.Gate, c.Run, strings.Join(c.Differs, "; "))
	}
}

// record is evidence of a run, as it was before it was held against a base.
type record struct {
	run nexus.RunID
	e   nexus.Evidence
}

// recorded returns what runs recorded last of a tree, by gate.
func recorded(ctx context.Context, p *frame.Place, tree string) (map[string]record, error) {
	all := map[string]record{}
	if p.Journal == nil {
		return all, nil
	}
	blobs, err := p.Blobs()
	if err != nil {
		return nil, err
	}
	runs, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	for _, run := range runs {
		for ev, err := range p.Journal.Events(ctx, run.ID, 0) {
			if err != nil {
				return nil, err
			}
			f, ok := ev.Fact.(nexus.GateJudged)
			if !ok || f.Evidence.Tree != tree {
				continue
			}
			e := f.Evidence
			if plain, ok := gate.Plain(e, blobs.Get); ok {
				e = plain
			}
			all[e.Gate] = record{run.ID, e}
		}
	}
	return all, nil
}

// compare holds what a gate says against what was recorded.
func compare(old map[string]record, now nexus.Evidence) again {
	was, ok := old[now.Gate]
	c := again{Gate: now.Gate, Recorded: ok, Run: was.run}
	if !ok {
		return c
	}
	differs := func(what, a, b string) {
		if a != b {
			c.Differs = append(c.Differs, fmt.Sprintf("%s %s, now %s", what, cmp.Or(a, "none"), cmp.Or(b, "none")))
		}
	}
	tools := func(e nexus.Evidence) string { s, _, _ := strings.Cut(e.Toolchain, "; environment "); return s }
	differs("command", was.e.Command, now.Command)
	differs("toolchain", tools(was.e), tools(now))
	differs("state", string(was.e.State), string(now.State))
	differs("counts", fmt.Sprintf("%d/%d/%d", was.e.Counts.Passed, was.e.Counts.Failed, was.e.Counts.Skipped), fmt.Sprintf("%d/%d/%d", now.Counts.Passed, now.Counts.Failed, now.Counts.Skipped))
	differs("findings", places(was.e), places(now))
	c.Same = len(c.Differs) == 0
	return c
}

// places names what a gate found, without what differs from run to run.
func places(e nexus.Evidence) string {
	var all []string
	for _, f := range e.Findings {
		all = append(all, fmt.Sprintf("%s:%d %s", f.File, f.Line, cmp.Or(f.Test, f.Code)))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
