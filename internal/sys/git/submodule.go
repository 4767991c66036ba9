package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// SubmodulesFile is the file that names the submodules of a tree.
const SubmodulesFile = ".gitmodules"

// SubmoduleSource is where a repository's submodules may have been fetched to.
type SubmoduleSource struct {
	Work string // the checkout; empty for none
	Dir  string // the git directory with modules; empty for none
}

// SubmodulesOf returns the place of a user's repository.
func SubmodulesOf(ctx context.Context, user Repo) SubmoduleSource {
	dir, err := user.Common(ctx)
	if err != nil {
		dir = user.Dir
	}
	return SubmoduleSource{Work: user.Work, Dir: dir}
}

// Submodule is the commit of another repository that is in a tree.
type Submodule struct {
	Path   string // in the tree
	Commit string
	Within []Submodule // those of its own tree, with paths in that

	objects string // directory of the objects; empty where nobody fetched it
}

// IsFetched reports whether what the commit holds can be written out.
func (l Submodule) IsFetched() bool { return l.objects != "" }

// String tells links from others: those of the same text hold the same.
func (l Submodule) String() string {
	return fmt.Sprintf("%q %s %t %v", l.Path, l.Commit, l.IsFetched(), l.Within)
}

// Submodules returns the links of a tree of r.
func Submodules(ctx context.Context, r Repo, tree string, at SubmoduleSource) ([]Submodule, error) {
	out, err := r.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	var all []Submodule
	for entry := range strings.SplitSeq(out, "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		words := strings.Fields(about)
		if len(words) == 3 && words[1] == "commit" && filepath.IsLocal(filepath.FromSlash(name)) && CheckPath(name, ModeGitlink) == nil {
			all = append(all, Submodule{Path: name, Commit: words[2]})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	names := submoduleNames(ctx, r, tree)
	for i := range all {
		all[i].fill(ctx, names[all[i].Path], at)
	}
	return all, nil
}

// submoduleNames returns the names of submodules, by path.
func submoduleNames(ctx context.Context, r Repo, tree string) map[string]string {
	all := map[string]string{}
	out, err := r.Run(ctx, "config", "--blob", tree+":"+SubmodulesFile, "-z", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return all // they are found by their paths, or not at all
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, at, _ := strings.Cut(entry, "\n")
		all[path.Clean(at)] = strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
	}
	return all
}

// fill looks for the link's commit in the checkout, and where git keeps the
// submodules that are in no checkout now.
func (l *Submodule) fill(ctx context.Context, name string, at SubmoduleSource) {
	for _, p := range []SubmoduleSource{checkedOutSubmodule(ctx, l.Path, at.Work), storedSubmodule(name, at.Dir)} {
		if p.Dir == "" {
			continue
		}
		r := Repo{Dir: p.Dir, Work: p.Dir} // its own may be gone
		if _, err := r.Run(ctx, "cat-file", "-e", l.Commit+"^{tree}"); err != nil {
			continue
		}
		l.objects = filepath.Join(p.Dir, "objects")
		l.Within, _ = Submodules(ctx, r, l.Commit, p) // what is not found is missing
		return
	}
}

// checkedOutSubmodule returns where a submodule is that is checked out below a directory.
func checkedOutSubmodule(ctx context.Context, name, work string) SubmoduleSource {
	if work == "" {
		return SubmoduleSource{}
	}
	from := filepath.Join(work, filepath.FromSlash(name))
	r, err := Find(ctx, from)
	if err != nil {
		return SubmoduleSource{}
	}
	at, err := filepath.EvalSymlinks(from)
	if own, err2 := filepath.EvalSymlinks(r.Work); err != nil || err2 != nil || at != own {
		return SubmoduleSource{} // nobody fetched it: the directory belongs to the repository around it
	}
	return SubmodulesOf(ctx, r)
}

// storedSubmodule returns where a git directory keeps a submodule.
func storedSubmodule(name, dir string) SubmoduleSource {
	if dir == "" || name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return SubmoduleSource{}
	}
	at := filepath.Join(dir, "modules", filepath.FromSlash(name))
	if info, err := os.Stat(filepath.Join(at, "objects")); err != nil || !info.IsDir() {
		return SubmoduleSource{}
	}
	return SubmoduleSource{Dir: at}
}

// WriteFiles writes the files of a link, and of those within it, into a directory that
// is made; aside is one for scratch. Git does it with a configuration of ours:
// no program that the submodule's names is run.
func (l Submodule) WriteFiles(ctx context.Context, dir, aside string) error {
	if !l.IsFetched() {
		return fmt.Errorf("the submodule %s was not fetched", l.Path)
	}
	at, err := os.MkdirTemp(aside, "submodule-")
	if err != nil {
		return disk.WrapError("check out a submodule", err)
	}
	defer func() { _ = os.RemoveAll(at) }() // scratch
	for name, text := range map[string]string{
		"config": CloneConfig(len(l.Commit)/2, true), "HEAD": "ref: refs/heads/none\n",
		"objects/info/alternates": l.objects + "\n",
	} {
		if err := disk.Write(filepath.Join(at, filepath.FromSlash(name)), []byte(text)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(at, "refs"), 0o700), os.MkdirAll(dir, 0o755)); err != nil {
		return disk.WrapError("check out a submodule", err)
	}
	own := Repo{Dir: at, Work: dir, Index: filepath.Join(at, "index")}
	for _, args := range [][]string{{"read-tree", l.Commit}, {"checkout-index", "--all", "--force", "--quiet"}} {
		if _, err := own.Run(ctx, args...); err != nil {
			return fmt.Errorf("check out the submodule %s: %w", l.Path, err)
		}
	}
	for _, in := range l.Within {
		if !in.IsFetched() {
			continue
		}
		if err := in.WriteFiles(ctx, filepath.Join(dir, filepath.FromSlash(in.Path)), aside); err != nil {
			return err
		}
	}
	return nil
}
