package check

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// workingTree is the name of a working tree that has no hash: git knows nothing of
// it, or it was another one when the gates had judged it.
const workingTree = "working tree"

// treeSnapshot is the working tree in a directory as it was when somebody looked.
type treeSnapshot struct {
	repo   git.Repo    // the zero one if git knows nothing of the directory
	hash   string      // of what it held, without what git ignores; [workingTree] where it has none
	stored *storedTree // kept, so that looking again is cheap; nil where it is not
}

// startLook looks at the working tree in a directory while the caller prepares
// what judges it, so that nobody waits for git. The result waits for the look,
// and may be called again. Close must be called on what it returns. If the tree
// is changed first, the look starts at the first call.
func startLook(ctx context.Context, dir string, changed bool) func() treeSnapshot {
	if changed {
		return sync.OnceValue(func() treeSnapshot { return lookAt(ctx, dir) })
	}
	done := make(chan treeSnapshot, 1)
	go func() { done <- lookAt(ctx, dir) }()
	return sync.OnceValue(func() treeSnapshot { return <-done })
}

// lookAt looks at the working tree in a directory. Close must be called.
func lookAt(ctx context.Context, dir string) treeSnapshot {
	l := treeSnapshot{hash: workingTree}
	user, err := git.Find(ctx, dir)
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

// again returns the hash of what the working tree in the same directory holds
// now.
func (l treeSnapshot) again(ctx context.Context, dir string) string {
	if l.stored == nil {
		l = lookAt(ctx, dir)
		defer l.close()
		return l.hash
	}
	tree, err := l.stored.again(ctx)
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

// treeAtStart returns the name of the tree that gates began to judge, empty where it
// has none.
func treeAtStart(all []nexus.Evidence) string {
	for _, e := range all {
		if e.Tree != "" && e.Tree != workingTree {
			return e.Tree
		}
	}
	return ""
}

// settleTree gives all that is said about the working tree the name of what gates
// began to judge, and returns that. Where the working tree is another one by
// now, none of it has a name, and the result is empty.
func settleTree(ctx context.Context, l treeSnapshot, dir, begun string, all []nexus.Evidence) string {
	if begun == "" {
		return ""
	}
	is, was := begun, workingTree
	if l.again(ctx, dir) != begun {
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
