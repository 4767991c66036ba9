package git

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// NamedRef is a branch, a remote branch, or a tag.
type NamedRef struct {
	Ref string // full name
	ID  string // its object
	To  string // target of a symbolic ref; empty for others
}

// NamedRefs returns the branches, the remote branches and the tags of a repository, by ref.
func (r Repo) NamedRefs(ctx context.Context) ([]NamedRef, error) {
	out, err := r.listFileNames(ctx)
	return parseNamedRefs(out), err
}

func (r Repo) listFileNames(ctx context.Context) (string, error) {
	return r.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/heads", "refs/remotes", "refs/tags")
}

// parseNamedRefs parses lines with an object name, a ref, and the target of a symbolic ref. Other
// lines are skipped.
func parseNamedRefs(out string) []NamedRef {
	var all []NamedRef
	for line := range strings.Lines(out) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ref, to, _ := strings.Cut(rest, " ")
		if IsObjectID(id) && strings.HasPrefix(ref, "refs/") && !strings.ContainsAny(rest, "\r\x00") && !strings.Contains(to, " ") {
			all = append(all, NamedRef{ref, id, to})
		}
	}
	slices.SortStableFunc(all, func(a, b NamedRef) int { return strings.Compare(a.Ref, b.Ref) })
	return all
}

// FormatPackedRefs returns the names, without symbolic refs, in git's packed-refs format. A name that
// conflicts with the branch own is left out; own may be "".
func FormatPackedRefs(names []NamedRef, own string) string {
	var b strings.Builder
	b.WriteString("# pack-refs with: sorted \n")
	for _, n := range names {
		if n.To == "" && !refsConflict(n.Ref, own) {
			b.WriteString(n.ID + " " + n.Ref + "\n")
		}
	}
	return b.String()
}

// refsConflict reports whether two refs cannot both exist: they are equal, or one is the directory
// of the other.
func refsConflict(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") && b != "" || strings.HasPrefix(b, a+"/")
}

// WriteSymbolicRefs writes the symbolic refs of the names, which [FormatPackedRefs] leaves out, to a git
// directory.
func WriteSymbolicRefs(dir string, names []NamedRef, own string) error {
	for _, n := range names {
		if n.To == "" || refsConflict(n.Ref, own) || !filepath.IsLocal(filepath.FromSlash(n.Ref)) {
			continue
		}
		if err := filewrite.WriteFile(filepath.Join(dir, filepath.FromSlash(n.Ref)), []byte("ref: "+n.To+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// ObjectBorrowingRepo is a small git directory with one commit and the names of a repository, whose objects it
// borrows. It is for programs that must not change that repository. Nothing in it starts a
// program.
type ObjectBorrowingRepo struct {
	Dir     string     // its absolute path
	Work    string     // work tree; absolute
	From    string     // git directory of the repository, shared by all work trees
	Objects []string   // further object directories besides From's
	Commit  string     // checked-out commit
	Branch  string     // checked-out ref; empty for none
	Names   []NamedRef // the other refs
	Exclude []string   // paths in Work to ignore
}

// Equal reports whether two mirrors have the same files.
func (m ObjectBorrowingRepo) Equal(o ObjectBorrowingRepo) bool {
	return m.Dir == o.Dir && m.Work == o.Work && m.From == o.From && slices.Equal(m.Objects, o.Objects) && m.Commit == o.Commit && m.Branch == o.Branch &&
		slices.Equal(m.Names, o.Names) && slices.Equal(m.Exclude, o.Exclude)
}

// Write writes the mirror without its index.
func (m ObjectBorrowingRepo) Write() error {
	packed, head := FormatPackedRefs(m.Names, m.Branch), m.Commit+"\n"
	files := map[string]string{
		"config":                  CloneConfig(len(m.Commit)/2, false),
		"objects/info/alternates": strings.Join(m.borrowedObjectDirs(), "\n") + "\n",
	}
	if m.Branch != "" {
		head = "ref: " + m.Branch + "\n"
		files[filepath.FromSlash(m.Branch)] = m.Commit + "\n"
	}
	files["HEAD"], files["packed-refs"] = head, packed
	var b strings.Builder
	b.WriteString(readIgnoreFile(filepath.Join(m.From, "info", "exclude")))
	b.WriteString("\n")
	for _, p := range m.Exclude {
		b.WriteString("/" + p + "\n")
	}
	files["info/exclude"] = b.String()
	for _, gone := range []string{"refs", "shallow"} {
		if err := os.RemoveAll(filepath.Join(m.Dir, gone)); err != nil {
			return filewrite.WrapError("write a git directory for those who judge", err)
		}
	}
	for name, text := range files {
		if err := filewrite.WriteFile(filepath.Join(m.Dir, name), []byte(text)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(m.Dir, "refs"), 0o700); err != nil {
		return filewrite.WrapError("write a git directory for those who judge", err)
	}
	err := filewrite.CopyFile(filepath.Join(m.From, "shallow"), filepath.Join(m.Dir, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return filewrite.WrapError("write a git directory for those who judge", err)
	}
	return WriteSymbolicRefs(m.Dir, m.Names, m.Branch)
}

// ResetIndex sets the mirror's index to its commit. Stat data of unchanged files is kept.
func (m ObjectBorrowingRepo) ResetIndex(ctx context.Context) error {
	_, err := m.asRepo().Run(ctx, "read-tree", "--reset", m.Commit)
	return err
}

// RefreshIndex updates the stat data in the index, so that unchanged files do not count as
// changed.
func (m ObjectBorrowingRepo) RefreshIndex(ctx context.Context) error {
	_, err := m.asRepo().Run(ctx, "update-index", "-q", "--refresh", "--ignore-submodules")
	if x, ok := errors.AsType[*ExitError](err); ok && x.Status == 1 {
		err = nil // some files differ, which the program will see, too
	}
	if err != nil {
		return err
	}
	return m.refreshLFS(ctx)
}

// refreshLFS marks LFS files in the index as unchanged if they have the content of their pointers:
// git alone would compare the content with the pointers.
func (m ObjectBorrowingRepo) refreshLFS(ctx context.Context) error {
	r := m.asRepo()
	file := filepath.Join(m.Dir, "index")
	data, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(data, []byte(".gitattributes")) {
		return filewrite.WrapError("read an index", err)
	}
	paths, err := r.LFSPaths(ctx)
	if err != nil || len(paths) == 0 {
		return err
	}
	index, err := ParseIndex(data, len(m.Commit)/2)
	if err != nil {
		return err
	}
	newest := time.Time{}
	changed := false
	for i := range index {
		e := &index[i]
		if _, ok := slices.BinarySearch(paths, e.Path); !ok || e.Mode != ModeFile && e.Mode != ModeExec {
			continue
		}
		info, ok := m.hasLFSContent(ctx, *e)
		if !ok {
			continue
		}
		e.Stat.Modified, e.Stat.Size, changed = info.ModTime().UnixNano(), uint32(info.Size()), true
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
	}
	if !changed {
		return nil
	}
	if data, err = index.Encode(len(m.Commit) / 2); err != nil {
		return err
	}
	// Git reads files again that were written in the same second as the index. The clock of files
	// lags behind by up to one tick.
	const second, tick = time.Second, 50 * time.Millisecond
	if wait := time.Until(newest.Truncate(second).Add(second + tick)); wait > 0 && wait <= second+tick {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return filewrite.WriteFile(file, data)
}

// hasLFSContent reports whether a file has the content of the entry's LFS pointer, and the index
// does not know that yet.
func (m ObjectBorrowingRepo) hasLFSContent(ctx context.Context, e IndexEntry) (fs.FileInfo, bool) {
	name := filepath.Join(m.Work, e.Path)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || int64(e.Stat.Size) == info.Size() && e.Stat.Modified/1e9 == info.ModTime().Unix() {
		return nil, false
	}
	text, cut, err := m.asRepo().RunWithLimit(ctx, MaxLFSPointer, "cat-file", "blob", e.ObjectName())
	p, ok := ParseLFSPointer(text)
	if err != nil || cut || !ok || p.Size != info.Size() {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close() //nolint:errcheck // only read
	is, err := HashLFSContent(f)
	return info, err == nil && is == p
}

func (m ObjectBorrowingRepo) asRepo() Repo { return Repo{Dir: m.Dir, Work: m.Work} }

// SubstituteCommit returns the commit for rev, a commit or a tree, in a written mirror. For a tree,
// it is the base if that has this tree, or else a commit on top of the base that only the mirror
// has.
func (m ObjectBorrowingRepo) SubstituteCommit(ctx context.Context, rev, base string) (string, error) {
	r := m.asRepo()
	if commit, err := r.Resolve(ctx, rev); err == nil {
		return commit, nil
	}
	tree, err1 := r.TreeID(ctx, rev)
	was, err2 := r.TreeID(ctx, base)
	if err := errors.Join(err1, err2); err != nil || tree == was {
		return base, err
	}
	return r.RunLine(ctx, "commit-tree", "-p", base, "-m", StandInMessage, tree)
}

// StandInMessage is the message of a commit for a tree. It has the form that linters of commit
// messages require.
const StandInMessage = "chore: stand for the tree that is judged"

// borrowedObjectDirs returns the directories of objects that the mirror borrows.
func (m ObjectBorrowingRepo) borrowedObjectDirs() []string {
	return append([]string{filepath.Join(m.From, "objects")}, m.Objects...)
}

// ReadablePaths lists the paths that programs must be able to read to use the mirror.
func (m ObjectBorrowingRepo) ReadablePaths() []string {
	all := []string{m.Dir}
	for _, o := range m.borrowedObjectDirs() {
		all = append(all, alternateDirs(o, 5)...)
	}
	return all
}

// GitDirsOutsideWorkTree lists the paths of a repository outside of its work tree that must be
// readable for running git there.
func GitDirsOutsideWorkTree(ctx context.Context, r Repo) ([]string, error) {
	common, err := r.CommonDir(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, dir := range append([]string{common, r.Dir}, alternateDirs(filepath.Join(common, "objects"), 5)...) {
		within := slices.ContainsFunc(append(all, r.Work), func(o string) bool { return dir == o || strings.HasPrefix(dir, o+"/") })
		if !within {
			all = append(all, dir)
		}
	}
	return all, nil
}

// alternateDirs returns a directory of objects and its alternates, up to git's depth limit.
func alternateDirs(objects string, deep int) []string {
	all := []string{objects}
	data, err := os.ReadFile(filepath.Join(objects, "info", "alternates"))
	if err != nil || deep == 0 {
		return all
	}
	for line := range strings.Lines(string(data)) {
		dir := strings.TrimSuffix(line, "\n")
		if dir == "" || strings.HasPrefix(dir, "#") || strings.HasPrefix(dir, `"`) {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(objects, dir)
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			all = append(all, alternateDirs(filepath.Clean(dir), deep-1)...)
		}
	}
	return all
}
