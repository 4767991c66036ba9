package ratelimit

import (
	"fmt"
	"strings"
	"time"
)

// maxWindowLength is the maximum length of a window.
const maxWindowLength = 31 * 24 * time.Hour

// trackedLimitWindow is the known rest of one limit.
type trackedLimitWindow struct {
	name        string
	limit, left int64
	at, end     time.Time // time of the report, and of the end, when it is full again
	fill        windowRefillMode
	from        limitWindowReport // first report since it was full, or had more left
}

// limitWindowReport is a report about a window.
type limitWindowReport struct {
	left    int64
	at, end time.Time
}

// windowRefillMode is the way in which a window is refilled.
type windowRefillMode int

const (
	fillUnknown windowRefillMode = iota
	fillSteady                   // continuously
	fillAtEnd                    // completely at its end
)

// waitReasonFor returns the hold of a call with this need, while running calls may not be counted yet. A
// call that is larger than the window needs all of it.
func (w *trackedLimitWindow) waitReasonFor(takes, out int64, now time.Time) callWaitReason {
	if !now.Before(w.end) {
		if w.limit < 0 { // the limit is unknown
			return callWaitReason{}
		}
		w.left = w.limit
	}
	left := w.remainingNow(now)
	whole := w.limit >= 0 && left >= w.limit
	switch {
	case takes <= left-out, out == 0 && whole:
		return callWaitReason{}
	case takes <= left || whole:
		return callWaitReason{why: w.describeLeft(left)} // once the running calls are counted
	}
	return callWaitReason{w.timeOfEnough(takes), w.describeLeft(left), true}
}

// fillsSteadily reports whether the window is assumed to refill continuously: this was observed, or it is
// unknown and its end is too far away to wait for.
func (w *trackedLimitWindow) fillsSteadily() bool {
	return w.limit > w.left && (w.fill == fillSteady || w.fill == fillUnknown && w.end.Sub(w.at) > maxPatience)
}

// remainingNow returns the current rest.
func (w *trackedLimitWindow) remainingNow(now time.Time) int64 {
	if !w.fillsSteadily() {
		return w.left
	}
	part := min(float64(now.Sub(w.at))/float64(w.end.Sub(w.at)), 1)
	return w.left + int64(part*float64(w.limit-w.left)+1e-6)
}

// batchPart is the fraction of a continuously refilled window that calls wait for, so that they do not
// start one by one.
const batchPart = 4

// timeOfEnough returns the time when there is enough for a call: at the window's end, or earlier if it
// refills continuously.
func (w *trackedLimitWindow) timeOfEnough(takes int64) time.Time {
	if !w.fillsSteadily() {
		return w.end
	}
	if w.fill == fillSteady && w.end.Sub(w.at) <= maxPatience {
		takes = max(takes, w.limit/batchPart)
	}
	part := float64(min(takes, w.limit)-w.left) / float64(w.limit-w.left)
	return w.at.Add(time.Duration(part*float64(w.end.Sub(w.at))) + time.Millisecond)
}

// sameEndTolerance is the difference up to which two ends count as the same.
const sameEndTolerance = time.Second

// mergeReport updates the window from a later report. Responses overtake each other: a later end, or a
// smaller rest before the same end, is newer.
func (w *trackedLimitWindow) mergeReport(next trackedLimitWindow, now time.Time) {
	next.fill, next.from = w.fill, limitWindowReport{next.left, next.at, next.end}
	if !now.Before(w.end) {
		*w = next
		return
	}
	moved := next.end.Sub(w.end)
	if moved < -sameEndTolerance {
		return
	}
	if next.left <= w.from.left && next.limit == w.limit {
		next.from = w.from
		// If it refills continuously and its rest has not grown, its end has moved by the elapsed
		// time.
		if passed := next.at.Sub(w.from.at); passed > 3*sameEndTolerance {
			next.fill = fillAtEnd
			if next.end.Sub(w.from.end) > passed/2 {
				next.fill = fillSteady
			}
		}
	}
	if moved <= sameEndTolerance && next.left >= w.left && next.limit == w.limit {
		w.fill = next.fill
		return
	}
	*w = next
}

func (w *trackedLimitWindow) describeLeft(left int64) string {
	if w.limit < 0 {
		return fmt.Sprintf("%d %s are left", left, spaceDashes(w.name))
	}
	return fmt.Sprintf("%d of %d %s are left", left, w.limit, spaceDashes(w.name))
}

func spaceDashes(name string) string { return strings.ReplaceAll(name, "-", " ") }
