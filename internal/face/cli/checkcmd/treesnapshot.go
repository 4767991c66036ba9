package checkcmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// workingTree is the name of a working tree without a hash: it is not in a repository, or it
// changed while the gates ran.
const workingTree = "working tree"

// treeSnapshot is a snapshot of the working tree in a directory.
type treeSnapshot struct {
	repo   git.Repo    // zero outside a repository
	hash   string      // of its content without ignored files; [workingTree] if it has none
	stored *storedTree // kept, so that the next snapshot is cheap; nil if not kept
}

// startSnapshot takes a snapshot of the working tree in a directory in the background, so that the
// caller does not wait for git while it prepares the gates. The returned function waits for the
// snapshot, and may be called again. Close must be called on its result. If changed is set, the
// snapshot starts at the first call, after the tree's changes.
func startSnapshot(ctx context.Context, dir string, changed bool) func() treeSnapshot {
	if changed {
		return sync.OnceValue(func() treeSnapshot { return snapshotTree(ctx, dir) })
	}
	done := make(chan treeSnapshot, 1)
	go func() { done <- snapshotTree(ctx, dir) }()
	return sync.OnceValue(func() treeSnapshot { return <-done })
}

// snapshotTree takes a snapshot of the working tree in a directory. Close must be called.
func snapshotTree(ctx context.Context, dir string) treeSnapshot {
	l := treeSnapshot{hash: workingTree}
	user, err := git.FindRepo(ctx, dir)
	if err != nil {
		return l
	}
	l.repo = user
	stored, err := readWorking(ctx, user)
	if err != nil {
		return l // such as an index that git cannot read
	}
	l.hash, l.stored = stored.Hash, stored
	if tmp, err := filepath.EvalSymlinks(os.TempDir()); err != nil || tmp == user.Work || strings.HasPrefix(tmp, user.Work+"/") {
		l.close() // the gates would see it in the tree
		l.stored = nil
	}
	return l
}

// rehash returns the current hash of the working tree in the same directory.
func (l treeSnapshot) rehash(ctx context.Context, dir string) string {
	if l.stored == nil {
		l = snapshotTree(ctx, dir)
		defer l.close()
		return l.hash
	}
	tree, err := l.stored.rehash(ctx)
	if err != nil {
		return workingTree
	}
	return tree
}

func (l treeSnapshot) close() {
	if l.stored != nil {
		l.stored.Close()
	}
}

// treeAtStart returns the name of the tree at the start of the gates; empty if it has none.
func treeAtStart(all []nexus.GateEvidence) string {
	for _, e := range all {
		if e.Tree != "" && e.Tree != workingTree {
			return e.Tree
		}
	}
	return ""
}

// setJudgedTree sets the name of the judged tree in all evidence about the working tree, and returns
// it. If the working tree has changed since, the evidence gets the name [workingTree], and the
// result is empty.
func setJudgedTree(ctx context.Context, l treeSnapshot, dir, begun string, all []nexus.GateEvidence) string {
	if begun == "" {
		return ""
	}
	is, was := begun, workingTree
	if l.rehash(ctx, dir) != begun {
		is, was = workingTree, begun
	}
	for i := range all {
		if all[i].Tree == was {
			all[i].Tree = is
		}
	}
	if is == workingTree {
		return ""
	}
	return begun
}
