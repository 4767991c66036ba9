package dependencies

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// version changes when the content that is built for a key changes.
const version = "1"

// hashDependencies returns a hash of everything in a tree on which the packages of a lock directory
// depend.
func (p LockDirectory) hashDependencies(root *os.Root, files []string) string {
	sum := sha256.New()
	put := func(name, text string) { fmt.Fprintf(sum, "%s\x00%d\x00%s\x00", name, len(text), text) } //nolint:errcheck // a hash takes all
	put("ecosystem", p.Name+"\x00"+p.Family+"\x00"+p.Dir)
	put(p.File, p.text)
	for _, f := range files {
		if f == p.File || !isWithin(path.Dir(f), p.Dir) {
			continue
		}
		rel := strings.TrimPrefix(f, p.Dir+"/")
		also := slices.ContainsFunc(p.Also, func(pattern string) bool { ok, _ := path.Match(pattern, rel); return ok })
		switch {
		case p.Manifest != "" && path.Base(f) == p.Manifest:
			put(f, p.Reduce(stack.ReadLockFile(root.FS(), f)))
		case also:
			put(f, stack.ReadLockFile(root.FS(), f))
		}
	}
	for _, pattern := range p.Also { // the file list has no hidden files and no hidden directories
		names, _ := fs.Glob(root.FS(), path.Join(p.Dir, pattern)) // the patterns are constants
		for _, n := range names {
			if !slices.Contains(files, n) {
				put(n, stack.ReadLockFile(root.FS(), n))
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// dependencySetKey returns the key of a job's result: as far as possible, the same key means the same
// packages.
func dependencySetKey(parts ...string) string {
	sum := sha256.New()
	for _, p := range append([]string{version, runtime.GOOS, runtime.GOARCH}, parts...) {
		fmt.Fprintf(sum, "%d\x00%s", len(p), p) //nolint:errcheck // a hash takes all
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// describeUserEnvironment describes the contents of the user's environment at the first call:
// all trees of a run receive the same.
func (k *WorktreeProvisioner) describeUserEnvironment(p LockDirectory) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	has, known := k.envs[p.sum]
	if !known {
		if k.envs == nil {
			k.envs = map[string]string{}
		}
		// an environment is lent only if its contents are known
		has, _ = stack.DescribeVenv(os.DirFS(filepath.Join(k.User, filepath.FromSlash(p.Dir))))
		k.envs[p.sum] = has
	}
	return has
}
