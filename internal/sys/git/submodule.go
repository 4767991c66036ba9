package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// SubmodulesFile is the file that lists the submodules of a tree.
const SubmodulesFile = ".gitmodules"

// SubmoduleFetchLocation is a place in which a repository's submodules may have been fetched.
type SubmoduleFetchLocation struct {
	Work string // the checkout; empty for none
	Dir  string // the git directory with the directory modules; empty for none
}

// SubmoduleSourceOf returns the source of submodules for a user's repository.
func SubmoduleSourceOf(ctx context.Context, user Repo) SubmoduleFetchLocation {
	dir, err := user.CommonDir(ctx)
	if err != nil {
		dir = user.Dir
	}
	return SubmoduleFetchLocation{Work: user.Work, Dir: dir}
}

// Submodule is a commit of another repository in a tree.
type Submodule struct {
	Path   string // in the tree
	Commit string
	Within []Submodule // submodules of its own tree, with paths in that

	objects string // directory of its objects; empty if not fetched
}

// IsFetched reports whether the files of the commit can be written.
func (l Submodule) IsFetched() bool { return l.objects != "" }

// String returns a text that is equal for submodules with equal files.
func (l Submodule) String() string {
	return fmt.Sprintf("%q %s %t %v", l.Path, l.Commit, l.IsFetched(), l.Within)
}

// ListSubmodules returns the submodules of a tree of r.
func ListSubmodules(ctx context.Context, r Repo, tree string, at SubmoduleFetchLocation) ([]Submodule, error) {
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
		all[i].findCommitSource(ctx, names[all[i].Path], at)
	}
	return all, nil
}

// submoduleNames returns the names of submodules by path.
func submoduleNames(ctx context.Context, r Repo, tree string) map[string]string {
	all := map[string]string{}
	out, err := r.Run(ctx, "config", "--blob", tree+":"+SubmodulesFile, "-z", "--get-regexp", `^submodule\..*\.path$`)
	if err != nil {
		return all // they are searched by their paths only
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, at, _ := strings.Cut(entry, "\n")
		all[path.Clean(at)] = strings.TrimSuffix(strings.TrimPrefix(key, "submodule."), ".path")
	}
	return all
}

// findCommitSource searches for the submodule's commit in the checkout, and in git's directory of submodules
// that are not checked out.
func (l *Submodule) findCommitSource(ctx context.Context, name string, at SubmoduleFetchLocation) {
	for _, p := range []SubmoduleFetchLocation{checkedOutSubmodule(ctx, l.Path, at.Work), storedSubmodule(name, at.Dir)} {
		if p.Dir == "" {
			continue
		}
		r := Repo{Dir: p.Dir, Work: p.Dir} // its own work tree may be gone
		if _, err := r.Run(ctx, "cat-file", "-e", l.Commit+"^{tree}"); err != nil {
			continue
		}
		l.objects = filepath.Join(p.Dir, "objects")
		l.Within, _ = ListSubmodules(ctx, r, l.Commit, p) // submodules that are not found are missing
		return
	}
}

// checkedOutSubmodule returns the source of a submodule that is checked out below a directory.
func checkedOutSubmodule(ctx context.Context, name, work string) SubmoduleFetchLocation {
	if work == "" {
		return SubmoduleFetchLocation{}
	}
	from := filepath.Join(work, filepath.FromSlash(name))
	r, err := FindRepo(ctx, from)
	if err != nil {
		return SubmoduleFetchLocation{}
	}
	at, err := filepath.EvalSymlinks(from)
	if own, err2 := filepath.EvalSymlinks(r.Work); err != nil || err2 != nil || at != own {
		return SubmoduleFetchLocation{} // not fetched: the directory belongs to the outer repository
	}
	return SubmoduleSourceOf(ctx, r)
}

// storedSubmodule returns the source of a submodule in a git directory.
func storedSubmodule(name, dir string) SubmoduleFetchLocation {
	if dir == "" || name == "" || !filepath.IsLocal(filepath.FromSlash(name)) {
		return SubmoduleFetchLocation{}
	}
	at := filepath.Join(dir, "modules", filepath.FromSlash(name))
	if info, err := os.Stat(filepath.Join(at, "objects")); err != nil || !info.IsDir() {
		return SubmoduleFetchLocation{}
	}
	return SubmoduleFetchLocation{Dir: at}
}

// WriteFiles writes the files of a submodule, and of its nested ones, into a new directory; aside
// is a directory for temporary files. Git runs with our configuration: programs that the
// submodule's configuration names do not run.
func (l Submodule) WriteFiles(ctx context.Context, dir, aside string) error {
	if !l.IsFetched() {
		return fmt.Errorf("the submodule %s was not fetched", l.Path)
	}
	at, err := os.MkdirTemp(aside, "submodule-")
	if err != nil {
		return filewrite.WrapError("check out a submodule", err)
	}
	defer func() { _ = os.RemoveAll(at) }() // temporary files
	for name, text := range map[string]string{
		"config": CloneConfig(len(l.Commit)/2, true), "HEAD": "ref: refs/heads/none\n",
		"objects/info/alternates": l.objects + "\n",
	} {
		if err := filewrite.WriteFile(filepath.Join(at, filepath.FromSlash(name)), []byte(text)); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(at, "refs"), 0o700), os.MkdirAll(dir, 0o755)); err != nil {
		return filewrite.WrapError("check out a submodule", err)
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
