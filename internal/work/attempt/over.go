package attempt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/layer"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// over returns the directory of a layer that the commands of a role write to
// which may not write all of the tree, and what takes over from it. Where the
// sandbox has no layers the directory is empty: commands write to the tree, and
// what is against the rule is taken back.
func (s *Shop) over(ctx context.Context, t Talk, rule func(string) error) (dir string, undo func(context.Context) ([]string, error), err error) {
	undo = func(ctx context.Context) ([]string, error) { return s.undo(ctx, t, rule) }
	dir = filepath.Join(filepath.Dir(t.Tree.Dir), "over")
	for _, d := range []string{dir, dir + tool.Beside} {
		if err := os.RemoveAll(d); err != nil { // of an earlier session
			return "", nil, err
		}
		if err := layer.Make(d); err != nil {
			return "", nil, err
		}
	}
	if !s.Box.Layers(ctx, t.Tree.Dir, dir) {
		return "", undo, errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+tool.Beside))
	}
	var last time.Time
	return dir, func(ctx context.Context) ([]string, error) {
		began := s.Now()
		files, err := takeOver(ctx, t, dir, last, rule)
		last = began
		return files, err
	}, nil
}

// takeOver brings into the tree what commands wrote and the rule allows, and
// returns what is left of it: files that git ignores stay in the layer, for the
// next command.
func takeOver(ctx context.Context, t Talk, dir string, last time.Time, rule func(string) error) ([]string, error) {
	root, err := os.OpenRoot(t.Tree.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	may := func(name string) bool { return rule(name) == nil }
	jobs := layer.Layer{Dir: dir + tool.Beside, Tree: root}
	beside, err := jobs.Take(last, may) // it may be in use: nothing is cleared
	if err != nil {
		return nil, err
	}
	l := layer.Layer{Dir: dir, Tree: root}
	left, err := l.Take(time.Time{}, may)
	if err != nil {
		return nil, err
	}
	left = append(left, beside...)
	if len(left) == 0 {
		return nil, l.Clear(nil)
	}
	ignored, err := t.Tree.Ignored(ctx, left)
	if err != nil {
		return nil, err
	}
	keep := slices.DeleteFunc(slices.Clone(left), func(f string) bool { return !ignored[f] })
	left = slices.DeleteFunc(left, func(f string) bool { return ignored[f] })
	slices.Sort(left)
	return slices.Compact(left), l.Clear(keep)
}
