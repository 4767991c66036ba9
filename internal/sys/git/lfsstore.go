package git

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// LFSStore reads and writes LFS content by its hash. Existing content is never changed, and no
// link out of it is followed.
type LFSStore struct {
	User string // the user's directory, in git LFS's layout; empty for none
	Own  string // Nexus' directory with the content of agents; empty for none
}

// LFSStore returns the LFS store of a repository: in the git directory that all its work trees
// share, unless lfs.storage names another one.
func (r Repo) LFSStore(ctx context.Context) (LFSStore, error) {
	common, err := r.CommonDir(ctx)
	if err != nil {
		return LFSStore{}, err
	}
	c, err := r.readUserConfig(ctx)
	return c.lfsStore(common), err
}

// lfsStore returns the LFS store of a repository with the common git directory.
func (c userConfig) lfsStore(common string) LFSStore {
	dir := cmp.Or(c.lfs, "lfs")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(common, dir)
	}
	return LFSStore{User: filepath.Join(dir, "objects")}
}

// IsEmpty reports whether there is no directory with content.
func (s LFSStore) IsEmpty() bool {
	for _, dir := range []string{s.User, s.Own} {
		if info, err := os.Stat(dir); dir != "" && err == nil && info.IsDir() {
			return false
		}
	}
	return true
}

// Has reports whether the content of a pointer, with its size, is there.
func (s LFSStore) Has(p LFSPointer) bool {
	f, err := s.openContent(p)
	if err == nil {
		_ = f.Close() // only opened, not read
	}
	return err == nil
}

// pathInStore returns the path of the content below the store's directory.
func (p LFSPointer) pathInStore() string { return filepath.Join(p.Hash[:2], p.Hash[2:4], p.Hash) }

// openContent opens the content of a pointer. Missing content is an fs.ErrNotExist.
func (s LFSStore) openContent(p LFSPointer) (*os.File, error) {
	for _, dir := range []string{s.User, s.Own} {
		if dir == "" {
			continue
		}
		if f, err := openLFSFile(dir, p); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, fs.ErrNotExist
}

// openLFSFile opens the content in one directory. Anything but a regular file of that size in the
// directory counts as missing.
func openLFSFile(dir string, p LFSPointer) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer root.Close() //nolint:errcheck // only read
	fits := func(info fs.FileInfo, err error) bool {
		return err == nil && info.Mode().IsRegular() && info.Size() == p.Size
	}
	if !fits(root.Lstat(p.pathInStore())) {
		return nil, fs.ErrNotExist
	}
	f, err := root.Open(p.pathInStore())
	if err != nil {
		return nil, err
	}
	if !fits(f.Stat()) {
		return nil, errors.Join(fs.ErrNotExist, f.Close())
	}
	return f, nil
}

// ErrCorrupt is returned if content does not match its hash.
var ErrCorrupt = errors.New("the content does not have its hash")

// Copy writes the content of a pointer. Missing content is an fs.ErrNotExist, and nothing is
// written. Content that does not match its hash is an [ErrCorrupt], and the written bytes must be
// discarded.
func (s LFSStore) Copy(to io.Writer, p LFSPointer) error {
	f, err := s.openContent(p)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	is, err := copyAndHash(to, io.LimitReader(f, p.Size+1))
	if err == nil && is != p {
		err = fmt.Errorf("%s: %w", p.Hash, ErrCorrupt)
	}
	return err
}

// HashLFSContent returns the pointer of some content.
func HashLFSContent(from io.Reader) (LFSPointer, error) { return copyAndHash(io.Discard, from) }

func copyAndHash(to io.Writer, from io.Reader) (LFSPointer, error) {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, h), from)
	return LFSPointer{hex.EncodeToString(h.Sum(nil)), n}, err
}

// StoreOwn stores content in Nexus' directory, and returns its pointer.
func (s LFSStore) StoreOwn(from io.Reader) (LFSPointer, error) {
	return storeLFSContent(s.Own, 0o600, 0o700, func(to io.Writer) (LFSPointer, error) { return copyAndHash(to, from) })
}

// CopyToUser copies content that only Nexus has to the user's LFS store.
func (s LFSStore) CopyToUser(p LFSPointer) error {
	own := LFSStore{Own: s.Own}
	if (LFSStore{User: s.User}).Has(p) || !own.Has(p) {
		return nil
	}
	_, err := storeLFSContent(s.User, 0o644, 0o755, func(to io.Writer) (LFSPointer, error) { return p, own.Copy(to, p) })
	return err
}

// storeLFSContent adds content to a store, after all of it is on the disk.
func storeLFSContent(dir string, mode, dirs fs.FileMode, write func(io.Writer) (LFSPointer, error)) (p LFSPointer, err error) {
	const what = "keep the content of a file of git LFS"
	if err := os.MkdirAll(dir, dirs); err != nil {
		return p, filewrite.WrapError(what, err)
	}
	f, err := os.CreateTemp(dir, ".nexus-*")
	if err != nil {
		return p, filewrite.WrapError(what, err)
	}
	if p, err = write(f); err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err = errors.Join(err, f.Close()); err == nil {
		to := filepath.Join(dir, p.pathInStore())
		if err = os.MkdirAll(filepath.Dir(to), dirs); err == nil {
			err = os.Rename(f.Name(), to)
		}
	}
	if err != nil {
		return p, filewrite.WrapError(what, errors.Join(err, os.Remove(f.Name())))
	}
	return p, nil
}

// exportLFS copies the content of agents that a commit and its history point to into the user's
// store, so that the user's checkouts and pushes have it.
func (c *PrivateClone) exportLFS(ctx context.Context, commit string) error {
	if (LFSStore{Own: c.git.LFS.Own}).IsEmpty() {
		return nil // there is no content of agents
	}
	out, err := c.git.Run(ctx, "rev-list", "--objects", "--no-object-names", commit, "--not", "--glob=refs/user/*")
	if err != nil || out == "" {
		return err
	}
	told, err := c.git.RunWithInput(ctx, strings.NewReader(out), "cat-file", "--batch-check=%(objecttype) %(objectsize) %(objectname)")
	if err != nil {
		return err
	}
	for line := range strings.Lines(told) {
		var size int
		var id string
		if n, _ := fmt.Sscanf(line, "blob %d %s", &size, &id); n != 2 || size >= MaxLFSPointer {
			continue
		}
		_, data, err := c.objects.ReadObject(ctx, id)
		if err != nil {
			return err
		}
		if p, ok := ParseLFSPointer(string(data)); ok {
			if err := c.git.LFS.CopyToUser(p); err != nil {
				return err
			}
		}
	}
	return nil
}
