// Package named says by its hash which tree gates judge, where that is the
// working tree: what they say is about what it holds then, and about nothing
// that comes after.
package named

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/critic"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Nothing is the name of a working tree that has no hash: git knows nothing of
// it, or it was another one when the gates had judged it.
const Nothing = "working tree"

// Tree returns the hash of what the working tree in a directory holds, without
// what git ignores, and [Nothing] where it has none.
func Tree(ctx context.Context, dir string) string {
	user, err := git.Find(ctx, dir)
	if err != nil {
		return Nothing
	}
	_, tree, done, err := critic.Working(ctx, user)
	if err != nil {
		return Nothing // such as before the first commit
	}
	done()
	return tree
}

// Begun returns the name of the tree that gates began to judge, empty where it
// has none.
func Begun(all []nexus.Evidence) string {
	for _, e := range all {
		if e.Tree != "" && e.Tree != Nothing {
			return e.Tree
		}
	}
	return ""
}

// Settle gives all that is said of the working tree the name of what gates
// began to judge, and returns that. Where the working tree is another one by
// now, none of it has a name, and the result is empty.
func Settle(ctx context.Context, dir, begun string, all []nexus.Evidence) string {
	if begun == "" {
		return ""
	}
	is, was := begun, Nothing
	if Tree(ctx, dir) != begun {
		is, was = Nothing, begun
	}
	for i := range all {
		if all[i].Tree == was {
			all[i].Tree = is
		}
	}
	if is == Nothing {
		return ""
	}
	return begun
}
