package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// FillMethod is the method by which the files of a tree are created.
type FillMethod string

// The methods. Both result in the same files, and writes in one tree never affect another.
const (
	AnyMethod FillMethod = ""        // an overlay if one can be mounted
	Overlay   FillMethod = "overlay" // an overlay over files that all trees share
	Plain     FillMethod = "plain"   // written one by one
)

// build creates all parts of a tree in home, which is not yet t.home.
func (t *Tree) build(ctx context.Context, home string) error {
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		return disk.WrapError("make a worktree", err)
	}
	t.Way = t.s.fillMethod()
	n, index, err := t.fill(ctx, home)
	if err != nil {
		return err
	}
	names, err := t.s.Names(ctx)
	if err != nil {
		return fmt.Errorf("read the names of branches and tags: %w", err)
	}
	v, err := t.s.prepareVisible(ctx, t.last, names)
	if err != nil {
		return fmt.Errorf("leave out what is hidden from agents: %w", err)
	}
	n.Shown = v.Dir
	if err := t.agentGit(home, index, n, v, names); err != nil {
		return err
	}
	if err := v.skipHiddenFiles(ctx, git.Repo{Dir: filepath.Join(home, "git"), Work: filepath.Join(home, "tree")}); err != nil {
		return err
	}
	t.note = n
	data, _ := json.Marshal(n) // cannot fail for strings and a number
	return disk.Write(filepath.Join(home, "tree.json"), data)
}

// fill creates the files and returns the path of an index file for them.
func (t *Tree) fill(ctx context.Context, home string) (note, string, error) {
	if t.Way == Overlay {
		n, index, err := t.mountOverlay(ctx, home)
		if !errors.Is(err, overlay.ErrNone) || t.s.Way == Overlay {
			return n, index, err
		}
		t.Way, t.lower = Plain, "" // the plain method is always possible
		if err := os.RemoveAll(filepath.Join(home, "tree")); err != nil {
			return note{}, "", disk.WrapError("make a worktree", err)
		}
	}
	index := filepath.Join(home, "index")
	since, err := Checkout(ctx, t.s.git, t.tree, filepath.Join(home, "tree"), index)
	if err != nil {
		return note{}, "", err
	}
	g, err := readCheckoutState(index, t.tree, since, t.s.objects.Size())
	t.attrs = g.Attributes
	return note{Base: t.Base, Way: t.Way, Tree: t.tree, Since: since}, index, err
}

// mountOverlay mounts an overlay over existing shared files, and writes the differences.
func (t *Tree) mountOverlay(ctx context.Context, home string) (note, string, error) {
	low, err := t.s.shelf.nearCheckout(ctx, t.tree)
	if err != nil {
		return note{}, "", err
	}
	t.lower, t.attrs = low.Tree, low.Attributes
	l := t.s.layers(home, low.Tree)
	for _, d := range []string{l.Upper, l.Work, l.Dir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return note{}, "", disk.WrapError("make a worktree", err)
		}
	}
	if err := overlay.Mount(l); err != nil {
		return note{}, "", err
	}
	n := note{Base: t.Base, Way: t.Way, Tree: low.Tree, Since: low.Since}
	index := t.s.shelf.path(low.Tree, "index")
	var changes []Change
	var stats git.Index
	if low.Tree != t.tree {
		if changes, stats, _, err = t.apply(ctx, l.Dir, low.Tree, t.tree); err != nil {
			return note{}, "", err
		}
	}
	late, placed, err := t.placeLate(ctx, l.Dir, low)
	if err != nil {
		return note{}, "", err
	}
	if changes, stats = append(changes, late...), byPath(append(stats, placed...)); len(changes) == 0 {
		return n, index, nil
	}
	now, err := fileClock(filepath.Join(home, "clock"))
	if err != nil {
		return note{}, "", disk.WrapError("make a worktree", err)
	}
	if err := t.learn(changes, stats, now); err != nil {
		return note{}, "", err
	}
	index = filepath.Join(home, "index")
	return n, index, t.merged(low.Index, changes, stats, index)
}

// merged writes an index that combines some changes with another index, for the agent.
func (t *Tree) merged(base git.Index, changes []Change, stats git.Index, to string) error {
	gone := map[string]bool{}
	for _, c := range changes {
		gone[c.Path] = true
	}
	var all git.Index
	for _, e := range base {
		for len(stats) > 0 && stats[0].Path < e.Path {
			all, stats = append(all, stats[0]), stats[1:]
		}
		if !gone[e.Path] {
			all = append(all, e)
		}
	}
	data, err := append(all, stats...).Bytes(t.s.objects.Size())
	if err != nil {
		return err
	}
	return disk.Write(to, data)
}

func (s *Store) layers(home, lower string) overlay.Layers {
	return overlay.Layers{
		Lower: s.shelf.path(lower, "tree"), Upper: filepath.Join(home, "upper"),
		Work: filepath.Join(home, "work"), Dir: filepath.Join(home, "tree"),
	}
}

// remount mounts an unmounted tree, after its store was closed or the machine was restarted.
func (t *Tree) remount(ctx context.Context) error {
	if t.lower == "" {
		return nil
	}
	t.s.noteMount(t.home)
	if on, err := overlay.Mounted(t.Dir); err != nil || on {
		return disk.WrapError("look for a worktree's mount", err)
	}
	if _, err := t.s.shelf.exactCheckout(ctx, t.lower); err != nil {
		return err
	}
	return overlay.Mount(t.s.layers(t.home, t.lower))
}

// startState returns the state of the files with which the tree started.
func (t *Tree) startState() (checkoutState, error) {
	if t.lower != "" {
		return t.s.shelf.State(t.lower)
	}
	return readCheckoutState(filepath.Join(t.home, "index"), t.note.Tree, t.note.Since, t.s.objects.Size())
}

// agentGit writes the git directory that the agent's own git finds from the tree. It borrows the
// objects of the private clone, or the visible part of them, and has the user's refs.
func (t *Tree) agentGit(home, index string, n note, v visibleObjects, names []git.Name) error {
	dir, own := filepath.Join(home, "git"), Branch(t.Run, t.ID)
	names = append(slices.Clone(names), v.replaceRefs()...)
	slices.SortStableFunc(names, func(a, b git.Name) int { return strings.Compare(a.Ref, b.Ref) })
	files := map[string]string{
		"config":                  git.CloneConfig(t.s.objects.Size(), false, v.config()),
		"HEAD":                    "ref: " + own + "\n",
		own:                       t.last + "\n",
		"packed-refs":             git.PackedRefs(names, own),
		"objects/info/alternates": n.objects(t.s) + "\n",
	}
	for name, text := range files {
		if err := disk.Write(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	if err := git.WriteSymbolic(dir, names, own); err != nil {
		return err
	}
	err := disk.Copy(filepath.Join(t.s.git.Dir, "shallow"), filepath.Join(dir, "shallow"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return disk.WrapError("write the agent's git directory", err)
	}
	var ignored []byte
	for _, name := range []string{git.UserIgnore, "info/exclude"} { // the latter overrides the former, as in git
		data, err := os.ReadFile(filepath.Join(t.s.git.Dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return disk.WrapError("write the agent's git directory", err)
		}
		ignored = append(append(ignored, data...), '\n')
	}
	if err := disk.Write(filepath.Join(dir, "info", "exclude"), ignored); err != nil {
		return err
	}
	return disk.WrapError("copy the index", disk.Copy(index, filepath.Join(dir, "index")))
}
