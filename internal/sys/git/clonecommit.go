package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Patch returns the differing lines of two commits or trees, and whether the patch is complete;
// see [Repo.Patch].
func (c *PrivateClone) Patch(ctx context.Context, from, to string) (patch string, whole bool, err error) {
	return c.git.Patch(ctx, from, to)
}

// ChangedFiles lists the files that differ between two commits or trees, by path.
func (c *PrivateClone) ChangedFiles(ctx context.Context, from, to string) ([]ChangedTreeFile, error) {
	return c.git.ChangedFiles(ctx, from, to)
}

// Merge merges theirs into ours, with base as the merge base. All three are commits or trees; no
// work tree is changed.
func (c *PrivateClone) Merge(ctx context.Context, base, ours, theirs string) (MergeResult, error) {
	return c.git.Merge(ctx, base, ours, theirs)
}

// Commit creates a commit of a tree. Equal arguments create the same commit.
func (c *PrivateClone) Commit(ctx context.Context, tree string, parents []string, message string, at time.Time) (string, error) {
	tree, err := c.git.TreeID(ctx, tree)
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-F", "-", tree}
	for _, p := range parents {
		if p, err = c.git.Resolve(ctx, p); err != nil {
			return "", err
		}
		args = append(args, "-p", p)
	}
	date := fmt.Sprintf("@%d +0000", at.Unix())
	r := c.git
	r.Env = append(c.Who.gitEnviron(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	commit, err := r.RunWithInput(ctx, strings.NewReader(message), args...)
	return strings.TrimSpace(commit), err
}

// MoveRef sets a ref of the private clone to a commit, if it now has the commit from; "" means
// that it must not exist. A ref that already has the new commit is fine.
func (c *PrivateClone) MoveRef(ctx context.Context, ref, to, from string) error {
	if err := CheckRef(ref); err != nil || !strings.HasPrefix(ref, "refs/") {
		return invalidInputError(fmt.Sprintf("%q is not a ref", ref), "Name a ref in full, such as refs/nexus/run/train.", err)
	}
	to, err := c.git.Resolve(ctx, to)
	if err != nil {
		return err
	}
	if from == "" {
		from = c.zero
	}
	_, failed := c.git.Run(ctx, "update-ref", "--no-deref", "--end-of-options", ref, to, from)
	is, err := refCommit(ctx, c.git, ref)
	switch {
	case err != nil:
		return errors.Join(failed, err)
	case is == to:
		return nil
	default:
		return targetMovedError(fmt.Sprintf("%s is not at %.12s", ref, from), "Read it again, then decide.", failed)
	}
}

// refCommit returns the commit of a ref, or "" if the ref does not exist.
func refCommit(ctx context.Context, r Repo, ref string) (string, error) {
	commit, err := r.Resolve(ctx, ref)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		return "", nil
	}
	return commit, err
}

func targetMovedError(what, hint string, cause error) error {
	return &nexus.Error{Code: nexus.CodeTargetMoved, Message: what, Hint: hint, Cause: cause}
}

func invalidInputError(what, hint string, cause error) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: what, Hint: hint, Cause: cause}
}
