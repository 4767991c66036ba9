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
	FillAny     FillMethod = ""        // an overlay if one can be mounted
	FillOverlay FillMethod = "overlay" // an overlay over files that all trees share
	FillPlain   FillMethod = "plain"   // written one by one
)

// buildTree creates all parts of a tree in home, which is not yet t.home.
func (t *Tree) buildTree(ctx context.Context, home string) error {
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		return disk.WrapError("make a worktree", err)
	}
	t.Way = t.s.fillMethod()
	n, index, err := t.makeFiles(ctx, home)
	if err != nil {
		return err
	}
	names, err := t.s.ImportNamedRefs(ctx)
	if err != nil {
		return fmt.Errorf("read the names of branches and tags: %w", err)
	}
	v, err := t.s.prepareVisible(ctx, t.last, names)
	if err != nil {
		return fmt.Errorf("leave out what is hidden from agents: %w", err)
	}
	n.Shown = v.Dir
	if err := t.writeAgentGitDir(home, index, n, v, names); err != nil {
		return err
	}
	if err := v.skipHiddenFiles(ctx, git.Repo{Dir: filepath.Join(home, "git"), Work: filepath.Join(home, "tree")}); err != nil {
		return err
	}
	t.note = n
	data, _ := json.Marshal(n) // cannot fail for strings and a number
	return disk.WriteFile(filepath.Join(home, "tree.json"), data)
}

// makeFiles creates the files and returns the path of an index file for them.
func (t *Tree) makeFiles(ctx context.Context, home string) (treeNote, string, error) {
	if t.Way == FillOverlay {
		n, index, err := t.mountOverlay(ctx, home)
		if !errors.Is(err, overlay.ErrNone) || t.s.Way == FillOverlay {
			return n, index, err
		}
		t.Way, t.lower = FillPlain, "" // the plain method is always possible
		if err := os.RemoveAll(filepath.Join(home, "tree")); err != nil {
			return treeNote{}, "", disk.WrapError("make a worktree", err)
		}
	}
	index := filepath.Join(home, "index")
	since, err := CheckoutTree(ctx, t.s.git, t.tree, filepath.Join(home, "tree"), index)
	if err != nil {
		return treeNote{}, "", err
	}
	g, err := readCheckoutState(index, t.tree, since, t.s.objects.IDSize())
	t.attrs = g.Attributes
	return treeNote{Base: t.Base, Way: t.Way, Tree: t.tree, Since: since}, index, err
}

// mountOverlay mounts an overlay over existing shared files, and writes the differences.
func (t *Tree) mountOverlay(ctx context.Context, home string) (treeNote, string, error) {
	low, err := t.s.checkouts.nearCheckout(ctx, t.tree)
	if err != nil {
		return treeNote{}, "", err
	}
	t.lower, t.attrs = low.Tree, low.Attributes
	l := t.s.overlayLayers(home, low.Tree)
	for _, d := range []string{l.Upper, l.Work, l.Dir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return treeNote{}, "", disk.WrapError("make a worktree", err)
		}
	}
	if err := overlay.Mount(l); err != nil {
		return treeNote{}, "", err
	}
	n := treeNote{Base: t.Base, Way: t.Way, Tree: low.Tree, Since: low.Since}
	index := t.s.checkouts.checkoutPath(low.Tree, "index")
	var changes []TreeChange
	var stats git.Index
	if low.Tree != t.tree {
		if changes, stats, _, err = t.applyDiff(ctx, l.Dir, low.Tree, t.tree); err != nil {
			return treeNote{}, "", err
		}
	}
	late, placed, err := t.placeLateLFSContent(ctx, l.Dir, low)
	if err != nil {
		return treeNote{}, "", err
	}
	if changes, stats = append(changes, late...), sortByPath(append(stats, placed...)); len(changes) == 0 {
		return n, index, nil
	}
	now, err := fileClock(filepath.Join(home, "clock"))
	if err != nil {
		return treeNote{}, "", disk.WrapError("make a worktree", err)
	}
	if err := t.recordChanges(changes, stats, now); err != nil {
		return treeNote{}, "", err
	}
	index = filepath.Join(home, "index")
	return n, index, t.writeMergedIndex(low.Index, changes, stats, index)
}

// writeMergedIndex writes an index that combines some changes with another index, for the agent.
func (t *Tree) writeMergedIndex(base git.Index, changes []TreeChange, stats git.Index, to string) error {
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
	data, err := append(all, stats...).Encode(t.s.objects.IDSize())
	if err != nil {
		return err
	}
	return disk.WriteFile(to, data)
}

func (s *Store) overlayLayers(home, lower string) overlay.Layers {
	return overlay.Layers{
		Lower: s.checkouts.checkoutPath(lower, "tree"), Upper: filepath.Join(home, "upper"),
		Work: filepath.Join(home, "work"), Dir: filepath.Join(home, "tree"),
	}
}

// remount mounts an unmounted tree, after its store was closed or the machine was restarted.
func (t *Tree) remount(ctx context.Context) error {
	if t.lower == "" {
		return nil
	}
	t.s.noteMount(t.home)
	if on, err := overlay.IsMounted(t.Dir); err != nil || on {
		return disk.WrapError("look for a worktree's mount", err)
	}
	if _, err := t.s.checkouts.exactCheckout(ctx, t.lower); err != nil {
		return err
	}
	return overlay.Mount(t.s.overlayLayers(t.home, t.lower))
}

// startState returns the state of the files with which the tree started.
func (t *Tree) startState() (checkoutState, error) {
	if t.lower != "" {
		return t.s.checkouts.ReadState(t.lower)
	}
	return readCheckoutState(filepath.Join(t.home, "index"), t.note.Tree, t.note.Since, t.s.objects.IDSize())
}

// writeAgentGitDir writes the git directory that the agent's own git finds from the tree. It borrows the
// objects of the private clone, or the visible part of them, and has the user's refs.
func (t *Tree) writeAgentGitDir(home, index string, n treeNote, v visibleObjects, names []git.NamedRef) error {
	dir, own := filepath.Join(home, "git"), AttemptBranch(t.Run, t.ID)
	names = append(slices.Clone(names), v.replacementRefs()...)
	slices.SortStableFunc(names, func(a, b git.NamedRef) int { return strings.Compare(a.Ref, b.Ref) })
	files := map[string]string{
		"config":                  git.CloneConfig(t.s.objects.IDSize(), false, v.gitConfig()),
		"HEAD":                    "ref: " + own + "\n",
		own:                       t.last + "\n",
		"packed-refs":             git.PackedRefs(names, own),
		"objects/info/alternates": n.objectsDir(t.s) + "\n",
	}
	for name, text := range files {
		if err := disk.WriteFile(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	if err := git.WriteSymbolic(dir, names, own); err != nil {
		return err
	}
	err := disk.CopyFile(filepath.Join(t.s.git.Dir, "shallow"), filepath.Join(dir, "shallow"))
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
	if err := disk.WriteFile(filepath.Join(dir, "info", "exclude"), ignored); err != nil {
		return err
	}
	return disk.WrapError("copy the index", disk.CopyFile(index, filepath.Join(dir, "index")))
}
