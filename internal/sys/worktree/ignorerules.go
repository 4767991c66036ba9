package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// SnapshotIgnoreRule is a line of an ignore file that excludes a path from every snapshot.
type SnapshotIgnoreRule struct {
	File    string // relative to the tree, .git/info/exclude, or the common name of the user's own
	Line    int
	Pattern string
	Own     bool // it belongs to the user, not to the tree
}

// String describes the rule for people.
func (r SnapshotIgnoreRule) String() string {
	return fmt.Sprintf("%s:%d (%s)", r.File, r.Line, r.Pattern)
}

// unignoredPaths are paths that the user's own rules do not exclude. It may be used by many
// goroutines.
type unignoredPaths struct {
	mu    sync.Mutex // guards paths
	paths map[string]bool
}

// includesPath reports whether a path, or one below it, is included.
func (k *unignoredPaths) includesPath(p string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.paths[p] {
		return true
	}
	for name := range k.paths {
		if strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return false
}

// ForceInclude includes a file that an agent intends to write, even if the user's ignore files
// outside of the repository exclude it: those are about leftovers of tools on a machine. The
// setting is lost with the process, but later snapshots keep the file once one has it.
func (t *AttemptTree) ForceInclude(name string) {
	t.kept.mu.Lock()
	if t.kept.paths == nil {
		t.kept.paths = map[string]bool{}
	}
	t.kept.paths[name] = true
	t.kept.mu.Unlock()
	t.mu.Lock()
	t.known.Forget() // it may have been scanned and excluded
	t.mu.Unlock()
}

// IgnoreRules returns the rules that exclude the paths among these that are not tracked at the
// start of the attempt. A path that ends in a slash counts as a directory.
func (t *AttemptTree) IgnoreRules(ctx context.Context, paths []string) (map[string]SnapshotIgnoreRule, error) {
	t.mu.Lock()
	ground, err := t.startState()
	t.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var open []string
	for _, p := range paths {
		if _, tracked := ground.Index.Find(p); !tracked {
			open = append(open, p)
		}
	}
	return t.checkIgnore(ctx, open)
}

// checkIgnore asks git for the rules that exclude paths. Git gets no index, so that it does not
// mistake a directory for a submodule.
func (t *AttemptTree) checkIgnore(ctx context.Context, paths []string) (map[string]SnapshotIgnoreRule, error) {
	var in strings.Builder
	asked := map[string]string{}
	for _, p := range paths {
		name := p
		if strings.HasSuffix(p, "/") {
			name += "file" // git assumes that a missing path is a file
		}
		asked["./"+name] = p
		in.WriteString("./" + name + "\x00") // so that a leading colon has no special meaning
	}
	if len(asked) == 0 {
		return nil, nil
	}
	own := filepath.Join(t.s.git.Dir, git.UserIgnore)
	out, err := t.repoWithIndex("none").RunWithInput(ctx, strings.NewReader(in.String()),
		"-c", "core.excludesFile="+own, "check-ignore", "--no-index", "--verbose", "-z", "--stdin")
	if x, ok := errors.AsType[*git.ExitError](err); ok && x.Status == 1 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseCheckIgnore(out, own, asked), nil
}

// parseCheckIgnore parses the output of git check-ignore: for each path four fields, the file, the line,
// the pattern and the path.
func parseCheckIgnore(out, own string, asked map[string]string) map[string]SnapshotIgnoreRule {
	all := map[string]SnapshotIgnoreRule{}
	fields := strings.Split(out, "\x00")
	for ; len(fields) >= 4; fields = fields[4:] {
		r := SnapshotIgnoreRule{File: strings.TrimPrefix(fields[0], "./"), Pattern: fields[2]}
		r.Line, _ = strconv.Atoi(fields[1]) // 0 if there is no line
		if strings.HasPrefix(r.Pattern, "!") {
			continue // it includes the path again
		}
		switch {
		case r.File == own:
			r.File, r.Own = "core.excludesFile", true
		case filepath.IsAbs(r.File) || strings.HasPrefix(r.File, ".."):
			r.File, r.Own = ".git/info/exclude", true
		}
		if p, ok := asked[fields[3]]; ok {
			all[p] = r
		}
	}
	return all
}
