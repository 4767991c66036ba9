package land

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// RevertRequest says what is taken back, and where.
type RevertRequest struct {
	Branch         string // of the user's repository
	Before, Commit string // what is between them is taken back
	Subject, Why   string
	Run            nexus.RunID // that landed it
	At             time.Time
}

// undoes is the trailer of a commit that takes another back.
const undoes = "Nexus-Reverts: "

// MakeRevertCommit makes the commit that takes a landing back, on top of the branch as it is now, and
// returns it with its tree and with where the branch is. Nothing moves. What others changed
// since stays; where they changed the same, that is an error. Where it was taken back already, the
// commit that did so is returned with done; what somebody brought back since is taken back again.
func MakeRevertCommit(ctx context.Context, trees *worktree.Store, u RevertRequest) (commit, tree, at string, done bool, err error) {
	if at, err = trees.BranchCommit(ctx, u.Branch); err != nil {
		return "", "", "", false, err
	}
	if at == "" {
		return "", "", "", false, branchGoneError(u.Branch)
	}
	if at, err = trees.Fetch(ctx, at); err != nil {
		return "", "", "", false, err
	}
	if commit, err = findRevert(ctx, trees, u, at); err != nil {
		return "", "", at, false, err
	}
	made, err := trees.Merge(ctx, u.Commit, at, u.Before)
	if err != nil {
		return "", "", at, false, err
	}
	is, err := trees.Git().Tree(ctx, at)
	switch {
	case err != nil:
		return "", "", at, false, err
	case commit != "" && (len(made.Conflicts) > 0 || made.Tree == is):
		return commit, "", at, true, nil
	case len(made.Conflicts) == 0 && made.Tree == is: // somebody did it by hand
		return at, "", at, true, nil
	}
	if len(made.Conflicts) > 0 {
		return "", "", at, false, &nexus.Error{
			Code: nexus.CodeTargetMoved, Message: "others have changed the same since: " + strings.Join(made.Conflicts, ", "),
			Hint: fmt.Sprintf("Take %.12s back by hand, or leave it.", u.Commit),
		}
	}
	last := undoes + u.Commit + "\n" + trailer(u.Run, "revert")
	message := strings.Join([]string{subject("Revert: " + u.Subject), wrap(u.Why, 72), last}, "\n\n") + "\n"
	commit, err = trees.Commit(ctx, made.Tree, []string{at}, message, u.At)
	return commit, made.Tree, at, false, err
}

func branchGoneError(branch string) error {
	return &nexus.Error{
		Code: nexus.CodeTargetMoved, Message: "there is no branch " + branch + " any more", Hint: "There is nothing to revert.",
	}
}

// findRevert finds the commit that takes a landing back already.
func findRevert(ctx context.Context, trees *worktree.Store, u RevertRequest, at string) (string, error) {
	out, err := trees.Git().Run(ctx, "log", "--format=%H", "--fixed-strings", "--grep="+undoes+u.Commit, "--end-of-options", u.Commit+".."+at)
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return first, err
}
