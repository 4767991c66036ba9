package git

import (
	"cmp"
	"context"
	"crypto/sha1" //nolint:gosec // git's own format
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Changes is what a checkout holds that its commit does not.
type Changes struct {
	Changed []string // files that differ from what git last saw of them
	Staged  []string // paths whose entry in the index is not the commit's
	New     []string // files that git neither knows nor ignores
	Unknown bool     // the index is of a kind that is not read here
}

// None reports whether it holds nothing else.
func (c Changes) None() bool {
	return !c.Unknown && len(c.Changed) == 0 && len(c.Staged) == 0 && len(c.New) == 0
}

const maxCompared = 16 << 20 // bytes of a file whose content is compared

// Uncommitted tells what a checkout holds. A file that was touched and that a filter
// changes counts as changed, since no filter is run.
func Uncommitted(ctx context.Context, r Repo) (Changes, error) {
	var c Changes
	if r.Work == "" {
		return c, nil
	}
	for verb, into := range map[string]*[]string{"diff-index": &c.Staged, "ls-files": &c.New} {
		args := []string{verb, "-z", "--cached", "--name-only", "HEAD", "--"}
		if verb == "ls-files" {
			args = []string{verb, "-z", "--others", "--exclude-standard", "--directory", "--no-empty-directory"}
		}
		out, err := r.Run(ctx, args...)
		if err != nil {
			return c, err
		}
		for name := range strings.SplitSeq(out, "\x00") {
			if name != "" {
				*into = append(*into, name)
			}
		}
	}
	head, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return c, err
	}
	path, err := r.Line(ctx, "rev-parse", "--path-format=absolute", "--git-path", "index")
	if err != nil {
		return c, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil // nothing is checked out
	}
	if err != nil {
		return c, err
	}
	index, err := ParseIndex(data, len(head)/2)
	if err != nil {
		c.Unknown = true
		return c, nil //nolint:nilerr // it is only of another version
	}
	for _, e := range index {
		if e.Mode != ModeGitlink && !unchanged(filepath.Join(r.Work, filepath.FromSlash(e.Path)), e) {
			c.Changed = append(c.Changed, e.Path)
		}
	}
	return c, nil
}

// unchanged reports whether a file is what the index says, by what it
// remembers of it, else by content.
func unchanged(path string, e Entry) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if link != (e.Mode == ModeLink) || !link && (!info.Mode().IsRegular() || info.Mode()&0o100 != 0 != (e.Mode == ModeExec)) {
		return false
	}
	if at := info.ModTime(); uint32(info.Size()) == e.Stat.Size && (at.UnixNano() == e.Stat.Modified || e.Stat.Modified%1e9 == 0 && at.Unix() == e.Stat.Modified/1e9) {
		return true
	}
	if info.Size() > maxCompared {
		return false
	}
	var data []byte
	if link {
		text, lerr := os.Readlink(path)
		data, err = []byte(text), lerr
	} else {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return false
	}
	h := sha1.New() //nolint:gosec // git's own format
	if len(e.Raw) == sha256.Size {
		h = sha256.New()
	}
	h.Write(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
	return string(h.Sum(nil)) == e.Raw
}

// InProgress says what is under way in the checkout, such as a merge; empty for
// nothing.
func InProgress(r Repo) string {
	for _, s := range []struct{ file, is string }{
		{"MERGE_HEAD", "a merge"}, {"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"}, {"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisection"},
	} {
		if _, err := os.Lstat(filepath.Join(r.Dir, s.file)); err == nil {
			return s.is
		}
	}
	return ""
}

// Author returns who the user is to git, as far as it is set; env looks
// variables up.
func Author(ctx context.Context, r Repo, env func(string) string) (name, mail string) {
	home := env("HOME")
	get := func(key, variable string) string {
		if v := env(variable); v != "" {
			return v
		}
		for _, file := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(cmp.Or(env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "config")} {
			r.Env = []string{"HOME=" + home, "GIT_CONFIG_GLOBAL=" + file}
			if v, err := r.Line(ctx, "config", "--get", key); err == nil && v != "" { // unset is an error
				return v
			}
		}
		return ""
	}
	return get("user.name", "GIT_AUTHOR_NAME"), get("user.email", "GIT_AUTHOR_EMAIL")
}
