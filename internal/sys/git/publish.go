package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PublishBranch creates or moves a branch of the user's repository, with its objects. The branch name
// begins with the clone's prefix and a slash. Index, files, configuration and HEAD of every
// checkout are unchanged; a branch that is checked out, or that somebody else moved, is refused.
// It is idempotent.
func (c *PrivateClone) PublishBranch(ctx context.Context, branch, commit string) error {
	commit, err := c.git.Resolve(ctx, commit)
	if err != nil {
		return err
	}
	prefix := cmp.Or(c.Prefix, DefaultPrefix)
	if err := CheckRef(branch); err != nil || !strings.HasPrefix(branch, prefix+"/") {
		return invalidInputError(fmt.Sprintf("branch %q is not one of nexus", branch), "Publish to a branch below "+prefix+"/.", err)
	}
	if err := CheckBranchPrefix(ctx, c.user, prefix); err != nil {
		return err
	}
	ref, mark := "refs/heads/"+branch, "refs/published/"+branch
	is, err := refCommit(ctx, c.user, ref)
	if err != nil {
		return err
	}
	if is == commit {
		return c.recordPublished(ctx, mark, commit) // an earlier process may have died before this
	}
	if err := c.checkNoForeignCommits(ctx, mark, is, commit, branch); err != nil {
		return err
	}
	where, err := branchCheckouts(ctx, c.user, ref)
	if err != nil {
		return err
	}
	if len(where) > 0 {
		return targetMovedError("branch "+branch+" is checked out in "+where[0], "Check out another branch there, then try again.", nil)
	}
	if err := c.exportCommit(ctx, commit); err != nil {
		return err
	}
	if is == "" {
		is = c.zero
	}
	if _, err := c.user.Run(ctx, "update-ref", "--no-deref", "--end-of-options", ref, commit, is); err != nil {
		return targetMovedError("branch "+branch+" could not be moved", "See what else changes it, then try again.", err)
	}
	if err := verifyMovedRef(ctx, c.user, ref, commit); err != nil {
		return err
	}
	return c.recordPublished(ctx, mark, commit)
}

// exportCommit copies a commit to the user's repository, with its LFS content.
func (c *PrivateClone) exportCommit(ctx context.Context, commit string) error {
	if err := c.exportLFS(ctx, commit); err != nil {
		return err
	}
	return fetchCommit(ctx, c.user, c.git.Dir, commit, "")
}

// DefaultPrefix is the default prefix of published branches, before a slash.
const DefaultPrefix = "nexus"

// CheckBranchPrefix returns an error if branches below a prefix cannot be created: a git branch cannot
// be the directory of another one.
func CheckBranchPrefix(ctx context.Context, r Repo, prefix string) error {
	if err := CheckRef(prefix); err != nil {
		return invalidInputError(fmt.Sprintf("git.prefix = %q cannot begin the name of a branch", prefix), "Set git.prefix to letters, digits, dashes and slashes, such as nexus.", err)
	}
	for name := prefix; name != "."; name = path.Dir(name) {
		if is, err := refCommit(ctx, r, "refs/heads/"+name); err != nil || is == "" {
			if err != nil {
				return err
			}
			continue
		}
		return &nexus.Error{
			Code:    nexus.CodeInvalidInput,
			Message: fmt.Sprintf("the branch %s is in the way: results are branches below %s/, and git cannot have both", name, prefix),
			Hint:    fmt.Sprintf("Rename it (git branch -m %s NEW), or set git.prefix to something else than %s in nexus.toml.", name, prefix),
		}
	}
	return nil
}

// recordPublished records the commit to which a branch was published.
func (c *PrivateClone) recordPublished(ctx context.Context, mark, commit string) error {
	if was, err := refCommit(ctx, c.git, mark); err != nil || was == commit {
		return err
	}
	_, err := c.git.Run(ctx, "update-ref", mark, commit)
	return err
}

// checkNoForeignCommits returns an error if a published branch at commit is must not be moved to
// commit, because somebody else added commits to it.
func (c *PrivateClone) checkNoForeignCommits(ctx context.Context, mark, is, commit, branch string) error {
	if is == "" {
		return nil
	}
	if was, err := refCommit(ctx, c.git, mark); err != nil || was == is {
		return err
	}
	if ok, err := c.isAncestor(ctx, is, commit); err != nil || ok {
		return err
	}
	return targetMovedError("branch "+branch+" has commits that are not from nexus", "Rename that branch, then try again.", nil)
}

// isAncestor reports whether a is b or an ancestor of b. A commit that is not in the private clone
// is no ancestor.
func (c *PrivateClone) isAncestor(ctx context.Context, a, b string) (bool, error) {
	if is, err := refCommit(ctx, c.git, a); err != nil || is == "" {
		return false, err
	}
	_, err := c.git.Run(ctx, "merge-base", "--is-ancestor", a, b)
	if x, ok := errors.AsType[*ExitError](err); ok && x.Status == 1 {
		return false, nil
	}
	return err == nil, err
}

// TargetMovedError is returned if a branch of the user's repository has moved, so that the new commits
// must be merged onto it before landing.
type TargetMovedError struct {
	Target string
	At     string // its current commit, which is in the private clone
}

// Error implements error.
func (e *TargetMovedError) Error() string {
	return fmt.Sprintf("%s is at %.12s", e.Target, e.At)
}

func branchMovedError(target, at string) error {
	return targetMovedError("branch "+target+" has new commits", "The landed work must be merged onto them first.", &TargetMovedError{target, at})
}

// LandOnUserBranch moves a branch of the user's repository forward to commit, from was or from the result of
// an earlier call. A branch that already contains the commit is fine; one with other commits on
// top of was is a [TargetMovedError]. If the branch is checked out, the checkout is updated by git's own
// rules: if a file that changes has changes of the user's, nothing moves. It is idempotent.
func (c *PrivateClone) LandOnUserBranch(ctx context.Context, target, commit, was string) error {
	commit, err := c.git.Resolve(ctx, commit)
	if err != nil {
		return err
	}
	ref := "refs/heads/" + target
	if err := CheckRef(ref); err != nil {
		return invalidInputError(fmt.Sprintf("%q is not a branch", target), "Name a branch of the repository.", err)
	}
	is, err := refCommit(ctx, c.user, ref)
	if err != nil || is == commit {
		return err
	}
	if is == "" {
		return targetMovedError("there is no branch "+target+" any more", "Create it again, or name another one: nexus land --target BRANCH.", nil)
	}
	if done, err := c.checkFastForward(ctx, target, commit, was, is); err != nil || done {
		return err
	}
	if err := c.exportCommit(ctx, commit); err != nil {
		return err
	}
	err = c.fastForward(ctx, target, commit, is)
	if now, lost := refCommit(ctx, c.user, ref); err != nil && lost == nil && now != is && now != "" {
		if _, lost := c.Fetch(ctx, now); lost == nil { // somebody else was faster
			return branchMovedError(target, now)
		}
	}
	if err != nil {
		return err
	}
	return verifyMovedRef(ctx, c.user, ref, commit)
}

// BranchCommit returns the commit of a branch of the user's repository.
func (c *PrivateClone) BranchCommit(ctx context.Context, name string) (string, error) {
	return refCommit(ctx, c.user, "refs/heads/"+name)
}

// checkFastForward compares a branch at commit is with the new commit: done if the branch already
// contains it, or an error if it cannot be fast-forwarded.
func (c *PrivateClone) checkFastForward(ctx context.Context, target, commit, was, is string) (done bool, err error) {
	if _, err := c.Fetch(ctx, is); err != nil {
		return false, err
	}
	if done, err := c.isAncestor(ctx, commit, is); err != nil || done {
		return done, err
	}
	switch kept, err := c.isAncestor(ctx, was, is); {
	case err != nil:
		return false, err
	case !kept:
		return false, targetMovedError(fmt.Sprintf("branch %s no longer has %.12s, from which the work started", target, was),
			"Somebody rewrote it. Merge the published branch yourself: git merge nexus/<run>.", nil)
	}
	if ahead, err := c.isAncestor(ctx, is, commit); err != nil || ahead {
		return false, err
	}
	return false, branchMovedError(target, is)
}

// fastForward moves a branch forward, and updates its checkout, if there is one.
func (c *PrivateClone) fastForward(ctx context.Context, target, commit, is string) error {
	ref := "refs/heads/" + target
	where, err := branchCheckouts(ctx, c.user, ref)
	if err != nil {
		return err
	}
	switch len(where) {
	case 0:
		_, err = c.user.Run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
			"--no-recurse-submodules", "--end-of-options", c.git.Dir, commit+":"+ref)
	case 1:
		err = c.fastForwardCheckout(ctx, where[0], commit, is)
	default:
		return targetMovedError("branch "+target+" is checked out twice", "Check out another branch in one of: "+strings.Join(where, ", ")+".", nil)
	}
	if err == nil {
		return nil
	}
	return targetMovedError("branch "+target+" could not be moved forward",
		"Nothing was changed. Commit or stash the files in the way, then: nexus land.", err)
}

// fastForwardCheckout updates the checkout in dir, with its branch.
func (c *PrivateClone) fastForwardCheckout(ctx context.Context, dir, commit, was string) error {
	r, err := FindRepo(ctx, dir)
	if err != nil {
		return err
	}
	changes, err := c.ChangedFiles(ctx, was, commit)
	if err != nil {
		return err
	}
	for _, rev := range []string{was, commit} {
		if err := c.checkFilters(ctx, rev, changes); err != nil {
			return err
		}
	}
	if err := checkNotBlocked(r.Work, changes); err != nil {
		return err
	}
	if err := c.checkCheckoutCanMove(ctx, r, commit, was); err != nil {
		return err
	}
	_, err = r.Run(ctx, "merge", "--ff-only", "--no-overwrite-ignore", "--no-autostash", "--no-verify-signatures",
		"--no-stat", "--quiet", "--end-of-options", commit)
	return err
}

// checkCheckoutCanMove returns an error if a checkout cannot be updated. It tests this on a copy
// of the index, because the merge itself would leave traces.
func (c *PrivateClone) checkCheckoutCanMove(ctx context.Context, r Repo, commit, was string) (err error) {
	if _, err := os.Lstat(filepath.Join(r.Dir, "index.lock")); err == nil {
		return errors.New("another git works in " + r.Work)
	}
	dir, err := os.MkdirTemp(c.git.Dir, ".rehearse-")
	if err != nil {
		return filewrite.WrapError("look at the checkout", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	index := filepath.Join(dir, "index")
	if err := filewrite.CopyFile(filepath.Join(r.Dir, "index"), index); err != nil {
		return filewrite.WrapError("look at the checkout", err)
	}
	r.Index = index
	if _, err := r.Run(ctx, "update-index", "-q", "--refresh"); err != nil {
		if _, ok := errors.AsType[*ExitError](err); !ok { // files with changes may be fine
			return err
		}
	}
	_, err = r.Run(ctx, "read-tree", "-n", "-m", "-u", was, commit)
	return err
}

// checkNotBlocked returns an error that names a file, ignored or not, in the place of a new one.
func checkNotBlocked(work string, changes []ChangedTreeFile) error {
	goes := map[string]bool{}
	for _, ch := range changes {
		goes[ch.Path] = ch.Status != "A"
	}
	for _, ch := range changes {
		if ch.Status != "A" {
			continue
		}
		for p := ch.Path; p != "."; p = path.Dir(p) {
			info, err := os.Lstat(filepath.Join(work, p))
			if err == nil && !goes[p] && !info.IsDir() {
				return fmt.Errorf("%s is in the way", p)
			}
		}
	}
	return nil
}

// branchCheckouts lists the directories in which a branch is checked out, or used by a rebase or bisect.
func branchCheckouts(ctx context.Context, r Repo, ref string) ([]string, error) {
	out, err := r.Run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	return parseWorktrees(out, ref), nil
}

// parseWorktrees parses the output of worktree list --porcelain -z: records of attributes, each
// ended by a NUL, each record by one more.
func parseWorktrees(out, ref string) []string {
	var dirs []string
	for record := range strings.SplitSeq(out, "\x00\x00") {
		dir := ""
		for line := range strings.SplitSeq(record, "\x00") {
			if d, ok := strings.CutPrefix(line, "worktree "); ok {
				dir = d
			}
			if line == "branch "+ref {
				dirs = append(dirs, dir)
			}
		}
	}
	return dirs
}

// verifyMovedRef reads a ref again after it was moved, and checks it.
func verifyMovedRef(ctx context.Context, r Repo, ref, commit string) error {
	is, err := refCommit(ctx, r, ref)
	if err != nil || is == commit {
		return err
	}
	return targetMovedError(fmt.Sprintf("%s is at %.12s, not at %.12s", ref, is, commit), "See what else moved it.", nil)
}

// checkFilters returns an error if the attributes of rev give a changed file a filter: a filter is
// a program, and without running it the checkout would get the wrong content.
func (c *PrivateClone) checkFilters(ctx context.Context, rev string, changes []ChangedTreeFile) (err error) {
	dir, err := os.MkdirTemp(c.git.Dir, ".attributes-")
	if err != nil {
		return filewrite.WrapError("read attributes", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := c.git
	r.Index = filepath.Join(dir, "index")
	if _, err := r.Run(ctx, "read-tree", rev); err != nil {
		return err
	}
	var in strings.Builder
	for _, ch := range changes {
		in.WriteString(ch.Path + "\x00")
	}
	out, err := r.RunWithInput(ctx, strings.NewReader(in.String()), "check-attr", "--cached", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	f := strings.Split(out, "\x00")
	for i := 0; i+2 < len(f); i += 3 {
		if v := f[i+2]; v != "unspecified" && v != "unset" {
			return fmt.Errorf("%s goes through the filter %q", f[i], v)
		}
	}
	return nil
}
