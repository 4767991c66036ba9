// Package userpackagecache lets commands read the package caches of the user's tools, which are in the
// home and invisible in a sandbox. Each is mounted with an overlay of its own, so that a command
// may write there without affecting the user or any other command.
package userpackagecache

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// CacheOwner is the user whose caches are mounted. The zero value has none.
type CacheOwner struct {
	Home string              // absolute
	Env  func(string) string // the user's environment
}

// CacheMounts are the mounts for a command.
type CacheMounts struct {
	Env      []string
	Writable []string
}

// MountStores mounts, below dir, an overlay over every existing cache that a program among words
// uses. Without overlays nothing is mounted. If a cache is mounted again, earlier writes are still
// there. [UnmountStores] removes all.
func (u CacheOwner) MountStores(dir string, words []string) (CacheMounts, error) {
	var s CacheMounts
	for _, t := range stack.PackageDownloadCaches() {
		from := u.storePath(t)
		if !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(t.Tools, path.Base(w)) }) || from == "" {
			continue
		}
		at := filepath.Join(dir, t.Name)
		name := t.Var
		if t.Below == "" {
			name = t.Name // it is the only one below it
		}
		top := filepath.Join(dir, "at", name)
		place := filepath.Join(top, t.Below)
		switch err := mountCache(from, at, place); {
		case errors.Is(err, overlay.ErrNone):
			return s, nil
		case err != nil:
			return s, filewrite.WrapError("show what was fetched", err)
		}
		value := top
		if t.Value != "" {
			value = strings.ReplaceAll(t.Value, "@", top)
		}
		if v := t.Var + "=" + value; !slices.Contains(s.Env, v) {
			s.Env, s.Writable = append(s.Env, v), append(s.Writable, top)
		}
	}
	return s, nil
}

// storePath returns the path of the user's cache, or "" if there is none.
func (u CacheOwner) storePath(t stack.PackageDownloadCache) string {
	from := ""
	if u.Home != "" {
		from = filepath.Join(u.Home, filepath.FromSlash(t.Home))
	}
	if t.From != "" && u.Env != nil && u.Env(t.From) != "" {
		from = filepath.Clean(u.Env(t.From))
	}
	real, err := filepath.EvalSymlinks(from)
	if err != nil || !filepath.IsAbs(real) {
		return ""
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return ""
	}
	return real
}

func mountCache(from, at, place string) error {
	if on, err := overlay.IsMounted(place); err == nil && on {
		return nil
	}
	l := overlay.Layers{Lower: from, Upper: filepath.Join(at, "upper"), Work: filepath.Join(at, "work"), Dir: place}
	for _, d := range []string{l.Upper, l.Work, l.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	return overlay.MountOverlay(l)
}

// UnmountStores removes the mounts below dir, with everything that was written there.
func UnmountStores(dir string) error {
	mounted, err := overlay.MountsBelow(dir)
	for _, m := range mounted {
		err = errors.Join(err, overlay.Unmount(m))
	}
	if err != nil { // removing files now could remove the user's
		return filewrite.WrapError("hide what was fetched", err)
	}
	return filewrite.WrapError("hide what was fetched", filewrite.RemoveAll(dir))
}
