package improveloopworker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
)

// pollInterval is the interval of the checks for events that a loop waits for.
const pollInterval = time.Second

// The events that a loop can wait for, besides a schedule.
const (
	WatchFiles   = "files"
	WatchCommits = "commits"
	WatchGate    = "gate"
)

// Watch wakes a loop when an awaited event happens, until the context ends. The loop's own
// landings do not count. A failed check is repeated.
func (h *LocalLoopExecutor) Watch(ctx context.Context, kind string, l *improveloop.ImproveLoop, woken chan<- string) {
	if kind != WatchFiles && kind != WatchCommits && kind != WatchGate {
		return
	}
	last, _ := h.currentBranchState(ctx, kind, l.Target)
	beat := time.NewTicker(pollInterval)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
		now, err := h.currentBranchState(ctx, kind, l.Target)
		if err != nil || now == last {
			continue
		}
		news := now.files != last.files || !h.hasOnlyOwnCommits(ctx, last.tip, now.tip, l)
		if last = now; !news {
			continue
		}
		why := map[string]string{WatchFiles: "files changed", WatchCommits: "new commits on " + l.Target}[kind]
		if kind == WatchGate {
			if why = h.failingGate(ctx, now.tip); why == "" {
				continue
			}
		}
		select {
		case woken <- why:
		default: // a wake-up is pending already
		}
	}
}

// hasOnlyOwnCommits reports whether a loop made all new commits of a branch.
func (h *LocalLoopExecutor) hasOnlyOwnCommits(ctx context.Context, since, tip string, l *improveloop.ImproveLoop) bool {
	if since == "" {
		return false
	}
	theirs, err := h.logNonLoopCommits(ctx, since, tip, l)
	return err == nil && len(theirs) == 0
}

// failingGate returns the gate that fails on a commit.
func (h *LocalLoopExecutor) failingGate(ctx context.Context, commit string) string {
	red, err := h.order.Judge(ctx, commit)
	if err != nil || len(red) == 0 {
		return ""
	}
	return fmt.Sprintf("%s fails on %.9s", strings.Join(red, ", "), commit)
}

// watchedBranchState is the state that is compared to detect events.
type watchedBranchState struct {
	tip   string // commit that a branch is at
	files string // hash of the files that are not committed
}

// currentBranchState returns the present state.
func (h *LocalLoopExecutor) currentBranchState(ctx context.Context, kind, target string) (watchedBranchState, error) {
	tip, err := h.place.Repo.Resolve(ctx, "refs/heads/"+target)
	if err != nil || kind != WatchFiles || h.place.Repo.Work == "" {
		return watchedBranchState{tip: tip}, err
	}
	out, err := h.place.Repo.Run(ctx, "status", "--porcelain=v1", "-z", "--no-renames")
	if err != nil {
		return watchedBranchState{}, err
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%s\n", out) // a hash accepts all
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) < 4 {
			continue
		}
		if info, err := os.Lstat(filepath.Join(h.place.Repo.Work, filepath.FromSlash(entry[3:]))); err == nil {
			_, _ = fmt.Fprintf(sum, "%d %d\n", info.Size(), info.ModTime().UnixNano())
		}
	}
	return watchedBranchState{tip, hex.EncodeToString(sum.Sum(nil))}, nil
}
