package worktree

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Snapshot commits the current files on top of the last snapshot, and pins the commit. If nothing
// changed, it returns the last snapshot.
//
// Files that the tree's own rules ignore are left out, as are sockets and pipes. The files of a
// repository within the tree are included as files, without its .git. A file whose name git
// refuses is an error.
func (t *AttemptTree) Snapshot(ctx context.Context, message string) (commit, tree string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.snapshot(ctx, message)
}

func (t *AttemptTree) snapshot(ctx context.Context, message string) (commit, tree string, err error) {
	found, err := t.findChanges(ctx)
	if err == nil {
		commit, tree, err = t.commitChanges(ctx, message, found)
	}
	if err != nil {
		t.known.Forget() // otherwise these changes would not be found again
	}
	return commit, tree, err
}

// findChanges returns the changes since the last snapshot.
func (t *AttemptTree) findChanges(ctx context.Context) (treeScanResult, error) {
	if err := t.remountTree(ctx); err != nil { // an unmounted tree would look empty
		return treeScanResult{}, err
	}
	is, err := t.s.objects.ReadRef(SnapshotRef(t.Run, t.ID))
	if err != nil {
		return treeScanResult{}, err
	}
	if is != t.last { // another process made a snapshot
		if err := t.reloadSnapshot(ctx); err != nil {
			return treeScanResult{}, err
		}
	}
	now, err := fileClock(filepath.Join(t.home, "clock"))
	if err != nil {
		return treeScanResult{}, filewrite.WrapError("make a snapshot", err)
	}
	look, err := t.newTreeSurvey()
	if err != nil {
		return treeScanResult{}, err
	}
	found, err := look.findChanges(ctx, &t.known, now)
	return found, filewrite.WrapError("look at the files", err)
}

func (t *AttemptTree) newTreeSurvey() (treeChangeFinder, error) {
	g, err := t.startState()
	look := treeChangeFinder{Dir: t.Dir, Ignored: t.IgnoredPaths, Base: g.Index, Since: g.Since}
	if t.lower != "" {
		look.Upper = filepath.Join(t.home, "upper")
	}
	return look, err
}

// IgnoredPaths returns the paths that the rules of the tree, or of the user, exclude. For forced paths,
// only the tree's own rules count; see [AttemptTree.ForceInclude].
func (t *AttemptTree) IgnoredPaths(ctx context.Context, paths []string) (map[string]bool, error) {
	rules, err := t.checkIgnore(ctx, paths)
	all := map[string]bool{}
	for p, rule := range rules {
		if !rule.Own || !t.kept.includesPath(p) {
			all[p] = true
		}
	}
	return all, err
}

// repoWithIndex returns the private clone with the tree's files as work tree, and an index in the tree's
// home.
func (t *AttemptTree) repoWithIndex(index string) git.Repo {
	r := t.s.git
	r.Work, r.Index = t.Dir, filepath.Join(t.home, index)
	return r
}

// commitChanges commits the changes, unless the result is the same tree.
func (t *AttemptTree) commitChanges(ctx context.Context, message string, found treeScanResult) (commit, tree string, err error) {
	files, err := t.storeFiles(ctx, found.Changed)
	if err != nil {
		return "", "", err
	}
	changes := map[string]git.TreeEntry{}
	for _, p := range found.Gone {
		changes[p] = git.TreeEntry{}
	}
	for p, f := range files {
		if err := git.CheckPath(p, f.Mode); err != nil {
			return "", "", snapshotError(err)
		}
		changes[p] = git.TreeEntry{Mode: f.Mode, ID: f.ID}
	}
	tree = t.tree
	if len(changes) > 0 {
		if tree, err = t.s.objects.EditTreePaths(ctx, t.tree, changes); err != nil {
			return "", "", filewrite.WrapError("keep the files", err)
		}
	}
	if tree != t.tree {
		if err := t.commitOnLastSnapshot(ctx, tree, message); err != nil {
			return "", "", err
		}
	}
	t.rememberFileStates(found, files)
	return t.last, t.tree, nil
}

// rememberFileStates stores the states of the found files.
func (t *AttemptTree) rememberFileStates(found treeScanResult, files map[string]knownFileState) {
	for _, p := range found.Gone {
		t.known.Set(p, knownFileState{}, found.Now)
	}
	for p, f := range files {
		t.known.Set(p, f, found.Now)
	}
}

// commitOnLastSnapshot commits a tree on top of the last snapshot.
func (t *AttemptTree) commitOnLastSnapshot(ctx context.Context, tree, message string) error {
	at, err := t.s.dateForNextCommit(ctx, t.last)
	if err != nil {
		return err
	}
	commit, err := t.s.objects.Commit(tree, []string{t.last}, t.s.Who, at, message)
	if err != nil {
		return filewrite.WrapError("keep the files", err)
	}
	if err := t.s.objects.MoveRef(SnapshotRef(t.Run, t.ID), commit, t.last); err != nil {
		return &nexus.Error{
			Code: nexus.CodeTargetMoved, Message: "another process owns the worktree",
			Hint: "Only one process may work in a worktree.", Cause: err,
		}
	}
	t.last, t.tree = commit, tree
	return nil
}

// minGitStoredSize is the size from which git itself stores a file, piece by piece.
const minGitStoredSize = 32 << 20

// storeFiles stores the content of files. A file that disappeared is skipped.
func (t *AttemptTree) storeFiles(ctx context.Context, paths []string) (map[string]knownFileState, error) {
	files := map[string]knownFileState{}
	var rest []string
	t.attrs = t.attrs || slices.ContainsFunc(paths, isAttributesFile) // before all files, whatever their order
	paths, err := t.storeLFS(ctx, paths, files)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		f, done, err := t.storeFile(p)
		if _, gone := os.Lstat(filepath.Join(t.Dir, p)); err != nil && errors.Is(gone, fs.ErrNotExist) {
			continue // the next scan finds that it is gone
		}
		if err != nil {
			return nil, filewrite.WrapError("keep "+p, err)
		}
		if done {
			files[p] = f
		} else {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 {
		return files, nil
	}
	return files, t.storeByGit(ctx, rest, files)
}

// storeFile stores one file, unless its attributes require git.
func (t *AttemptTree) storeFile(p string) (f knownFileState, done bool, err error) {
	name := filepath.Join(t.Dir, p)
	info, err := os.Lstat(name)
	if err != nil {
		return f, false, err
	}
	var data []byte
	switch {
	case info.Mode().Type() == fs.ModeSymlink:
		to, err := os.Readlink(name)
		if err != nil {
			return f, false, err
		}
		data, f.Mode = []byte(to), git.ModeLink
	case t.attrs || info.Size() > minGitStoredSize:
		return f, false, nil
	default:
		if data, f.Stat, err = readFile(name); err != nil {
			return f, false, err
		}
		f.Mode = f.Stat.Mode
	}
	f.ID, err = t.s.objects.WriteObject("blob", data)
	return f, true, err
}

// readFile reads a regular file that is no link, with its stat from before.
func readFile(name string) ([]byte, git.IndexFileStat, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	if errors.Is(err, fs.ErrPermission) && os.Chmod(name, 0o600) == nil {
		f, err = os.OpenFile(name, os.O_RDONLY|noFollow, 0)
	}
	if err != nil {
		return nil, git.IndexFileStat{}, err
	}
	defer f.Close() //nolint:errcheck // only read
	st, err := fileStat(f)
	if err != nil {
		return nil, st, err
	}
	if st.Mode != git.ModeFile && st.Mode != git.ModeExec {
		return nil, st, fmt.Errorf("%s is no longer a file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, minGitStoredSize+1))
	if err == nil && len(data) > minGitStoredSize {
		err = fmt.Errorf("%s grew while it was read", name)
	}
	return data, st, err
}

// storeByGit stores files with git, because of attributes for line ends or encodings. If the
// attributes are impossible to apply, the files are stored unchanged.
func (t *AttemptTree) storeByGit(ctx context.Context, paths []string, files map[string]knownFileState) error {
	was, err := t.snapshotEntries(ctx, paths)
	if err != nil {
		return err
	}
	now, err := t.updateIndex(ctx, paths, was)
	if _, ok := errors.AsType[*git.ExitError](err); ok {
		return t.storeUnfiltered(ctx, paths, files)
	}
	if err != nil {
		return err
	}
	for _, p := range paths {
		e, ok := now.Find(p)
		if !ok {
			return snapshotError(fmt.Errorf("git refuses %q", p))
		}
		files[p] = knownFileState{Mode: e.Mode, ID: e.ObjectName(), Stat: e.Stat}
	}
	return nil
}

// snapshotEntries returns the entries of files in the last snapshot. Git keeps line ends that were
// always committed as they are, so it needs these entries.
func (t *AttemptTree) snapshotEntries(ctx context.Context, paths []string) (git.Index, error) {
	var was git.Index
	for _, p := range paths { // sorted
		node, err := t.s.objects.LookupPath(ctx, t.tree, p)
		if err != nil {
			return nil, err
		}
		raw, err := hex.DecodeString(node.ID)
		if err == nil && (node.Mode == git.ModeFile || node.Mode == git.ModeExec) {
			was = append(was, git.IndexEntry{Path: p, Mode: node.Mode, Raw: string(raw)})
		}
	}
	return was, nil
}

// updateIndex stores files with git, and returns the resulting index.
func (t *AttemptTree) updateIndex(ctx context.Context, paths []string, was git.Index) (git.Index, error) {
	r, size := t.repoWithIndex("mini"), t.s.objects.IDSize()
	data, err := was.Encode(size)
	if err != nil {
		return nil, err
	}
	if err := filewrite.WriteFile(r.Index, data); err != nil {
		return nil, err
	}
	in := strings.NewReader(strings.Join(paths, "\x00") + "\x00")
	if _, err := r.RunWithInput(ctx, in, "update-index", "--add", "-z", "--stdin"); err != nil {
		return nil, err
	}
	if data, err = os.ReadFile(r.Index); err != nil {
		return nil, filewrite.WrapError("keep the files", err)
	}
	return git.ParseIndex(data, size)
}

// storeUnfiltered stores files with git, byte for byte.
func (t *AttemptTree) storeUnfiltered(ctx context.Context, paths []string, files map[string]knownFileState) error {
	quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var in strings.Builder
	for _, p := range paths {
		in.WriteString(`"` + quote.Replace(p) + "\"\n")
	}
	out, err := t.repoWithIndex("none").RunWithInput(ctx, strings.NewReader(in.String()), "hash-object", "-w", "--no-filters", "--stdin-paths")
	if err != nil {
		return err
	}
	ids := strings.Fields(out)
	if len(ids) != len(paths) {
		return fmt.Errorf("git hash-object: %d names for %d files", len(ids), len(paths))
	}
	for i, p := range paths {
		info, err := os.Lstat(filepath.Join(t.Dir, p))
		if err != nil {
			return filewrite.WrapError("keep "+p, err)
		}
		f := knownFileState{Mode: git.ModeFile, ID: ids[i]}
		if info.Mode()&0o100 != 0 {
			f.Mode = git.ModeExec
		}
		files[p] = f
	}
	return nil
}

// snapshotError returns the error for files that cannot be committed.
func snapshotError(cause error) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "the files cannot be kept",
		Hint: "Rename that file, or have git ignore it; also check .gitattributes.", Cause: cause,
	}
}
