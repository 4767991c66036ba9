package worktree

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// aMoment is how long [Unmount] waits for those who make trees.
const aMoment = 200 * time.Millisecond

var errBusy = errors.New("trees are being made")

// Unmount takes away what processes that are gone left mounted of the trees of
// runs in a store's directory, where they would stay for good if nobody took
// the run up. The files stay, and are mounted again by who does. Gone names the
// runs whose process is certain to be dead; it is asked again while no tree can
// be made. Where somebody makes one for long, nothing is done.
func Unmount(ctx context.Context, dir string, gone func(context.Context) ([]nexus.RunID, error)) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // what is not there has no mounts
	}
	if left, err := leftover(ctx, dir, gone); err != nil || len(left) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, aMoment, errBusy)
	defer cancel()
	err = disk.Lock(ctx, filepath.Join(dir, locked), func(ctx context.Context) error {
		left, err := leftover(ctx, dir, gone)
		for _, at := range left {
			err = errors.Join(err, overlay.Unmount(at))
		}
		return err
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// leftover returns what is mounted of the trees of runs that are gone, deepest
// first.
func leftover(ctx context.Context, dir string, gone func(context.Context) ([]nexus.RunID, error)) ([]string, error) {
	trees := filepath.Join(dir, "trees")
	all, err := overlay.Below(trees)
	if err != nil || len(all) == 0 { // as a rule
		return nil, err
	}
	runs, err := gone(ctx)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(at string) bool {
		rest, _ := filepath.Rel(trees, at)
		run, _, _ := strings.Cut(rest, string(filepath.Separator))
		return !slices.Contains(runs, nexus.RunID(run))
	}), nil
}
