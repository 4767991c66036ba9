package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// Clone is a private bare clone. It may be used from many goroutines, and
// from many processes at once.
type Clone struct {
	Who Identity // who commits are by; zero is Nexus

	user    Repo // the user's repository
	git     Repo // the private one
	objects *Objects
	zero    string // the object name that means "no object"
}

// OpenClone makes the clone of user in dir/repo.git, or brings it up to date with
// what is checked out there.
func OpenClone(ctx context.Context, user Repo, dir string) (*Clone, error) {
	c := &Clone{user: user, git: Repo{Dir: filepath.Join(dir, "repo.git"), Memory: newMemory(ID)}}
	if _, err := os.Stat(c.git.Dir); err != nil {
		if err := disk.Lock(ctx, filepath.Join(dir, "clone.lock"), c.make); err != nil {
			return nil, err
		}
	}
	var err error
	if c.objects, err = c.git.objects(ctx); err != nil {
		return nil, err
	}
	c.zero = strings.Repeat("00", c.objects.Size())
	if _, err := c.Fetch(ctx, "HEAD"); err != nil {
		return nil, err
	}
	return c, nil
}

// Git returns the private repository.
func (c *Clone) Git() Repo { return c.git }

// Objects returns its objects.
func (c *Clone) Objects() *Objects { return c.objects }

// Close ends what runs beside.
func (c *Clone) Close() error { return c.objects.Close() }

// Fetch brings a commit of the user's repository in, with all it stands on.
func (c *Clone) Fetch(ctx context.Context, rev string) (string, error) {
	commit, err := c.user.Resolve(ctx, rev)
	if err != nil {
		return "", err
	}
	ref := "refs/user/" + commit
	if _, err := c.git.Resolve(ctx, ref); err == nil {
		return commit, nil
	}
	from, err := c.user.Common(ctx)
	if err != nil {
		return "", err
	}
	if err := bring(ctx, c.git, from, commit, ref); err != nil {
		return "", err
	}
	return commit, nil
}

// bring fetches a commit into r from the git directory from, and gives it a
// name there if ref is not empty. It moves no other ref.
func bring(ctx context.Context, r Repo, from, commit, ref string) error {
	spec := commit
	if ref != "" {
		spec += ":" + ref
	}
	_, err := r.Run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--no-write-commit-graph", "--no-prune", "--upload-pack=git-upload-pack",
		"--end-of-options", from, spec)
	return err
}

// make makes repo.git if it is not there. It is built aside and renamed, so
// that a half-made one is never used.
func (c *Clone) make(ctx context.Context) error {
	if _, err := os.Stat(c.git.Dir); err == nil {
		return nil
	}
	from, err := c.user.Common(ctx)
	if err != nil {
		return err
	}
	head, err := c.user.Resolve(ctx, "HEAD") // before the objects: all it needs is then among them
	if err != nil {
		return err
	}
	aside := c.git.Dir + ".new"
	if err := os.RemoveAll(aside); err != nil {
		return disk.Fail("clear a half-made clone", err)
	}
	args := []string{"clone", "--quiet", "--bare", "--no-tags", "--template=", "--end-of-options", from, aside}
	if _, err := (Repo{}).Run(ctx, args...); err != nil {
		return fmt.Errorf("clone the repository: %w", err)
	}
	if err := c.settle(ctx, aside, from, head); err != nil {
		return err
	}
	return disk.Fail("put the clone in place", os.Rename(aside, c.git.Dir))
}

// settle turns a fresh clone into the private one: no remote, no branches of
// the user's, no objects that stand elsewhere, and a configuration of ours.
func (c *Clone) settle(ctx context.Context, dir, from, head string) error {
	r := Repo{Dir: dir}
	size := len(head) / 2
	if _, err := os.Stat(filepath.Join(dir, "objects", "info", "alternates")); err == nil {
		if _, err := r.Run(ctx, "repack", "-a", "-d", "-q"); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(dir, "objects", "info", "alternates")); err != nil {
			return disk.Fail("cut the clone loose", err)
		}
	}
	for _, name := range []string{"refs/heads", "packed-refs", "FETCH_HEAD", "description", "hooks", "branches", "info"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return disk.Fail("clear the clone", err)
		}
	}
	files := map[string]string{
		"config":       CloneConfig(size, true),
		"HEAD":         "ref: refs/heads/nexus-none\n",
		"info/exclude": exclude(from),
	}
	for name, text := range files {
		if err := disk.Write(filepath.Join(dir, name), []byte(text)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "refs", "heads"), 0o700); err != nil {
		return disk.Fail("write the clone", err)
	}
	_, err := r.Run(ctx, "update-ref", "refs/user/"+head, head)
	return err
}

// CloneConfig is the whole configuration of a git directory of ours; size is the
// length of its object names, more what else stands in it. Nothing in it starts a
// program.
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
		b.WriteString("[user]\n\tname = nexus\n\temail = nexus@localhost\n[commit]\n\tgpgSign = false\n")
	}
	return b.String()
}

// maxExclude is how much of the user's own list of ignored files is taken.
const maxExclude = 1 << 20

// exclude returns the user's private ignore list, if there is one.
func exclude(common string) string {
	name := filepath.Join(common, "info", "exclude")
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxExclude {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(data)
}
