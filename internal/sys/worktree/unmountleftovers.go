package worktree

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// unmountLockWait is how long [UnmountLeftovers] waits for the end of tree creations.
const unmountLockWait = 200 * time.Millisecond

var errBusy = errors.New("trees are being made")

// UnmountLeftovers removes the leftover mounts of dead processes below a store's directory, which would
// remain forever if the run were not resumed. The files remain, and are mounted again when the run
// is resumed. The function gone returns the runs whose process is certain to be dead; it is called
// again while no tree can be made. If trees are being made for long, nothing is done.
func UnmountLeftovers(ctx context.Context, dir string, gone func(context.Context) ([]nexus.RunID, error)) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil // a missing directory has no mounts
	}
	if left, err := leftoverMounts(ctx, dir, gone); err != nil || len(left) == 0 {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, unmountLockWait, errBusy)
	defer cancel()
	err = filewrite.WithLock(ctx, filepath.Join(dir, treesLockFile), func(ctx context.Context) error {
		left, err := leftoverMounts(ctx, dir, gone)
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

// leftoverMounts returns the mounts of the trees of dead runs, deepest first.
func leftoverMounts(ctx context.Context, dir string, gone func(context.Context) ([]nexus.RunID, error)) ([]string, error) {
	trees := filepath.Join(dir, "trees")
	all, err := overlay.MountsBelow(trees)
	if err != nil || len(all) == 0 { // the usual case
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
