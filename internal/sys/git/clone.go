package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// PrivateClone is a private bare clone. It may be used by many goroutines and processes at once.
type PrivateClone struct {
	Who    CommitIdentity // author of commits; zero is Nexus
	Prefix string         // prefix of the published branches; empty means [DefaultPrefix]

	user    Repo // the user's repository
	git     Repo // the private one
	objects *ObjectStore
	config  userConfig
	head    string // the user's checked-out commit when the clone was opened
	zero    string // the all-zero object name, which means "no object"
	refs    clonedRefCache
}

// OpenClone creates the clone of user in dir/repo.git, or updates it to the commit that is checked
// out there.
func OpenClone(ctx context.Context, user Repo, dir string) (*PrivateClone, error) {
	c := &PrivateClone{user: user, git: Repo{Dir: filepath.Join(dir, "repo.git"), Memory: newCommandCache(IsObjectID)}}
	c.user.objects = &ObjectStore{repo: Repo{Dir: user.Dir}}
	c.objects = &ObjectStore{repo: Repo{Dir: c.git.Dir}}
	c.git.objects = c.objects
	if _, err := os.Stat(c.git.Dir); err != nil {
		if err := filewrite.WithLock(ctx, filepath.Join(dir, "clone.lock"), c.createPrivateClone); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	if err := c.openFor(ctx, dir); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// openFor reads what the clone must know of the user's repository, and updates the clone.
func (c *PrivateClone) openFor(ctx context.Context, dir string) error {
	common, err := c.user.CommonDir(ctx)
	if err != nil {
		return err
	}
	c.user.common = common
	if c.config, err = c.user.readUserConfig(ctx); err != nil {
		return err
	}
	head, err := c.user.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	c.objects.size, c.user.objects.size = len(head)/2, len(head)/2
	c.zero = strings.Repeat("0", len(head))
	if c.head, err = c.Fetch(ctx, head); err != nil {
		return err
	}
	c.git.LFS = c.config.lfsStore(common)
	c.git.LFS.Own = filepath.Join(dir, "lfs", "objects")
	return c.updateIgnoreFiles(common)
}

// ClonedRepo returns the private repository of a clone that was made in dir earlier, and whether there is
// one. It is for reading what is there: nothing is fetched.
func ClonedRepo(dir string) (Repo, bool) {
	r := Repo{Dir: filepath.Join(dir, "repo.git")}
	_, err := os.Stat(r.Dir)
	return r, err == nil
}

// PrivateRepo returns the private repository.
func (c *PrivateClone) PrivateRepo() Repo { return c.git }

// UserHead returns the user's checked-out commit at the time when the clone was opened.
func (c *PrivateClone) UserHead() string { return c.head }

// Objects returns access to the clone's objects.
func (c *PrivateClone) Objects() *ObjectStore { return c.objects }

// Close ends the clone's helper processes.
func (c *PrivateClone) Close() error { return errors.Join(c.objects.Close(), c.user.objects.Close()) }

// Fetch fetches a commit of the user's repository, with its history.
func (c *PrivateClone) Fetch(ctx context.Context, rev string) (string, error) {
	commit, err := c.user.Resolve(ctx, rev)
	if err != nil {
		return "", err
	}
	ref := "refs/user/" + commit
	var again []string
	if _, err := c.git.Resolve(ctx, ref); err == nil {
		if lacks, err := c.hasMissingObjects(ctx, commit); err != nil || !lacks {
			return commit, err
		}
		again = []string{"--refetch"} // the user's partial clone may have fetched more by now
	}
	from, err := c.user.CommonDir(ctx)
	if err != nil {
		return "", err
	}
	if err := fetchCommit(ctx, c.git, from, commit, ref, again...); err != nil {
		return "", err
	}
	return commit, nil
}

// hasMissingObjects reports whether the clone was made from a partial one and lacks objects of a
// commit's tree.
func (c *PrivateClone) hasMissingObjects(ctx context.Context, commit string) (bool, error) {
	if c.config.promisor == "" {
		return false, nil
	}
	out, err := c.git.Run(ctx, "rev-list", "--objects", "--no-walk", "--missing=print", "--end-of-options", commit)
	return strings.Contains("\n"+out, "\n?"), err
}

// fetchCommit fetches a commit into r from the git directory from, and stores it under ref unless
// that is "". It moves no other ref. The argument more has further options of git fetch.
func fetchCommit(ctx context.Context, r Repo, from, commit, ref string, more ...string) error {
	spec := commit
	if ref != "" {
		spec += ":" + ref
	}
	args := []string{
		"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--no-write-commit-graph", "--no-prune", "--upload-pack=git-upload-pack",
	}
	_, err := r.Run(ctx, append(append(args, more...), "--end-of-options", from, spec)...)
	return err
}

// createPrivateClone creates repo.git if it does not exist. It is built in another directory and renamed, so
// that an unfinished clone is never used.
func (c *PrivateClone) createPrivateClone(ctx context.Context) error {
	if _, err := os.Stat(c.git.Dir); err == nil {
		return nil
	}
	from, err := c.user.CommonDir(ctx)
	if err != nil {
		return err
	}
	head, err := c.user.Resolve(ctx, "HEAD") // resolved before the objects are copied, so that they include all of its history
	if err != nil {
		return err
	}
	aside := c.git.Dir + ".new"
	if err := os.RemoveAll(aside); err != nil {
		return filewrite.WrapError("clear a half-made clone", err)
	}
	args := []string{"clone", "--quiet", "--bare", "--no-tags", "--template=", "--end-of-options", from, aside}
	if _, err := (Repo{}).Run(ctx, args...); err != nil {
		return fmt.Errorf("clone the repository: %w", err)
	}
	if err := c.cutFromUserRepository(ctx, aside, head); err != nil {
		return err
	}
	return filewrite.WrapError("put the clone in place", os.Rename(aside, c.git.Dir))
}

// cutFromUserRepository turns a fresh clone into the private one: without a remote, without the user's
// branches, without borrowed objects, and with our configuration.
func (c *PrivateClone) cutFromUserRepository(ctx context.Context, dir, head string) error {
	r := Repo{Dir: dir}
	size := len(head) / 2
	if _, err := os.Stat(filepath.Join(dir, "objects", "info", "alternates")); err == nil {
		if _, err := r.Run(ctx, "repack", "-a", "-d", "-q"); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(dir, "objects", "info", "alternates")); err != nil {
			return filewrite.WrapError("cut the clone loose", err)
		}
	}
	for _, name := range []string{"refs/heads", "packed-refs", "FETCH_HEAD", "description", "hooks", "branches", "info"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return filewrite.WrapError("clear the clone", err)
		}
	}
	files := map[string]string{
		"config": CloneConfig(size, true),
		"HEAD":   "ref: refs/heads/nexus-none\n",
	}
	for name, text := range files {
		if err := filewrite.WriteFile(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "refs", "heads"), 0o700); err != nil {
		return filewrite.WrapError("write the clone", err)
	}
	_, err := r.Run(ctx, "update-ref", "refs/user/"+head, head)
	return err
}

// CloneConfig returns the complete configuration of one of our git directories; size is the length
// of its object names, and more are further lines. Nothing in it starts a program.
func CloneConfig(size int, bare bool, more ...string) string {
	var b strings.Builder
	version := 0
	for _, m := range more {
		if strings.Contains(m, "[extensions]") {
			version = 1
		}
		b.WriteString(m)
	}
	if size == 32 {
		version = 1
		b.WriteString("[extensions]\n\tobjectFormat = sha256\n")
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryFormatVersion = %d\n\tbare = %t\n\tfileMode = true\n", version, bare)
	b.WriteString("\tcheckStat = minimal\n\ttrustCTime = false\n\tfsmonitor = false\n\thooksPath = /dev/null\n")
	b.WriteString("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[advice]\n\tdetachedHead = false\n")
	if !bare {
		b.WriteString(NeutralConfig())
	}
	return b.String()
}

// NeutralConfig returns a configuration with a neutral identity. As the system's configuration, it
// is overridden by that of the repository and of the user who runs git.
func NeutralConfig() string {
	name, mail := CommitIdentity{}.nameAndEmail()
	return "[user]\n\tname = " + name + "\n\temail = " + mail + "\n[commit]\n\tgpgSign = false\n"
}
