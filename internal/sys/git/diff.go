package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ChangedTreeFile is a file that differs between two trees.
type ChangedTreeFile struct {
	Path   string // slash-separated, relative to the root
	Status string // A added, D deleted, M modified, T turned into another type
	Mode   string // new mode in octal, such as "100755"; "000000" for a deleted file
	ID     string // new object name; zeros for a deleted file
}

// ModeBits returns the mode as a number; 0 for a deleted file.
func (c ChangedTreeFile) ModeBits() (uint32, error) {
	m, err := strconv.ParseUint(c.Mode, 8, 32)
	return uint32(m), err
}

// ChangedFiles lists the files that differ between two commits or trees, by path. A moved file is a
// deleted and an added one.
func (r Repo) ChangedFiles(ctx context.Context, from, to string) ([]ChangedTreeFile, error) {
	out, _, err := r.runDiff(ctx, maxOutput, from, to, "-z", "--raw", "--no-renames", "--no-abbrev")
	if err != nil {
		return nil, err
	}
	return parseRawDiff(out)
}

// maxDiff limits the size of a patch, in bytes.
const maxDiff = 16 << 20

// Diff returns the patch from one commit or tree to another. A patch longer than 16 MiB is cut,
// and its last line says so.
func (r Repo) Diff(ctx context.Context, from, to string) (string, error) {
	out, cut, err := r.runDiff(ctx, maxDiff, from, to, "-p", "-M", "--no-color")
	if cut {
		out += "\n[the rest of the diff is left out]\n"
	}
	return out, err
}

// RenamedPaths returns the new paths of renamed files by their old paths: at least half of each is in
// the new file. Empty files are left out, because they are all alike.
func (r Repo) RenamedPaths(ctx context.Context, from, to string) (map[string]string, error) {
	out, _, err := r.runDiff(ctx, maxOutput, from, to, "-z", "-M50%", "--no-rename-empty", "--diff-filter=R", "--name-status")
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	parts := strings.Split(out, "\x00")
	for i := 0; i+2 < len(parts); i += 3 { // similarity, old path, new path
		all[parts[i+1]] = parts[i+2]
	}
	return all, nil
}

// DiffLimitedToFiles is [Repo.Diff] for some files, given by their paths.
func (r Repo) DiffLimitedToFiles(ctx context.Context, from, to string, files []string) (string, error) {
	a, err := r.resolveObject(ctx, from)
	if err != nil {
		return "", err
	}
	b, err := r.resolveObject(ctx, to)
	if err != nil || len(files) == 0 {
		return "", err
	}
	args := []string{"--literal-pathspecs", "diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "-p", "--no-renames", "--no-color", "--end-of-options", a, b, "--"}
	out, _, err := r.RunWithLimit(ctx, maxDiff, append(args, files...)...)
	return out, err
}

// Patch returns the differing lines of two commits or trees, without context lines, for all files:
// attributes of the tree cannot hide any. A patch longer than 16 MiB is cut, and whole is false
// then.
func (r Repo) Patch(ctx context.Context, from, to string) (patch string, whole bool, err error) {
	patch, cut, err := r.runDiff(ctx, maxDiff, from, to, "-p", "-U0", "--text", "--no-renames", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
	return patch, !cut, err
}

// PatchWithRenames returns a patch without context lines, in which a renamed file is one entry. It
// shows where lines moved. If it is too long, it is "".
func (r Repo) PatchWithRenames(ctx context.Context, from, to string) (string, error) {
	patch, cut, err := r.runDiff(ctx, maxDiff, from, to, "-p", "-U0", "-M", "--text", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")
	if cut || err != nil {
		return "", err
	}
	return patch, nil
}

func (r Repo) runDiff(ctx context.Context, limit int, from, to string, how ...string) (out string, cut bool, err error) {
	a, err := r.resolveObject(ctx, from)
	if err != nil {
		return "", false, err
	}
	b, err := r.resolveObject(ctx, to)
	if err != nil {
		return "", false, err
	}
	args := append([]string{"diff-tree", "-r", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"}, how...)
	return r.RunWithLimit(ctx, limit, append(args, "--end-of-options", a, b)...)
}

// resolveObject returns the object name of a commit or tree.
func (r Repo) resolveObject(ctx context.Context, rev string) (string, error) {
	if IsObjectID(rev) {
		return rev, nil
	}
	return r.TreeID(ctx, rev)
}

// parseRawDiff parses the output of diff-tree --raw -z: ":100644 100755 <id> <id> M\0path\0".
func parseRawDiff(out string) ([]ChangedTreeFile, error) {
	var all []ChangedTreeFile
	for out != "" {
		head, rest, ok1 := strings.Cut(out, "\x00")
		path, rest, ok2 := strings.Cut(rest, "\x00")
		f := strings.Fields(head)
		if !ok1 || !ok2 || len(f) != 5 || !strings.HasPrefix(head, ":") || path == "" {
			return nil, fmt.Errorf("git diff-tree: cannot read %q", head)
		}
		all = append(all, ChangedTreeFile{Path: path, Status: f[4], Mode: f[1], ID: f[3]})
		out = rest
	}
	return all, nil
}

// MergeResult is the result of a merge.
type MergeResult struct {
	Tree      string   // with conflict markers if there are conflicts
	Conflicts []string // files with conflicts, by path; empty for a clean merge
}

// Merge merges theirs into ours, with base as the merge base. All three are commits or trees; no
// work tree is changed. In conflict markers, the first side is ours.
func (r Repo) Merge(ctx context.Context, base, ours, theirs string) (MergeResult, error) {
	// Git 2.38 always computes the base itself, so it gets commits whose only common ancestor is
	// the base.
	b, err := r.commitTree(ctx, base)
	if err != nil {
		return MergeResult{}, err
	}
	o, err := r.commitTree(ctx, ours, b)
	if err != nil {
		return MergeResult{}, err
	}
	t, err := r.commitTree(ctx, theirs, b)
	if err != nil {
		return MergeResult{}, err
	}
	out, err := r.Run(ctx, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", o, t)
	conflicted := false
	if x, ok := errors.AsType[*ExitError](err); ok && x.Status == 1 {
		conflicted, err, out = true, nil, x.Output
	}
	if err != nil {
		return MergeResult{}, err
	}
	return parseMergeOutput(out, conflicted)
}

// commitTree creates a commit with the tree of rev and fixed metadata.
func (r Repo) commitTree(ctx context.Context, rev string, parents ...string) (string, error) {
	tree, err := r.TreeID(ctx, rev)
	if err != nil {
		return "", err
	}
	if o := r.objectReader(tree); o != nil {
		return o.Commit(tree, parents, CommitIdentity{}, 1, "merge")
	}
	r.Env = []string{"GIT_AUTHOR_DATE=@1 +0000", "GIT_COMMITTER_DATE=@1 +0000"}
	args := []string{"commit-tree", "-m", "merge", tree}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.RunLine(ctx, args...)
}

// parseMergeOutput parses the output of merge-tree -z --name-only: the tree, then the files in conflict,
// each ended by a NUL.
func parseMergeOutput(out string, conflicted bool) (MergeResult, error) {
	parts := strings.Split(strings.TrimRight(out, "\x00\n"), "\x00")
	m := MergeResult{Tree: parts[0]}
	if len(parts) > 1 {
		m.Conflicts = parts[1:]
	}
	if !IsObjectID(m.Tree) || conflicted != (len(m.Conflicts) > 0) {
		return MergeResult{}, fmt.Errorf("git merge-tree: cannot read %q", out)
	}
	return m, nil
}
