package check

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/critic"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// workingTree is the name of a working tree that has no hash: git knows nothing of
// it, or it was another one when the gates had judged it.
const workingTree = "working tree"

// hashTree returns the hash of what the working tree in a directory holds, without
// what git ignores, and [workingTree] where it has none.
func hashTree(ctx context.Context, dir string) string {
	user, err := git.Find(ctx, dir)
	if err != nil {
		return workingTree
	}
	_, tree, done, err := critic.Working(ctx, user)
	if err != nil {
		return workingTree // such as before the first commit
	}
	done()
	return tree
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

// settleTree gives all that is said of the working tree the name of what gates
// began to judge, and returns that. Where the working tree is another one by
// now, none of it has a name, and the result is empty.
func settleTree(ctx context.Context, dir, begun string, all []nexus.Evidence) string {
	if begun == "" {
		return ""
	}
	is, was := begun, workingTree
	if hashTree(ctx, dir) != begun {
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
