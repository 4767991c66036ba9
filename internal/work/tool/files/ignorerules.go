package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
)

// IgnoreFile is the name of the files that hide files from agents.
const IgnoreFile = ignore.File

// directoryIgnoreRules are the rules that apply in a directory. A file excluded by one of the two lists
// is not included by the other.
type directoryIgnoreRules struct {
	git, own []ignore.IgnorePattern
	hidden   HiddenPathRules
}

// withDirectory returns the rules extended by those in a directory.
func (r directoryIgnoreRules) withDirectory(root *os.Root, dir string) directoryIgnoreRules {
	return directoryIgnoreRules{append(slices.Clip(r.git), loadIgnore(root, dir, ".gitignore")...), append(slices.Clip(r.own), r.hidden.directoryRules(root, dir)...), r.hidden}
}

func (r directoryIgnoreRules) isIgnored(name string, dir bool) bool {
	return ignore.IsIgnored(r.git, name, dir) || ignore.IsIgnored(r.own, name, dir)
}

// loadIgnore returns the rules of a directory's file, none if there is no file. All files in
// the directory are hidden if its .nexusignore cannot be read. A pipe or a device of that name
// is no such file, and is not read.
func loadIgnore(root *os.Root, dir, file string) []ignore.IgnorePattern {
	text, err := ignoreText(root, path.Join(dir, file))
	var rules []ignore.IgnorePattern
	if err == nil {
		rules, err = ignore.ParseIgnoreFile(dir, text)
	}
	if err != nil && file == IgnoreFile && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		rules = append(rules, ignore.IgnoreAll(dir))
	}
	return rules
}

func ignoreText(root *os.Root, name string) (string, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fs.ErrNotExist
	case info.Size() > maxInspected:
		return "", fmt.Errorf("%s has more than %d bytes", name, maxInspected)
	}
	text, err := io.ReadAll(f)
	return string(text), err
}

// directoryRules returns the rules of a directory's .nexusignore.
func (r HiddenPathRules) directoryRules(root *os.Root, dir string) []ignore.IgnorePattern {
	if r.Kept != nil {
		return r.Kept.RulesIn(dir)
	}
	return loadIgnore(root, dir, IgnoreFile)
}

// IsIgnored reports whether .nexusignore hides a path from agents.
func (r HiddenPathRules) IsIgnored(root *os.Root, name string) bool {
	all := r.directoryRules(root, ".")
	for at := range parentDirectories(name) {
		if len(all) > 0 {
			info, err := root.Lstat(at)
			if ignore.IsIgnored(all, at, at != name || err == nil && info.IsDir()) {
				return true
			}
		}
		if at != name {
			all = append(all, r.directoryRules(root, at)...)
		}
	}
	return false
}

// WalkUnignored calls visit for the files below a directory that are not ignored, in the order of
// names, and stops when visit returns false.
func (r HiddenPathRules) WalkUnignored(root *os.Root, dir string, visit func(name string, d fs.DirEntry) bool) error {
	all := directoryIgnoreRules{hidden: r}.withDirectory(root, ".")
	for at := range parentDirectories(dir) {
		all = all.withDirectory(root, at)
	}
	_, err := walkNotIgnored(root, dir, all, visit)
	return err
}

// walkTree calls visit for all entries of a tree except .git, including those that git ignores,
// and passes whether .nexusignore hides an entry from agents. It enters a directory, and
// continues at all, if visit returns true.
func (r HiddenPathRules) walkTree(root *os.Root, visit func(name string, d fs.DirEntry, kept bool) (enter, more bool)) {
	r.walkDirectory(root, ".", r.directoryRules(root, "."), visit)
}

func (r HiddenPathRules) walkDirectory(root *os.Root, dir string, rules []ignore.IgnorePattern, visit func(string, fs.DirEntry, bool) (bool, bool)) (more bool) {
	d, err := root.Open(dir)
	if err != nil {
		return true // unreadable entries are skipped
	}
	entries, _ := d.ReadDir(-1)
	_ = d.Close()
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		if entry.Name() == ".git" {
			continue
		}
		name := path.Join(dir, entry.Name())
		enter, more := visit(name, entry, ignore.IsIgnored(rules, name, entry.IsDir()))
		if !more {
			return false
		}
		if enter && entry.IsDir() {
			if !r.walkDirectory(root, name, append(slices.Clip(rules), r.directoryRules(root, name)...), visit) {
				return false
			}
		}
	}
	return true
}

// parentDirectories yields the directories from below the root down to dir.
func parentDirectories(dir string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(dir) && dir != "."; i++ {
			if dir[i] == '/' && !yield(dir[:i]) {
				return
			}
		}
		if dir != "." {
			yield(dir)
		}
	}
}

func walkNotIgnored(root *os.Root, dir string, r directoryIgnoreRules, visit func(string, fs.DirEntry) bool) (more bool, err error) {
	d, err := root.Open(dir)
	if err != nil {
		return false, err
	}
	entries, err := d.ReadDir(-1)
	_ = d.Close()
	if err != nil {
		return false, err
	}
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		if entry.Name() == ".git" || r.isIgnored(name, entry.IsDir()) {
			continue
		}
		if !visit(name, entry) {
			return false, nil
		}
		if !entry.IsDir() {
			continue
		}
		if more, err := walkNotIgnored(root, name, r.withDirectory(root, name), visit); err != nil || !more {
			return false, err
		}
	}
	return true, nil
}
