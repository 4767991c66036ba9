package copied

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Modules checks out the submodules of a tree at the commits that it names, as
// far as the working tree has them; checkout is where the tree was checked out,
// with its index in a directory that stays, and from is the working tree. What
// cannot be had is missing, and the gates say so.
func Modules(ctx context.Context, checkout git.Repo, from string) {
	out, err := checkout.Run(ctx, "ls-files", "-z", "--stage")
	if err != nil {
		return
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		stage, name, _ := strings.Cut(entry, "\t")
		words := strings.Fields(stage)
		if len(words) != 3 || words[0] != "160000" {
			continue
		}
		module(ctx, checkout, words[1], name, filepath.Join(from, filepath.FromSlash(name)))
	}
}

// module checks out one submodule, and those within it.
func module(ctx context.Context, checkout git.Repo, commit, name, from string) {
	repo, err := git.Find(ctx, from)
	if err != nil {
		return
	}
	at, err := filepath.EvalSymlinks(from)
	if work, err2 := filepath.EvalSymlinks(repo.Work); err != nil || err2 != nil || at != work {
		return // nobody fetched it: from belongs to the repository around it
	}
	own := git.Repo{Dir: repo.Dir, Work: filepath.Join(checkout.Work, filepath.FromSlash(name)), Index: fmt.Sprintf("%s-%x", checkout.Index, name)}
	if err := os.MkdirAll(own.Work, 0o700); err != nil {
		return
	}
	for _, args := range [][]string{{"read-tree", commit}, {"checkout-index", "--all", "--force"}} {
		if _, err := own.Run(ctx, args...); err != nil {
			return
		}
	}
	Modules(ctx, own, from)
}
