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

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// Name is a branch, a branch of a remote, or a tag.
type Name struct {
	Ref string // in full
	ID  string // the object that it names
	To  string // the ref that it stands for; empty for one that is not symbolic
}

// Names returns the branches, the remotes' branches and the tags of a repository, by
// their refs.
func (r Repo) Names(ctx context.Context) ([]Name, error) {
	out, err := r.listNames(ctx)
	return parseNames(out), err
}

func (r Repo) listNames(ctx context.Context) (string, error) {
	return r.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname) %(symref)", "refs/heads", "refs/remotes", "refs/tags")
}

// parseNames reads lines with an object's name, a ref, and the ref that it stands
// for. Others are left out.
func parseNames(out string) []Name {
	var all []Name
	for line := range strings.Lines(out) {
		id, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ref, to, _ := strings.Cut(rest, " ")
		if IsObjectID(id) && strings.HasPrefix(ref, "refs/") && !strings.ContainsAny(rest, "\r\x00") && !strings.Contains(to, " ") {
			all = append(all, Name{ref, id, to})
		}
	}
	slices.SortStableFunc(all, func(a, b Name) int { return strings.Compare(a.Ref, b.Ref) })
	return all
}

// PackedRefs is what git reads the names from, but for those that stand for others.
// A name that cannot be beside the branch own is left out; own may be empty.
func PackedRefs(names []Name, own string) string {
	var b strings.Builder
	b.WriteString("# pack-refs with: sorted \n")
	for _, n := range names {
		if n.To == "" && !refsConflict(n.Ref, own) {
			b.WriteString(n.ID + " " + n.Ref + "\n")
		}
	}
	return b.String()
}

// refsConflict reports whether two refs cannot both be: one is the other, or the directory of
// the other.
func refsConflict(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") && b != "" || strings.HasPrefix(b, a+"/")
}

// WriteSymbolic writes those of the names that stand for others, and that [PackedRefs] leaves
// out therefore, into a git directory.
func WriteSymbolic(dir string, names []Name, own string) error {
	for _, n := range names {
		if n.To == "" || refsConflict(n.Ref, own) || !filepath.IsLocal(filepath.FromSlash(n.Ref)) {
			continue
		}
		if err := disk.Write(filepath.Join(dir, filepath.FromSlash(n.Ref)), []byte("ref: "+n.To+"\n")); err != nil {
			return err
		}
	}
	return nil
}

// Mirror is a small git directory that shows one commit, with the names of a
// repository whose objects it borrows, to programs that are not to change it. It
// holds nothing that starts a program.
type Mirror struct {
	Dir     string   // where it is; absolute
	Work    string   // the files; absolute
	From    string   // git directory that it is of, shared by all work trees
	Objects []string // directories of objects besides From's
	Commit  string   // what is checked out
	Branch  string   // the ref that is checked out; empty for none
	Names   []Name   // the others
	Exclude []string // paths in Work that are nobody's business
}

// Equal reports whether two mirrors are written alike.
func (m Mirror) Equal(o Mirror) bool {
	return m.Dir == o.Dir && m.Work == o.Work && m.From == o.From && slices.Equal(m.Objects, o.Objects) && m.Commit == o.Commit && m.Branch == o.Branch &&
		slices.Equal(m.Names, o.Names) && slices.Equal(m.Exclude, o.Exclude)
}

// Write writes the mirror, except for its index.
func (m Mirror) Write() error {
	packed, head := PackedRefs(m.Names, m.Branch), m.Commit+"\n"
	files := map[string]string{
		"config":                  CloneConfig(len(m.Commit)/2, false),
		"objects/info/alternates": strings.Join(m.borrows(), "\n") + "\n",
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
			return disk.WrapError("write a git directory for those who judge", err)
		}
	}
	for name, text := range files {
		if err := disk.Write(filepath.Join(m.Dir, name), []byte(text)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(m.Dir, "refs"), 0o700); err != nil {
		return disk.WrapError("write a git directory for those who judge", err)
	}
	err := disk.Copy(filepath.Join(m.From, "shallow"), filepath.Join(m.Dir, "shallow"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.WrapError("write a git directory for those who judge", err)
	}
	return WriteSymbolic(m.Dir, m.Names, m.Branch)
}

// ResetIndex lets the mirror's index be that of its commit. What the index knew of files that are the same stays.
func (m Mirror) ResetIndex(ctx context.Context) error {
	_, err := m.repo().Run(ctx, "read-tree", "--reset", m.Commit)
	return err
}

// RefreshIndex looks at the files, so that what is as the index has it is not taken for changed.
func (m Mirror) RefreshIndex(ctx context.Context) error {
	_, err := m.repo().Run(ctx, "update-index", "-q", "--refresh", "--ignore-submodules")
	if x, ok := errors.AsType[*ExitError](err); ok && x.Status == 1 {
		err = nil // some are not: whoever looks sees it, too
	}
	if err != nil {
		return err
	}
	return m.refreshLFS(ctx)
}

// refreshLFS lets the index say that files which git LFS keeps are unchanged, where they hold
// the content of their pointers: git alone would compare it with the pointers.
func (m Mirror) refreshLFS(ctx context.Context) error {
	r := m.repo()
	file := filepath.Join(m.Dir, "index")
	data, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(data, []byte(".gitattributes")) {
		return disk.WrapError("read an index", err)
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
		info, ok := m.holdsContent(ctx, *e)
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
	if data, err = index.Bytes(len(m.Commit) / 2); err != nil {
		return err
	}
	// Git reads again what was written in the second in which the index was. The clock of files
	// lags behind by a tick.
	const second, tick = time.Second, 50 * time.Millisecond
	if wait := time.Until(newest.Truncate(second).Add(second + tick)); wait > 0 && wait <= second+tick {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(wait):
		}
	}
	return disk.Write(file, data)
}

// holdsContent reports whether a file holds the content of the pointer that the entry names, and
// is not known to.
func (m Mirror) holdsContent(ctx context.Context, e Entry) (fs.FileInfo, bool) {
	name := filepath.Join(m.Work, e.Path)
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || int64(e.Stat.Size) == info.Size() && e.Stat.Modified/1e9 == info.ModTime().Unix() {
		return nil, false
	}
	text, cut, err := m.repo().RunTo(ctx, MaxLFSPointer, "cat-file", "blob", e.ID())
	p, ok := ParseLFSPointer(text)
	if err != nil || cut || !ok || p.Size != info.Size() {
		return nil, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close() //nolint:errcheck // only read
	is, err := HashLFS(f)
	return info, err == nil && is == p
}

func (m Mirror) repo() Repo { return Repo{Dir: m.Dir, Work: m.Work} }

// StandInCommit returns the commit that stands for rev, a commit or a tree, in a mirror that was
// written: for a tree it is the base, where that is its tree, or a commit on top of the
// base that the mirror alone has.
func (m Mirror) StandInCommit(ctx context.Context, rev, base string) (string, error) {
	r := m.repo()
	if commit, err := r.Resolve(ctx, rev); err == nil {
		return commit, nil
	}
	tree, err1 := r.Tree(ctx, rev)
	was, err2 := r.Tree(ctx, base)
	if err := errors.Join(err1, err2); err != nil || tree == was {
		return base, err
	}
	return r.Line(ctx, "commit-tree", "-p", base, "-m", StandInMessage, tree)
}

// StandInMessage is the message of a commit that stands for a tree. It is as linters of
// messages want one.
const StandInMessage = "chore: stand for the tree that is judged"

// borrows returns the directories of objects that the mirror borrows.
func (m Mirror) borrows() []string {
	return append([]string{filepath.Join(m.From, "objects")}, m.Objects...)
}

// ReadablePaths lists what programs must be able to read to look into the mirror.
func (m Mirror) ReadablePaths() []string {
	all := []string{m.Dir}
	for _, o := range m.borrows() {
		all = append(all, alternateDirs(o, 5)...)
	}
	return all
}

// PathsOutsideWorkTree lists what of a repository lies outside of its work tree, and must be read by
// those who run git there.
func PathsOutsideWorkTree(ctx context.Context, r Repo) ([]string, error) {
	common, err := r.Common(ctx)
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

// alternateDirs returns a directory of objects and those that it borrows from, as deep as git
// looks.
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
