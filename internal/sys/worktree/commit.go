package worktree

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Change is one file that differs between two commits.
type Change struct {
	Path   string // slash-separated, relative to the root
	Status string // A added, D deleted, M modified, T turned into another type
	Mode   string // new mode in octal, such as "100755"; "000000" where deleted
}

// maxDiff is how many bytes of a diff are given.
const maxDiff = 16 << 20

// Diff returns the patch from one commit or tree to another.
func (t *Tree) Diff(ctx context.Context, from, to string) (string, error) {
	return t.s.Diff(ctx, from, to)
}

// Changed lists the files that differ between two commits or trees, by path.
func (t *Tree) Changed(ctx context.Context, from, to string) ([]Change, error) {
	return t.s.Changed(ctx, from, to)
}

// Diff returns the patch from one commit or tree to another. A patch longer
// than 16 MiB is cut, and says so in its last line.
func (s *Store) Diff(ctx context.Context, from, to string) (string, error) {
	a, b, err := s.two(ctx, from, to)
	if err != nil {
		return "", err
	}
	out, cut, err := s.git.RunTo(ctx, maxDiff, "diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv",
		"--no-color", "--end-of-options", a, b)
	if cut {
		out += "\n[the rest of the diff is left out]\n"
	}
	return out, err
}

// Changed lists the files that differ between two commits or trees, by path.
func (s *Store) Changed(ctx context.Context, from, to string) ([]Change, error) {
	a, b, err := s.two(ctx, from, to)
	if err != nil {
		return nil, err
	}
	out, err := s.git.Run(ctx, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--end-of-options", a, b)
	if err != nil {
		return nil, err
	}
	return parseRaw(out)
}

func (s *Store) two(ctx context.Context, from, to string) (a, b string, err error) {
	if a, err = s.git.Tree(ctx, from); err != nil {
		return "", "", err
	}
	b, err = s.git.Tree(ctx, to)
	return a, b, err
}

// parseRaw reads diff-tree --raw -z: ":100644 100755 <id> <id> M\0path\0".
func parseRaw(out string) ([]Change, error) {
	var all []Change
	for out != "" {
		head, rest, ok1 := strings.Cut(out, "\x00")
		path, rest, ok2 := strings.Cut(rest, "\x00")
		f := strings.Fields(head)
		if !ok1 || !ok2 || len(f) != 5 || !strings.HasPrefix(head, ":") || path == "" {
			return nil, fmt.Errorf("git diff-tree: cannot read %q", head)
		}
		all = append(all, Change{Path: path, Status: f[4], Mode: f[1]})
		out = rest
	}
	return all, nil
}

// Merged is what a merge came to.
type Merged struct {
	Tree      string   // with conflict markers where there are conflicts
	Conflicts []string // files git could not merge, by path; empty for a clean merge
}

// Merge merges theirs into ours, as trees, with base as what both started
// from. All three are commits or trees; no work tree is touched. In the
// markers of a conflict, the first side is ours.
func (s *Store) Merge(ctx context.Context, base, ours, theirs string) (Merged, error) {
	// Git 2.38 finds the base by itself only: so it gets commits whose only
	// common ancestor is the base.
	b, err := s.bare(ctx, base)
	if err != nil {
		return Merged{}, err
	}
	o, err := s.bare(ctx, ours, "-p", b)
	if err != nil {
		return Merged{}, err
	}
	t, err := s.bare(ctx, theirs, "-p", b)
	if err != nil {
		return Merged{}, err
	}
	out, _, err := s.git.RunTo(ctx, maxDiff, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", o, t)
	conflicted := false
	if x, ok := errors.AsType[*git.ExitError](err); ok && x.Status == 1 {
		conflicted, err = true, nil
	}
	if err != nil {
		return Merged{}, err
	}
	return parseMerge(out, conflicted)
}

// bare makes a commit of the tree of rev that says nothing else.
func (s *Store) bare(ctx context.Context, rev string, parents ...string) (string, error) {
	tree, err := s.git.Tree(ctx, rev)
	if err != nil {
		return "", err
	}
	r := s.git
	r.Env = []string{"GIT_AUTHOR_DATE=@1 +0000", "GIT_COMMITTER_DATE=@1 +0000"}
	return r.Line(ctx, append([]string{"commit-tree", "-m", "merge", tree}, parents...)...)
}

// parseMerge reads merge-tree -z --name-only: the tree, then the files in
// conflict, each ended by a NUL.
func parseMerge(out string, conflicted bool) (Merged, error) {
	parts := strings.Split(strings.TrimRight(out, "\x00\n"), "\x00")
	m := Merged{Tree: parts[0]}
	if len(parts) > 1 {
		m.Conflicts = parts[1:]
	}
	if !git.ID(m.Tree) || conflicted != (len(m.Conflicts) > 0) {
		return Merged{}, fmt.Errorf("git merge-tree: cannot read %q", out)
	}
	return m, nil
}

// Commit makes a commit of a tree. The same arguments make the same commit.
func (s *Store) Commit(ctx context.Context, tree string, parents []string, message string, at time.Time) (string, error) {
	tree, err := s.git.Tree(ctx, tree)
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", "-F", "-", tree}
	for _, p := range parents {
		if p, err = s.git.Resolve(ctx, p); err != nil {
			return "", err
		}
		args = append(args, "-p", p)
	}
	date := fmt.Sprintf("@%d +0000", at.Unix())
	r := s.git
	r.Env = append(s.Who.Env(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	commit, err := r.RunIn(ctx, strings.NewReader(message), args...)
	return strings.TrimSpace(commit), err
}

// Move points a ref of the private clone to a commit, if it now points to
// from; "" means that it must not exist. A ref that is there already is fine.
func (s *Store) Move(ctx context.Context, ref, to, from string) error {
	if err := git.RefOK(ref); err != nil || !strings.HasPrefix(ref, "refs/") {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%q is no ref", ref),
			Hint: "Name a ref in full, such as refs/nexus/run/train.", Cause: err,
		}
	}
	if from == "" {
		from = s.zero
	}
	_, moved := s.git.Run(ctx, "update-ref", "--no-deref", "--end-of-options", ref, to, from)
	is, err := s.ref(ctx, ref)
	switch {
	case err != nil:
		return errors.Join(moved, err)
	case is == to:
		return nil
	default:
		return &nexus.Error{
			Code: nexus.CodeTargetMoved, Message: fmt.Sprintf("%s is not at %.12s any more", ref, from),
			Hint: "Read it again and decide anew.", Cause: moved,
		}
	}
}
