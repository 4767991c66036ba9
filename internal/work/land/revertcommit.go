package land

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// RevertRequest describes a revert.
type RevertRequest struct {
	Branch         string // branch of the user's repository
	Before, Commit string // the range between them is reverted
	Subject, Why   string
	Run            nexus.RunID // the run that landed it
	At             time.Time
}

// undoes is the trailer of a commit that reverts another.
const undoes = "Nexus-Reverts: "

// MakeRevertCommit makes the commit that reverts a landing, on top of the branch as it is now,
// and returns it with its tree and with the commit of the branch. No ref moves. Later changes
// by others stay; if they changed the same lines, that is an error. If the landing is reverted
// already, the reverting commit is returned with done; if somebody restored it since, it is
// reverted again.
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
	is, err := trees.PrivateRepo().TreeID(ctx, at)
	switch {
	case err != nil:
		return "", "", at, false, err
	case commit != "" && (len(made.Conflicts) > 0 || made.Tree == is):
		return commit, "", at, true, nil
	case len(made.Conflicts) == 0 && made.Tree == is: // somebody reverted it by hand
		return at, "", at, true, nil
	}
	if len(made.Conflicts) > 0 {
		return "", "", at, false, &nexus.Error{
			Code: nexus.CodeTargetMoved, Message: "others have changed the same since: " + strings.Join(made.Conflicts, ", "),
			Hint: fmt.Sprintf("Take %.12s back by hand, or leave it.", u.Commit),
		}
	}
	last := undoes + u.Commit + "\n" + attemptTrailer(u.Run, "revert")
	message := strings.Join([]string{subjectLine("Revert: " + u.Subject), wrapParagraphs(u.Why, 72), last}, "\n\n") + "\n"
	commit, err = trees.Commit(ctx, made.Tree, []string{at}, message, u.At)
	return commit, made.Tree, at, false, err
}

func branchGoneError(branch string) error {
	return &nexus.Error{
		Code: nexus.CodeTargetMoved, Message: "there is no branch " + branch + " any more", Hint: "There is nothing to revert.",
	}
}

// findRevert finds the commit that has already reverted a landing.
func findRevert(ctx context.Context, trees *worktree.Store, u RevertRequest, at string) (string, error) {
	out, err := trees.PrivateRepo().Run(ctx, "log", "--format=%H", "--fixed-strings", "--grep="+undoes+u.Commit, "--end-of-options", u.Commit+".."+at)
	first, _, _ := strings.Cut(strings.TrimSpace(out), "\n")
	return first, err
}
