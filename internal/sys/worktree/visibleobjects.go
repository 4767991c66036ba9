package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// HiddenFileRules defines the files that are hidden from agents. File is the name of the ignore files
// in a tree. Rules receives their texts by path, and returns a function that reports whether a
// path is hidden. The zero HiddenFileRules hides nothing.
type HiddenFileRules struct {
	File  string
	Rules func(texts map[string]string) (hides func(path string) bool, err error)
}

// HiddenText is the content of a hidden file in the agent's git, at every commit.
const HiddenText = "[hidden from agents by .nexusignore]\n"

// visibleObjectStore replaces the objects of the private clone in an agent's git directory, if some
// files are hidden from agents. The zero visibleObjectStore hides nothing.
type visibleObjectStore struct {
	Dir    string   // the objects that agents may read
	Hidden []string // objects that are not among them, sorted
	Blank  string   // object that replaces them
	Files  []string // files of the commit that are hidden
}

// prepareVisibleObjects returns the visible objects of a commit and its history, and of the named refs.
// Files that the commit's own ignore files hide are left out in the whole history. The objects for
// one set of such files are in one directory, to which each commit adds its new objects.
func (s *Store) prepareVisibleObjects(ctx context.Context, commit string, names []git.NamedRef) (visibleObjectStore, error) {
	if s.Hides.Rules == nil {
		return visibleObjectStore{}, nil
	}
	listed, err := s.git.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return visibleObjectStore{}, err
	}
	files, texts := map[string]string{}, map[string]string{}
	for line := range strings.SplitSeq(listed, "\x00") {
		head, name, ok := strings.Cut(line, "\t")
		if f := strings.Fields(head); ok && len(f) == 3 && f[1] == "blob" {
			files[name] = f[2]
			if path.Base(name) != s.Hides.File || f[0] == "120000" {
				continue
			}
			_, data, err := s.objects.ReadObject(ctx, f[2])
			if err != nil {
				return visibleObjectStore{}, err
			}
			texts[name] = string(data)
		}
	}
	if len(texts) == 0 {
		return visibleObjectStore{}, nil
	}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		_, _ = fmt.Fprintf(sum, "%d %s %d %s", len(name), name, len(texts[name]), texts[name])
	}
	hides, err := s.Hides.Rules(texts)
	if err != nil {
		return visibleObjectStore{}, err
	}
	v := visibleObjectsUpdate{
		git: s.git, hides: hides, files: files, commits: []string{commit},
		home: filepath.Join(s.dir, "shown", hex.EncodeToString(sum.Sum(nil))[:32]),
	}
	for _, n := range names {
		v.commits = append(v.commits, n.ID)
	}
	if v.blank, err = s.objects.WriteObject("blob", []byte(HiddenText)); err != nil {
		return visibleObjectStore{}, err
	}
	if err := os.MkdirAll(filepath.Join(v.home, "objects", "pack"), 0o700); err != nil {
		return visibleObjectStore{}, filewrite.WrapError("make the objects that agents see", err)
	}
	if err := filewrite.WithLock(ctx, v.home+".lock", v.addCommits); err != nil {
		return visibleObjectStore{}, err
	}
	kept := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return !v.hides(name) })
	return visibleObjectStore{Dir: filepath.Join(v.home, "objects"), Hidden: slices.Sorted(maps.Keys(v.hidden)), Blank: v.blank, Files: kept}, nil
}

// visibleObjectsUpdate adds a commit to a directory of visible objects.
type visibleObjectsUpdate struct {
	git     git.Repo
	home    string // directory of the objects, the hidden ones, and the included commits
	hides   func(path string) bool
	files   map[string]string // files of the commit, with their objects
	commits []string          // commits to add, including tags
	blank   string
	hidden  map[string]bool
}

// addCommits adds the commits. After an interruption, they can be added again.
func (v *visibleObjectsUpdate) addCommits(ctx context.Context) error {
	hidden, err1 := readLines(filepath.Join(v.home, "hidden"))
	tips, err2 := readLines(filepath.Join(v.home, "tips"))
	if err := errors.Join(err1, err2); err != nil {
		return filewrite.WrapError("read what agents see", err)
	}
	v.hidden = map[string]bool{}
	for _, id := range hidden {
		v.hidden[id] = true
	}
	slices.Sort(v.commits)
	v.commits = slices.DeleteFunc(slices.Compact(v.commits), func(id string) bool { return slices.Contains(tips, id) })
	if len(v.commits) == 0 {
		return nil
	}
	pack, err := v.newObjects(ctx, tips)
	if err != nil {
		return err
	}
	for name, id := range v.files { // a hidden object may have another name now
		if v.hidden[id] && !v.hides(name) {
			delete(v.hidden, id)
			pack = append(pack, id+" "+name)
		}
	}
	slices.Sort(pack)
	pack = append(slices.Compact(pack), v.blank)
	in := strings.NewReader(strings.Join(pack, "\n") + "\n")
	if _, err := v.git.RunWithInput(ctx, in, "pack-objects", "-q", filepath.Join(v.home, "objects", "pack", "pack")); err != nil {
		return err
	}
	all := strings.Join(slices.Sorted(maps.Keys(v.hidden)), "\n")
	if err := filewrite.WriteFile(filepath.Join(v.home, "hidden"), []byte(all)); err != nil {
		return err
	}
	return filewrite.WriteFile(filepath.Join(v.home, "tips"), []byte(strings.Join(append(tips, v.commits...), "\n")))
}

// newObjects returns the visible objects of the commit that are not in the directory yet, with
// their paths, and records the hidden ones.
func (v *visibleObjectsUpdate) newObjects(ctx context.Context, tips []string) ([]string, error) {
	list := strings.Join(v.commits, "\n") + "\n"
	for _, tip := range tips {
		list += "^" + tip + "\n"
	}
	out, err := v.git.RunWithInput(ctx, strings.NewReader(list), "rev-list", "--objects", "--stdin")
	if err != nil {
		return nil, err
	}
	var shown, doubtful []string
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if id, name, _ := strings.Cut(line, " "); name != "" && v.hides(name) {
			doubtful = append(doubtful, id+" "+name)
		} else {
			shown = append(shown, line)
		}
	}
	if len(doubtful) == 0 {
		return shown, nil
	}
	in := strings.NewReader(strings.Join(doubtful, "\n") + "\n")
	kinds, err := v.git.RunWithInput(ctx, in, "cat-file", "--batch-check=%(objectname) %(objecttype) %(rest)")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(kinds) { // a directory contains only names, and is needed
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if kind, name, _ := strings.Cut(rest, " "); kind == "blob" {
			v.hidden[id] = true
		} else {
			shown = append(shown, id+" "+name)
		}
	}
	return shown, nil
}

// readLines returns the lines of a file, none if there is no file.
func readLines(name string) ([]string, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 {
		return nil, nil
	}
	return strings.Split(string(data), "\n"), err
}

// gitConfig returns settings with which git accepts missing objects: it treats them as objects of a
// remote that were not fetched yet. There is no remote.
func (v visibleObjectStore) gitConfig() string {
	if v.Dir == "" {
		return ""
	}
	return "[extensions]\n\tpartialClone = hidden\n[remote \"hidden\"]\n\tpromisor = true\n"
}

// skipHiddenFiles marks hidden files as skipped in the agent's index, which has not been used yet:
// git would need their objects for a commit.
func (v visibleObjectStore) skipHiddenFiles(ctx context.Context, r git.Repo) error {
	if len(v.Files) == 0 {
		return nil
	}
	in := strings.NewReader(strings.Join(v.Files, "\x00") + "\x00")
	_, err := r.RunWithInput(ctx, in, "update-index", "-z", "--skip-worktree", "--stdin")
	return err
}

// replacementRefs returns the refs that replace hidden objects by the blank one.
func (v visibleObjectStore) replacementRefs() (all []git.NamedRef) {
	for _, id := range v.Hidden {
		all = append(all, git.NamedRef{Ref: "refs/replace/" + id, ID: v.Blank})
	}
	return all
}

// sweepUnusedObjects removes the object directories that no tree borrows, except for the newest.
func (s *Store) sweepUnusedObjects(dry bool) ([]string, error) {
	used := map[string]bool{}
	for _, n := range globIn(s.dir, "trees/*/*/git/objects/info/alternates") {
		data, err := os.ReadFile(n)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil, filewrite.WrapError("read what a worktree borrows", err)
		}
		used[filepath.Dir(strings.TrimSpace(string(data)))] = true
	}
	newest, at := "", int64(0)
	all := slices.DeleteFunc(globIn(s.dir, "shown/*"), func(n string) bool { return strings.HasSuffix(n, ".lock") })
	for _, dir := range all {
		if info, err := os.Stat(dir); err == nil && info.ModTime().UnixNano() > at {
			newest, at = dir, info.ModTime().UnixNano()
		}
	}
	var gone []string
	for _, dir := range all {
		if used[dir] || dir == newest {
			continue
		}
		if !dry {
			if err := errors.Join(os.RemoveAll(dir+".lock"), s.moveToTrash(dir)); err != nil {
				return gone, filewrite.WrapError("remove what agents saw", err)
			}
		}
		gone = append(gone, dir)
	}
	return gone, nil
}
