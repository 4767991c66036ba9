// Package submodule finds what the submodules of a tree hold in the repository
// that a user has, which is only read, and writes it out. Nothing is fetched:
// a submodule that the user has not is missing.
package submodule

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/clone"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Names is the file that names the submodules of a tree.
const Names = ".gitmodules"

// Place is where a repository's submodules may have been fetched to.
type Place struct {
	Work string // the checkout; empty for none
	Dir  string // the git directory with modules; empty for none
}

// At returns the place of a user's repository.
func At(ctx context.Context, user git.Repo) Place {
	dir, err := user.Common(ctx)
	if err != nil {
		dir = user.Dir
	}
	return Place{Work: user.Work, Dir: dir}
}

// Link is the commit of another repository that stands in a tree.
type Link struct {
	Path   string // in the tree
	Commit string
	Within []Link // those of its own tree, with paths in that

	objects string // directory of the objects; empty where nobody fetched it
}

// Had reports whether what the commit holds can be written out.
func (l Link) Had() bool { return l.objects != "" }

// String tells links from others: those of the same text hold the same.
func (l Link) String() string { return fmt.Sprintf("%q %s %t %v", l.Path, l.Commit, l.Had(), l.Within) }

// Find returns the links of a tree of r.
func Find(ctx context.Context, r git.Repo, tree string, at Place) ([]Link, error) {
	out, err := r.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", tree)
	if err != nil {
		return nil, err
	}
	var all []Link
	for entry := range strings.SplitSeq(out, "\x00") {
		about, name, _ := strings.Cut(entry, "\t")
		words := strings.Fields(about)
		if len(words) == 3 && words[1] == "commit" && filepath.IsLocal(filepath.FromSlash(name)) && git.PathOK(name, git.ModeGitlink) == nil {
			all = append(all, Link{Path: name, Commit: words[2]})
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	names := names(ctx, r, tree)
	for i := range all {
		all[i].fill(ctx, names[all[i].Path], at)
	}
	return all, nil
}

// names returns the names of submodules, by path.
func names(ctx context.Context, r git.Repo, tree string) map[string]string {
	all := map[string]string{}
	out, err := r.Run(ctx, "config", "--blob", tree+":"+Names, "-z", "--get-regexp", `^submodule\..*\.path$`)
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
// submodules that stand in no checkout now.
func (l *Link) fill(ctx context.Context, name string, at Place) {
	for _, p := range []Place{checkout(ctx, l.Path, at.Work), kept(name, at.Dir)} {
		if p.Dir == "" {
			continue
		}
		r := git.Repo{Dir: p.Dir, Work: p.Dir} // its own may be gone
		if _, err := r.Run(ctx, "cat-file", "-e", l.Commit+"^{tree}"); err != nil {
			continue
		}
		l.objects = filepath.Join(p.Dir, "objects")
		l.Within, _ = Find(ctx, r, l.Commit, p) // what is not found is missing
		return
	}
}

// checkout returns where a submodule is that is checked out below a directory.
func checkout(ctx context.Context, name, work string) Place {
	if work == "" {
		return Place{}
	}
	from := filepath.Join(work, filepath.FromSlash(name))
	r, err := git.Find(ctx, from)
	if err != nil {
		return Place{}
	}
	at, err := filepath.EvalSymlinks(from)
	if own, err2 := filepath.EvalSymlinks(r.Work); err != nil || err2 != nil || at != own {
		return Place{} // nobody fetched it: the directory belongs to the repository around it
	}
	return At(ctx, r)
}

// kept returns where a git directory keeps a submodule.
func kept(name, dir string) Place {
	if dir == "" || name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return Place{}
	}
	at := filepath.Join(dir, "modules", filepath.FromSlash(name))
	if info, err := os.Stat(filepath.Join(at, "objects")); err != nil || !info.IsDir() {
		return Place{}
	}
	return Place{Dir: at}
}

// Lay writes the files of a link, and of those within it, into a directory that
// is made; aside is one for scratch. Git does it with a configuration of ours:
// no program that the submodule's names is run.
func (l Link) Lay(ctx context.Context, dir, aside string) error {
	if !l.Had() {
		return fmt.Errorf("nobody fetched the submodule %s", l.Path)
	}
	at, err := os.MkdirTemp(aside, "submodule-")
	if err != nil {
		return disk.Fail("check out a submodule", err)
	}
	defer func() { _ = os.RemoveAll(at) }() // scratch
	for name, text := range map[string]string{
		"config": clone.Config(len(l.Commit)/2, true), "HEAD": "ref: refs/heads/none\n",
		"objects/info/alternates": l.objects + "\n",
	} {
		if err := disk.Write(filepath.Join(at, filepath.FromSlash(name)), []byte(text)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(at, "refs"), 0o700), os.MkdirAll(dir, 0o755)); err != nil {
		return disk.Fail("check out a submodule", err)
	}
	own := git.Repo{Dir: at, Work: dir, Index: filepath.Join(at, "index")}
	for _, args := range [][]string{{"read-tree", l.Commit}, {"checkout-index", "--all", "--force", "--quiet"}} {
		if _, err := own.Run(ctx, args...); err != nil {
			return fmt.Errorf("check out the submodule %s: %w", l.Path, err)
		}
	}
	for _, in := range l.Within {
		if !in.Had() {
			continue
		}
		if err := in.Lay(ctx, filepath.Join(dir, filepath.FromSlash(in.Path)), aside); err != nil {
			return err
		}
	}
	return nil
}
