// Package memory keeps what was learned in a repository, and finds what of it a
// task needs.
//
// Approved episodes are files of the repository ([memoryentry.Dir]), which people
// read, edit and commit. Proposals, and what people wanted forgotten, are files
// of the same form in the state directory. Proposals derive from the journal:
// one that is lost is made again, under the same name.
package memory

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// maxEpisodes is how many are read of a directory.
const maxEpisodes = 10_000

// Store is where the memory of a repository is. The zero Store is empty and
// cannot be written.
type Store struct {
	Repo  string              // the user's checkout; empty: there is none
	State string              // directory of the repository's state
	Mask  func([]byte) []byte // takes keys out of what is written; may be nil
	Show  []string            // patterns of files that agents see though they may hold secrets
}

// StoredEpisode is an episode with where it is.
type StoredEpisode struct {
	memoryentry.Episode

	Path   string // of its file: from the root of the repository, or absolute
	Shared bool   // it is in the repository
}

// Problem is a file that is no episode, and why.
type Problem struct {
	File string `json:"file"`
	Why  string `json:"why"`
	Hint string `json:"hint,omitzero"`
}

func (s Store) dir() string { return filepath.Join(s.State, "memory") }

// Load reads all episodes, in the order of [memoryentry.Order], and says which files
// are none. One that is in the repository comes before one of the same name
// that is in the state directory, unless it was forgotten here.
func (s Store) Load() ([]StoredEpisode, []Problem, error) {
	var all []StoredEpisode
	var problems []Problem
	if s.Repo != "" {
		kept, wrong, err := read(s.Repo, memoryentry.Dir, true)
		if err != nil {
			return nil, nil, err
		}
		all, problems = kept, wrong
	}
	if s.State != "" {
		own, wrong, err := read(s.State, "memory", false)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, wrong...)
		for _, k := range own {
			switch i := slices.IndexFunc(all, func(o StoredEpisode) bool { return o.ID == k.ID }); {
			case i < 0:
				all = append(all, k)
			case k.State == memoryentry.Forgotten:
				all[i].State = memoryentry.Forgotten // its file came back, with a merge for instance
			}
		}
	}
	return order(all), problems, nil
}

func order(all []StoredEpisode) []StoredEpisode {
	at := map[string]StoredEpisode{}
	episodes := make([]memoryentry.Episode, len(all))
	for i, k := range all {
		at[k.ID], episodes[i] = k, k.Episode
	}
	memoryentry.Order(episodes)
	for i, e := range episodes {
		all[i] = at[e.ID]
	}
	return all
}

// read reads the episodes of a directory below top, through no link. A directory
// that is none is a problem, and stops nothing.
func read(top, dir string, shared bool) (all []StoredEpisode, problems []Problem, err error) {
	root, err := os.OpenRoot(top)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, disk.WrapError("read the memory", err)
	}
	defer func() { _ = root.Close() }() // it was only read
	if err := disk.CheckNoLinks(root, dir+"/"); err != nil {
		return nil, []Problem{problem(dir, err)}, nil
	}
	entries, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, []Problem{{dir, err.Error(), "It must be a readable directory."}}, nil
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		at := name
		if !shared {
			at = filepath.Join(top, name)
		}
		if !strings.HasSuffix(name, ".md") || strings.EqualFold(entry.Name(), "README.md") || strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if len(all) == maxEpisodes {
			problems = append(problems, Problem{
				at, fmt.Sprintf("there are more than %d files; the rest are not read", maxEpisodes), "Run nexus memory gc.",
			})
			break
		}
		e, err := one(root, name, at)
		if err != nil {
			problems = append(problems, problem(at, err))
			continue
		}
		all = append(all, StoredEpisode{e, at, shared})
	}
	return all, problems, nil
}

func one(root *os.Root, name, at string) (memoryentry.Episode, error) {
	data, err := load(root, name)
	if err != nil {
		return memoryentry.Episode{}, err
	}
	return memoryentry.Parse(at, data)
}

// load reads a plain file, and of one that is too long for an episode only as
// much as shows that it is.
func load(root *os.Root, name string) (data []byte, err error) {
	if err := disk.CheckNoLinks(root, name); err != nil {
		return nil, err
	}
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	data, err = io.ReadAll(io.LimitReader(f, memoryentry.MaxFile+1))
	return data, errors.Join(err, f.Close())
}

// problem says what is wrong with a file: the place in it comes first.
func problem(at string, err error) Problem {
	p := Problem{File: at, Why: err.Error()}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		p.Hint = e.Hint
	}
	if rest, ok := strings.CutPrefix(p.Why, at+":"); ok {
		line, why, found := strings.Cut(rest, ": ")
		if p.Why = strings.TrimSpace(rest); found && strings.Trim(line, "0123456789") == "" {
			p.File, p.Why = at+":"+line, why
		}
	}
	return p
}

// Find returns the episode that a name means: its ID, or a part of it that no
// other has.
func Find(all []StoredEpisode, name string) (StoredEpisode, error) {
	var found []StoredEpisode
	for _, k := range all {
		if k.ID == name {
			return k, nil
		}
		if name != "" && strings.Contains(k.ID, name) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return StoredEpisode{}, &nexus.Error{
			Code: nexus.CodeNotFound, Message: fmt.Sprintf("there is no episode %q", name),
			Hint: "nexus memory list lists them.",
		}
	}
	return StoredEpisode{}, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%d episodes have %q in their names", len(found), name),
		Hint: "Give more of the name; nexus memory list lists them.",
	}
}

// hides reports whether agents are kept from one of an episode's files.
func (s Store) hides(paths ...string) bool {
	rules := files.HiddenRules{Show: s.Show}
	for _, p := range paths {
		if rules.Name(p) != "" {
			return true
		}
	}
	if s.Repo == "" || len(paths) == 0 {
		return false
	}
	root, err := os.OpenRoot(s.Repo)
	if err != nil {
		return true // nobody can tell
	}
	defer func() { _ = root.Close() }() // it was only read
	return slices.ContainsFunc(paths, func(p string) bool { return rules.Ignored(root, p) })
}

// withLock runs do while no other process changes the memory, with what is there:
// what was read before that may have been approved or forgotten meanwhile.
func (s Store) withLock(ctx context.Context, do func(all []StoredEpisode) error) error {
	return disk.Lock(ctx, filepath.Join(s.State, "memory.lock"), func(context.Context) error {
		all, _, err := s.Load()
		if err != nil {
			return err
		}
		return do(all)
	})
}

// findUnchanged returns an episode as it is now, and whether it is the one that was read.
func findUnchanged(all []StoredEpisode, k StoredEpisode) (StoredEpisode, bool) {
	i := slices.IndexFunc(all, func(o StoredEpisode) bool { return o.ID == k.ID })
	if i < 0 {
		return k, false
	}
	now := all[i]
	return now, now.State == k.State && now.Shared == k.Shared && now.Text == k.Text
}

// Approve makes an episode one that agents are told of: its file is in the
// repository then. One whose files changed is approved as they are now, which is
// what now says; it reports whether they had. One that is not merged is approved
// as it was learned, the first time. A lasting one stays when its files change.
// One that is not any more what the caller read is not approved.
func (s Store) Approve(
	ctx context.Context, k StoredEpisode, stand memoryentry.Freshness, lasting bool, now func(path string) string,
) (moved StoredEpisode, refreshed bool, err error) {
	if s.Repo == "" {
		return k, false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "there is no checkout to write to",
			Hint: "Approve it in a checkout of the repository.",
		}
	}
	moved = k
	err = s.withLock(ctx, func(all []StoredEpisode) error {
		is, same := findUnchanged(all, k)
		if !same {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: k.ID + " was changed meanwhile",
				Hint: "Read it with nexus memory show " + k.ID + ", and approve it again.",
			}
		}
		moved, refreshed, err = s.approve(is, stand, lasting, now)
		return err
	})
	return moved, refreshed, err
}

func (s Store) approve(k StoredEpisode, stand memoryentry.Freshness, lasting bool, now func(path string) string) (moved StoredEpisode, refreshed bool, err error) {
	is, file := k.CheckFreshness(now)
	if stand != memoryentry.Unmerged || k.State == memoryentry.Approved {
		stand = is
	}
	if stand == memoryentry.Gone {
		return k, false, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is about %s, which is no longer committed here", k.ID, file),
			Hint: "nexus memory forget " + k.ID + " removes it; or change the line file in " + k.Path + ".",
		}
	}
	data := []byte(k.String())
	if stand == memoryentry.Stale || lasting {
		refreshed = stand == memoryentry.Stale
		e := k.Episode
		e.Files = slices.Clone(e.Files)
		for i, f := range e.Files {
			switch {
			case lasting:
				e.Files[i].Blob = ""
			case f.Blob != "":
				e.Files[i].Blob = now(f.Path)
			}
		}
		k.Episode, data = e, []byte(e.String())
	} else if old, err := s.text(k); err == nil {
		data = old // with what people wrote into it
	}
	to := k
	to.State, to.Path, to.Shared = memoryentry.Approved, path.Join(memoryentry.Dir, k.ID+".md"), true
	if k.Shared {
		to.Path = k.Path
	}
	if err := s.write(s.Repo, to.Path, memoryentry.Revise(data, memoryentry.Approved), 0o755, 0o644); err != nil {
		return k, false, err
	}
	return to, refreshed, s.drop(k.ID)
}

// Forget makes an episode one that is neither told nor proposed again here, also
// when its file in the repository, which is removed, comes back.
func (s Store) Forget(ctx context.Context, k StoredEpisode) error {
	return s.withLock(ctx, func(all []StoredEpisode) error {
		k, _ := findUnchanged(all, k)
		e := k.Episode
		e.State = memoryentry.Forgotten
		err := s.write(s.State, path.Join("memory", k.ID+".md"), []byte(e.String()), 0o700, 0o600)
		if err == nil && k.Shared {
			err = remove(s.Repo, k.Path)
		}
		return err
	})
}

// Remove deletes the file of an episode, unless it is not any more what the
// caller read.
func (s Store) Remove(ctx context.Context, k StoredEpisode) error {
	return s.withLock(ctx, func(all []StoredEpisode) error {
		switch _, same := findUnchanged(all, k); {
		case !same:
			return nil
		case k.Shared:
			return remove(s.Repo, k.Path)
		}
		return s.drop(k.ID)
	})
}

// drop deletes the file of an episode in the state directory.
func (s Store) drop(id string) error { return remove(s.State, path.Join("memory", id+".md")) }

func remove(top, name string) error {
	root, err := os.OpenRoot(top)
	if err != nil {
		return disk.WrapError("remove "+name, err)
	}
	if err = disk.CheckNoLinks(root, name); err == nil {
		err = root.Remove(filepath.FromSlash(name))
	}
	if closed := root.Close(); err == nil || errors.Is(err, fs.ErrNotExist) {
		err = closed
	}
	if err != nil {
		return disk.WrapError("remove "+name, err)
	}
	return nil
}

// text returns the file of an episode as it is.
func (s Store) text(k StoredEpisode) ([]byte, error) {
	top, name := s.State, path.Join("memory", k.ID+".md")
	if k.Shared {
		top, name = s.Repo, k.Path
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	return load(root, name)
}

// masked returns a text without keys.
func (s Store) masked(data []byte) []byte {
	if s.Mask == nil {
		return data
	}
	return s.Mask(data)
}

// write puts a file in its place as a whole, without keys, and through no link.
func (s Store) write(top, name string, data []byte, dirs, mode fs.FileMode) error {
	data = s.masked(data)
	err := os.MkdirAll(top, 0o700)
	var root *os.Root
	if err == nil {
		root, err = os.OpenRoot(top)
	}
	if err == nil {
		defer func() { _ = root.Close() }() // the file was closed for itself
		err = disk.WriteBelowRoot(root, name, data, dirs, mode)
	}
	return disk.WrapError("write "+name, err)
}
