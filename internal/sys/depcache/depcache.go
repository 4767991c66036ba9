// Package depcache caches sets of files that are expensive to make and the same for many trees,
// such as installed dependencies. Each set is made once, under a key of everything that it depends
// on, is never written again, and is installed in trees.
//
//	<dir>/<key>/files    the set, in its paths of a tree
//	<dir>/<key>/about    its description
//	<dir>/.new-*         a set being made, or left by a process that died
//	<dir>/locks/<key>    exclusive to make or remove it, shared to install it
//
// A tree gets an overlay of its own over each path, or a copy if no overlay can be mounted. Writes
// there affect neither the set nor other trees, and [DependencySetStore.InstallSets] removes them.
package depcache

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// DependencySet describes the files of a key.
type DependencySet struct {
	Key      string        `json:"key"`
	Source   string        `json:"source"`            // its origin, for people
	Command  string        `json:"command,omitzero"`  // command that made it, if any
	Paths    []string      `json:"paths"`             // relative to a tree, with slashes, sorted, not nested
	Root     string        `json:"root,omitzero"`     // path of the tree in which it was made
	Bound    []string      `json:"bound,omitempty"`   // files below Paths that contain Root
	Bytes    int64         `json:"bytes"`             // of all files
	Files    int           `json:"files"`             // without directories
	Duration time.Duration `json:"duration,omitzero"` // time for making it
	At       time.Time     `json:"at"`
}

// DependencySetStore has the sets of one repository. It may be used by many goroutines and processes at once.
type DependencySetStore struct {
	Dir  string // absolute
	Copy bool   // always copy; otherwise only if no overlay can be mounted
	Now  func() time.Time
}

// newPrefix is the prefix of an unfinished set. No key begins with it.
const newPrefix = ".new-"

func (s *DependencySetStore) setPath(key string, more ...string) string {
	return filepath.Join(append([]string{s.Dir, key}, more...)...)
}

func (s *DependencySetStore) lockPath(key string) string { return filepath.Join(s.Dir, "locks", key) }

// checkSetKey returns an error if a key cannot be the name of a directory.
func checkSetKey(key string) error {
	if key == "" || len(key) > 100 || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || key == "locks" {
		return fmt.Errorf("depcache: %q is not a key", key)
	}
	return nil
}

// FindSet returns an existing set.
func (s *DependencySetStore) FindSet(key string) (DependencySet, bool) {
	var set DependencySet
	data, err := os.ReadFile(s.setPath(key, "about"))
	if checkSetKey(key) != nil || err != nil || json.Unmarshal(data, &set) != nil || set.Key != key {
		return DependencySet{}, false
	}
	return set, true
}

// MakeSet returns the set of a key, and makes it if it does not exist: do fills files, an empty
// directory, and describes the set. Concurrent callers wait. If making fails or is interrupted,
// nothing remains.
func (s *DependencySetStore) MakeSet(ctx context.Context, key string, do func(ctx context.Context, aside, files string) (DependencySet, error)) (set DependencySet, made bool, err error) {
	if err := checkSetKey(key); err != nil {
		return DependencySet{}, false, err
	}
	if set, ok := s.FindSet(key); ok {
		return set, false, nil
	}
	err = filewrite.WithLock(ctx, s.lockPath(key), func(ctx context.Context) error {
		if ready, ok := s.FindSet(key); ok { // made by another while we waited
			set = ready
			return nil
		}
		made = true
		set, err = s.makeDependencySet(ctx, key, do)
		return err
	})
	return set, made && err == nil, err
}

func (s *DependencySetStore) makeDependencySet(ctx context.Context, key string, do func(ctx context.Context, aside, files string) (DependencySet, error)) (DependencySet, error) {
	began := s.Now()
	aside := filepath.Join(s.Dir, newPrefix+key) // ours while we hold the lock
	if err := removeDir(aside); err != nil {
		return DependencySet{}, filewrite.WrapError("remove what was half made", err)
	}
	defer func() { _ = removeDir(aside) }() // leftovers are removed by the next Make or Sweep
	files := filepath.Join(aside, "files")
	if err := os.MkdirAll(files, 0o700); err != nil {
		return DependencySet{}, filewrite.WrapError("make a directory", err)
	}
	set, err := do(ctx, aside, files)
	if err != nil {
		return DependencySet{}, err
	}
	set.Key, set.At, set.Duration = key, began, s.Now().Sub(began)
	slices.Sort(set.Paths)
	if err := set.measureFiles(files); err != nil {
		return DependencySet{}, filewrite.WrapError("look at what was made", err)
	}
	data, err := json.MarshalIndent(set, "", " ")
	if err != nil {
		return DependencySet{}, err
	}
	ready := filepath.Join(aside, "ready")
	err = errors.Join(os.MkdirAll(ready, 0o700), os.Rename(files, filepath.Join(ready, "files")), os.WriteFile(filepath.Join(ready, "about"), data, 0o600))
	if err == nil {
		err = syncDisk(s.Dir)
	}
	if err == nil {
		err = os.RemoveAll(s.setPath(key)) // an unreadable set
	}
	if err == nil {
		err = os.Rename(ready, s.setPath(key))
	}
	return set, filewrite.WrapError("put what was made in place", err)
}

// removeDir removes a directory. First it unmounts the leftover mounts of a dead process, which may
// contain files of somebody else.
func removeDir(dir string) error {
	if err := unmountBelow(dir); err != nil {
		return err
	}
	return filewrite.RemoveAll(dir)
}

func unmountBelow(dir string) error {
	mounted, err := overlay.MountsBelow(dir)
	for _, m := range mounted {
		err = errors.Join(err, overlay.Unmount(m))
	}
	return err
}

// maxMentionSize limits the size of a file that is searched for the path of the tree in which it was
// made.
const maxMentionSize = 64 << 10

// measureFiles counts the files of a set, and finds those that contain the path where they were made.
func (s *DependencySet) measureFiles(files string) error {
	return walkFiles(files, s.Paths, func(p, name string, info fs.FileInfo) error {
		s.Files++
		if !info.Mode().IsRegular() {
			return nil
		}
		s.Bytes += info.Size()
		if names, err := readIfMentions(name, info, s.Root); err != nil || names == nil {
			return err
		}
		s.Bound = append(s.Bound, p)
		return nil
	})
}

// walkFiles calls f for all files, but no directories, in paths below a directory.
func walkFiles(dir string, paths []string, f func(p, name string, info fs.FileInfo) error) error {
	for _, p := range paths {
		err := filepath.WalkDir(filepath.Join(dir, filepath.FromSlash(p)), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(dir, name) // name is below dir
			return f(filepath.ToSlash(rel), name, info)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readIfMentions returns the text of a small file that contains a path, nil for any other file.
func readIfMentions(name string, info fs.FileInfo, place string) ([]byte, error) {
	if place == "" || !info.Mode().IsRegular() || info.Size() > maxMentionSize || strings.HasSuffix(name, ".pyc") {
		return nil, nil
	}
	data, err := os.ReadFile(name)
	if err != nil || !bytes.Contains(data, []byte(place)) || bytes.IndexByte(data[:min(len(data), 512)], 0) >= 0 {
		return nil, err
	}
	return data, nil
}

// ReplacePathInFiles replaces the path was by dir in the files below paths of dir. The files are private
// copies from there.
func ReplacePathInFiles(dir string, paths []string, was string) error {
	return walkFiles(dir, paths, func(_, name string, info fs.FileInfo) error {
		data, err := readIfMentions(name, info, was)
		if err != nil || data == nil {
			return err
		}
		err = os.WriteFile(name, bytes.ReplaceAll(data, []byte(was), []byte(dir)), info.Mode().Perm())
		return errors.Join(err, os.Chtimes(name, info.ModTime(), info.ModTime()))
	})
}

// CacheLimits limit the sets that are kept without use.
type CacheLimits struct {
	Sets  int
	Bytes int64
}

// DefaultCacheLimits returns the default limits.
func DefaultCacheLimits() CacheLimits { return CacheLimits{Sets: 8, Bytes: 10 << 30} }

// SweepSets removes the sets beyond the limits, the least recently installed first, and unfinished
// leftovers. It keeps the sets of the trees in homes, and sets that are being made. It returns the
// directories that it removed, or would remove if dry.
func (s *DependencySetStore) SweepSets(ctx context.Context, homes []string, b CacheLimits, dry bool) ([]string, error) {
	used := map[string]bool{}
	for _, home := range homes {
		for _, l := range readInstallRecord(home).Lent {
			used[l.Key] = true
		}
	}
	list, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, filewrite.WrapError("read the environments", err)
	}
	var sets []DependencySet
	var gone []string
	for _, e := range list {
		if key, half := strings.CutPrefix(e.Name(), newPrefix); half {
			gone = append(gone, s.removeSet(ctx, key, e.Name(), dry)...)
			continue
		}
		if set, ok := s.FindSet(e.Name()); ok && e.IsDir() {
			if info, err := os.Stat(s.setPath(set.Key, "lent")); err == nil {
				set.At = info.ModTime()
			}
			sets = append(sets, set)
		}
	}
	slices.SortStableFunc(sets, func(x, y DependencySet) int { return y.At.Compare(x.At) }) // newest first
	var kept CacheLimits
	for _, set := range sets {
		kept.Sets, kept.Bytes = kept.Sets+1, kept.Bytes+set.Bytes
		if used[set.Key] || kept.Sets <= b.Sets && kept.Bytes <= b.Bytes {
			continue
		}
		kept.Sets, kept.Bytes = kept.Sets-1, kept.Bytes-set.Bytes
		gone = append(gone, s.removeSet(ctx, set.Key, set.Key, dry)...)
	}
	return gone, nil
}

// errBusy is the cause if another process holds the lock of a set.
var errBusy = errors.New("in use")

// removeSet removes the directory of a key unless the set is in use now.
func (s *DependencySetStore) removeSet(ctx context.Context, key, name string, dry bool) []string {
	ctx, stop := context.WithTimeoutCause(ctx, 2*time.Second, errBusy)
	defer stop()
	dir := filepath.Join(s.Dir, name)
	if filewrite.WithLock(ctx, s.lockPath(key), func(context.Context) error {
		if dry {
			return nil
		}
		away := filepath.Join(s.Dir, newPrefix+key+"-gone") // no key has this suffix: for all others it is an unfinished set
		return errors.Join(removeDir(away), unmountBelow(dir), os.Rename(dir, away), removeDir(away))
	}) != nil {
		return nil // the next sweep finds it
	}
	return []string{dir}
}

// ListSets returns the existing sets, the newest first.
func (s *DependencySetStore) ListSets() []DependencySet {
	list, _ := os.ReadDir(s.Dir) // none if it cannot be read
	var all []DependencySet
	for _, e := range list {
		if set, ok := s.FindSet(e.Name()); ok {
			all = append(all, set)
		}
	}
	slices.SortStableFunc(all, func(x, y DependencySet) int { return y.At.Compare(x.At) })
	return all
}

// pathError returns the error for a path of a set that a tree cannot have.
func pathError(path, why string) error {
	return &nexus.Error{
		Code: nexus.CodeEnvironment, Message: fmt.Sprintf("%s cannot be put into a worktree: %s", path, why),
		Hint: "Remove it from environment.link or from git.",
	}
}
