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

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// TreeFillMethod is the method by which the files of a tree are created.
type TreeFillMethod string

// The methods. Both result in the same files, and writes in one tree never affect another.
const (
	FillAny     TreeFillMethod = ""        // an overlay if one can be mounted
	FillOverlay TreeFillMethod = "overlay" // an overlay over files that all trees share
	FillPlain   TreeFillMethod = "plain"   // written one by one
)

// buildTree creates all parts of a tree in home, which is not yet t.home.
func (t *AttemptTree) buildTree(ctx context.Context, home string) error {
	if err := os.Mkdir(filepath.Join(home, "tmp"), 0o700); err != nil {
		return filewrite.WrapError("make a worktree", err)
	}
	t.Way = t.s.fillMethod()
	n, index, err := t.createFiles(ctx, home)
	if err != nil {
		return err
	}
	names, err := t.s.ImportNamedRefs(ctx)
	if err != nil {
		return fmt.Errorf("read the names of branches and tags: %w", err)
	}
	v, err := t.s.prepareVisibleObjects(ctx, t.last, names)
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
	return filewrite.WriteFile(filepath.Join(home, "tree.json"), data)
}

// createFiles creates the files and returns the path of an index file for them.
func (t *AttemptTree) createFiles(ctx context.Context, home string) (treeRecord, string, error) {
	if t.Way == FillOverlay {
		n, index, err := t.mountOverlay(ctx, home)
		if !errors.Is(err, overlay.ErrNone) || t.s.Way == FillOverlay {
			return n, index, err
		}
		t.Way, t.lower = FillPlain, "" // the plain method is always possible
		if err := os.RemoveAll(filepath.Join(home, "tree")); err != nil {
			return treeRecord{}, "", filewrite.WrapError("make a worktree", err)
		}
	}
	index := filepath.Join(home, "index")
	since, err := CheckoutTree(ctx, t.s.git, t.tree, filepath.Join(home, "tree"), index)
	if err != nil {
		return treeRecord{}, "", err
	}
	g, err := readCheckoutState(index, t.tree, since, t.s.objects.IDSize())
	t.attrs = g.Attributes
	return treeRecord{Base: t.Base, Way: t.Way, Tree: t.tree, Since: since}, index, err
}

// mountOverlay mounts an overlay over existing shared files, and writes the differences.
func (t *AttemptTree) mountOverlay(ctx context.Context, home string) (treeRecord, string, error) {
	low, err := t.s.checkouts.checkoutForOverlay(ctx, t.tree)
	if err != nil {
		return treeRecord{}, "", err
	}
	t.lower, t.attrs = low.Tree, low.Attributes
	l := t.s.overlayLayers(home, low.Tree)
	for _, d := range []string{l.Upper, l.Work, l.Dir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return treeRecord{}, "", filewrite.WrapError("make a worktree", err)
		}
	}
	if err := overlay.MountOverlay(l); err != nil {
		return treeRecord{}, "", err
	}
	n := treeRecord{Base: t.Base, Way: t.Way, Tree: low.Tree, Since: low.Since}
	index := t.s.checkouts.checkoutPath(low.Tree, "index")
	var changes []ChangedTreeFile
	var stats git.Index
	if low.Tree != t.tree {
		if changes, stats, _, err = t.applyDiff(ctx, l.Dir, low.Tree, t.tree); err != nil {
			return treeRecord{}, "", err
		}
	}
	late, placed, err := t.placeLateLFSContent(ctx, l.Dir, low)
	if err != nil {
		return treeRecord{}, "", err
	}
	if changes, stats = append(changes, late...), sortByPath(append(stats, placed...)); len(changes) == 0 {
		return n, index, nil
	}
	now, err := fileClock(filepath.Join(home, "clock"))
	if err != nil {
		return treeRecord{}, "", filewrite.WrapError("make a worktree", err)
	}
	if err := t.recordChanges(changes, stats, now); err != nil {
		return treeRecord{}, "", err
	}
	index = filepath.Join(home, "index")
	return n, index, t.writeMergedIndex(low.Index, changes, stats, index)
}

// writeMergedIndex writes an index that combines some changes with another index, for the agent.
func (t *AttemptTree) writeMergedIndex(base git.Index, changes []ChangedTreeFile, stats git.Index, to string) error {
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
	return filewrite.WriteFile(to, data)
}

func (s *Store) overlayLayers(home, lower string) overlay.Layers {
	return overlay.Layers{
		Lower: s.checkouts.checkoutPath(lower, "tree"), Upper: filepath.Join(home, "upper"),
		Work: filepath.Join(home, "work"), Dir: filepath.Join(home, "tree"),
	}
}

// remountTree mounts an unmounted tree, after its store was closed or the machine was restarted.
func (t *AttemptTree) remountTree(ctx context.Context) error {
	if t.lower == "" {
		return nil
	}
	t.s.recordMount(t.home)
	if on, err := overlay.IsMounted(t.Dir); err != nil || on {
		return filewrite.WrapError("look for a worktree's mount", err)
	}
	if _, err := t.s.checkouts.exactCheckout(ctx, t.lower); err != nil {
		return err
	}
	return overlay.MountOverlay(t.s.overlayLayers(t.home, t.lower))
}

// startState returns the state of the files with which the tree started.
func (t *AttemptTree) startState() (writtenCheckout, error) {
	if t.lower != "" {
		return t.s.checkouts.ReadState(t.lower)
	}
	return readCheckoutState(filepath.Join(t.home, "index"), t.note.Tree, t.note.Since, t.s.objects.IDSize())
}

// writeAgentGitDir writes the git directory that the agent's own git finds from the tree. It borrows the
// objects of the private clone, or the visible part of them, and has the user's refs.
func (t *AttemptTree) writeAgentGitDir(home, index string, n treeRecord, v visibleObjectStore, names []git.NamedRef) error {
	dir, own := filepath.Join(home, "git"), AttemptBranch(t.Run, t.ID)
	names = append(slices.Clone(names), v.replacementRefs()...)
	slices.SortStableFunc(names, func(a, b git.NamedRef) int { return strings.Compare(a.Ref, b.Ref) })
	files := map[string]string{
		"config":                  git.CloneConfig(t.s.objects.IDSize(), false, v.gitConfig()),
		"HEAD":                    "ref: " + own + "\n",
		own:                       t.last + "\n",
		"packed-refs":             git.FormatPackedRefs(names, own),
		"objects/info/alternates": n.objectsDir(t.s) + "\n",
	}
	for name, text := range files {
		if err := filewrite.WriteFile(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	if err := git.WriteSymbolicRefs(dir, names, own); err != nil {
		return err
	}
	err := filewrite.CopyFile(filepath.Join(t.s.git.Dir, "shallow"), filepath.Join(dir, "shallow"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return filewrite.WrapError("write the agent's git directory", err)
	}
	var ignored []byte
	for _, name := range []string{git.UserIgnore, "info/exclude"} { // the latter overrides the former, as in git
		data, err := os.ReadFile(filepath.Join(t.s.git.Dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return filewrite.WrapError("write the agent's git directory", err)
		}
		ignored = append(append(ignored, data...), '\n')
	}
	if err := filewrite.WriteFile(filepath.Join(dir, "info", "exclude"), ignored); err != nil {
		return err
	}
	return filewrite.WrapError("copy the index", filewrite.CopyFile(index, filepath.Join(dir, "index")))
}
