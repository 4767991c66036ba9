package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CommitIdentity is the author of a commit. The zero value is Nexus itself.
type CommitIdentity struct{ Name, Email string }

// gitEnviron returns the variables that set the identity as author and committer.
func (i CommitIdentity) gitEnviron() []string {
	name, mail := i.nameAndEmail()
	return []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + mail,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + mail,
	}
}

func (i CommitIdentity) nameAndEmail() (name, mail string) {
	return cmp.Or(i.Name, "nexus"), cmp.Or(i.Email, "nexus@localhost")
}

// CheckGit returns an error unless git is installed and new enough.
func CheckGit(ctx context.Context) error {
	out, err := Repo{}.Run(ctx, "version")
	if err != nil {
		return err
	}
	major, minor, ok := parseVersion(out)
	if !ok || major < 2 || major == 2 && minor < 38 {
		return &nexus.Error{
			Code: nexus.CodeNoGit, Message: strings.TrimSpace(out) + " is too old",
			Hint: "Install git 2.38 or newer: merges need merge-tree --write-tree.",
		}
	}
	return nil
}

// parseVersion parses the output of "git version", such as "git version 2.39.5".
func parseVersion(out string) (major, minor int, ok bool) {
	f := strings.Fields(out)
	if len(f) < 3 || f[0] != "git" || f[1] != "version" {
		return 0, 0, false
	}
	parts := strings.SplitN(f[2], ".", 3)
	if len(parts) < 2 {
		return 0, 0, false
	}
	major, err1 := strconv.Atoi(parts[0])
	minor, err2 := strconv.Atoi(parts[1])
	return major, minor, err1 == nil && err2 == nil && major >= 0 && minor >= 0
}

// FindRepo returns the repository of dir: its git directory, and its work tree unless it is bare.
func FindRepo(ctx context.Context, dir string) (Repo, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Repo{}, err
	}
	r, err := locateRepo(ctx, dir)
	if err != nil {
		return Repo{}, notRepositoryError(dir, err)
	}
	if r.common != "" {
		return r, nil // HEAD was found with it
	}
	if _, err := r.Resolve(ctx, "HEAD"); err != nil {
		if x, ok := errors.AsType[*nexus.Error](err); ok && x.Code == nexus.CodeNotFound {
			err = nil // its output was closed
		}
		return Repo{}, &nexus.Error{
			Code: nexus.CodeNoCommits, Message: dir + " has no commit yet",
			Hint: "Commit something first: a run starts from a commit; git commit --allow-empty -m 'Begin' makes an empty one.", Cause: err,
		}
	}
	return r, nil
}

// locateRepo asks git for all paths and for HEAD at once, and one by one if that fails: a bare
// repository has no work tree, a new one no commit, and a path may contain line breaks. HEAD is read as
// a ref, without its commit, which git would fetch in a partial clone.
func locateRepo(ctx context.Context, dir string) (Repo, error) {
	if all, err := discoverRepo(ctx, dir, "--absolute-git-dir", "--is-bare-repository", "--show-toplevel", "--git-common-dir", "HEAD"); err == nil {
		if lines := strings.Split(all, "\n"); len(lines) == 5 && lines[1] == "false" {
			return Repo{Dir: lines[0], Work: lines[2], common: lines[3]}, nil
		}
	}
	at, err := discoverRepo(ctx, dir, "--absolute-git-dir")
	if err != nil {
		return Repo{}, err
	}
	r := Repo{Dir: at}
	bare, err := discoverRepo(ctx, dir, "--is-bare-repository")
	if err == nil && bare != "true" {
		r.Work, err = discoverRepo(ctx, dir, "--show-toplevel")
	}
	return r, err
}

// discoverRepo asks git for the location of a repository. It is the only command that lets git search
// for one, and the only one that reads the user's own configuration, for safe.directory; it starts
// no program.
func discoverRepo(ctx context.Context, dir string, what ...string) (string, error) {
	args := append(append(hardenedOptions(), "rev-parse", "--path-format=absolute"), what...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = dir, envWithUserConfig()
	setProcessGroup(cmd)
	cmd.WaitDelay = pipeDelay
	out, err := cmd.Output()
	if x, ok := errors.AsType[*exec.ExitError](err); ok {
		err = &ExitError{Args: []string{"rev-parse"}, Status: x.ExitCode(), Stderr: string(x.Stderr)}
	}
	if errors.Is(err, exec.ErrNotFound) {
		err = gitMissingError(err)
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

func notRepositoryError(dir string, err error) error {
	if errors.Is(err, &nexus.Error{Code: nexus.CodeNoGit}) {
		return err
	}
	if x, ok := errors.AsType[*ExitError](err); ok && strings.Contains(x.Stderr, "dubious ownership") {
		_, at, _ := strings.Cut(x.Stderr, "in repository at '")
		at, _, _ = strings.Cut(at, "'")
		at = cmp.Or(at, dir)
		return &nexus.Error{
			Code: nexus.CodeNotRepository, Message: at + " belongs to another user, so git does not read it",
			Hint: "If you trust it: git config --global --add safe.directory '" + at + "'",
		}
	}
	return &nexus.Error{
		Code: nexus.CodeNotRepository, Message: dir + " is not in a git repository",
		Hint: "Run in a git repository, or make one: git init, then commit.", Cause: err,
	}
}

// CommonDir returns the git directory that all work trees of the repository share, with its objects
// and branches.
func (r Repo) CommonDir(ctx context.Context) (string, error) {
	if r.common != "" {
		return r.common, nil
	}
	return r.RunLine(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
}

// Head returns the checked-out commit and its branch; the branch is "" for a detached head.
func (r Repo) Head(ctx context.Context) (commit, branch string, err error) {
	if commit, err = r.Resolve(ctx, "HEAD"); err != nil {
		return "", "", err
	}
	ref, err := r.RunLine(ctx, "symbolic-ref", "--quiet", "HEAD")
	if x, ok := errors.AsType[*ExitError](err); ok && x.Status == 1 {
		return commit, "", nil
	}
	return commit, strings.TrimPrefix(ref, "refs/heads/"), err
}

// MergeBase returns the last common ancestor of two commits, or "" if their histories have none:
// for example a branch with a new root, or a snapshot of a tree.
func (r Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	base, err := r.RunLine(ctx, "merge-base", "--end-of-options", a, b)
	if x, ok := errors.AsType[*ExitError](err); ok && x.Status == 1 {
		return "", nil
	}
	return base, err
}

// Resolve returns the commit of a revision.
func (r Repo) Resolve(ctx context.Context, rev string) (string, error) {
	return r.objectID(ctx, rev, "commit")
}

// TreeID returns the tree of a commit or tree.
func (r Repo) TreeID(ctx context.Context, rev string) (string, error) {
	return r.objectID(ctx, rev, "tree")
}

func (r Repo) objectID(ctx context.Context, rev, kind string) (string, error) {
	if rev == "" || strings.ContainsAny(rev, "\x00\n") {
		return "", noSuchObjectError(rev, kind, nil)
	}
	if o := r.objectReader(rev); o != nil {
		id, err := o.resolve(ctx, rev+"^{"+kind+"}")
		if errors.Is(err, errMissing) {
			return "", noSuchObjectError(rev, kind, nil)
		}
		if err == nil {
			return id, nil
		} // a reader ends at what it cannot read, such as @{u} without an upstream
	}
	id, err := r.RunLine(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{"+kind+"}")
	if x, ok := errors.AsType[*ExitError](err); ok {
		return "", noSuchObjectError(rev, kind, x)
	}
	if err == nil && !IsObjectID(id) { // a range or an exclusion is not an object
		return "", noSuchObjectError(rev, kind, nil)
	}
	return id, err
}

func noSuchObjectError(rev, kind string, cause error) error {
	return &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no %s %q", kind, rev),
		Hint: "Name a branch, tag or commit of the repository.", Cause: cause,
	}
}
