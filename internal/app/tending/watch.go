package tending

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lookAround is how often it is looked whether something happened that a loop waits for.
const lookAround = time.Second

// The things that a loop can wait for, besides a schedule.
const (
	WatchFiles   = "files"
	WatchCommits = "commits"
	WatchGate    = "gate"
)

// Watch wakes a loop when what it waits for happens, until the context ends. What cannot be
// looked at is looked at again.
func (h *Hands) Watch(ctx context.Context, kind, target string, woken chan<- string) {
	if kind != WatchFiles && kind != WatchCommits && kind != WatchGate {
		return
	}
	last, _ := h.mark(ctx, kind, target)
	beat := time.NewTicker(lookAround)
	defer beat.Stop()
	for {
		select {
		case <-beat.C:
		case <-ctx.Done():
			return
		}
		now, err := h.mark(ctx, kind, target)
		if err != nil || now == last {
			continue
		}
		last = now
		why := map[string]string{WatchFiles: "files changed", WatchCommits: "new commits on " + target}[kind]
		if kind == WatchGate {
			if why = h.failing(ctx, now); why == "" {
				continue
			}
		}
		select {
		case woken <- why:
		default: // it is told already
		}
	}
}

// failing says which gate fails on a commit.
func (h *Hands) failing(ctx context.Context, commit string) string {
	red, err := h.order.Judge(ctx, commit)
	if err != nil || len(red) == 0 {
		return ""
	}
	return fmt.Sprintf("%s fails on %.9s", strings.Join(red, ", "), commit)
}

// mark changes when what is waited for happens.
func (h *Hands) mark(ctx context.Context, kind, target string) (string, error) {
	tip, err := h.place.Repo.Resolve(ctx, "refs/heads/"+target)
	if err != nil || kind != WatchFiles || h.place.Repo.Work == "" {
		return tip, err
	}
	out, err := h.place.Repo.Run(ctx, "status", "--porcelain=v1", "-z", "--no-renames")
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%s\n%s\n", tip, out) // a hash takes all
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) < 4 {
			continue
		}
		if info, err := os.Lstat(filepath.Join(h.place.Repo.Work, filepath.FromSlash(entry[3:]))); err == nil {
			_, _ = fmt.Fprintf(sum, "%d %d\n", info.Size(), info.ModTime().UnixNano())
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
