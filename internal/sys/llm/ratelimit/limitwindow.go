package ratelimit

import (
	"fmt"
	"strings"
	"time"
)

// maxWindowLength is the maximum length of a window.
const maxWindowLength = 31 * 24 * time.Hour

// limitWindow is the known rest of one limit.
type limitWindow struct {
	name        string
	limit, left int64
	at, end     time.Time // time of the report, and of the end, when it is full again
	fill        fillMode
	from        windowMark // first report since it was full, or had more left
}

// windowMark is a report about a window.
type windowMark struct {
	left    int64
	at, end time.Time
}

// fillMode is the way in which a window is refilled.
type fillMode int

const (
	fillUnknown fillMode = iota
	fillSteady           // continuously
	fillAtEnd            // completely at its end
)

// waitReasonFor returns the hold of a call with this need, while running calls may not be counted yet. A
// call that is larger than the window needs all of it.
func (w *limitWindow) waitReasonFor(takes, out int64, now time.Time) waitReason {
	if !now.Before(w.end) {
		if w.limit < 0 { // the limit is unknown
			return waitReason{}
		}
		w.left = w.limit
	}
	left := w.leftNow(now)
	whole := w.limit >= 0 && left >= w.limit
	switch {
	case takes <= left-out, out == 0 && whole:
		return waitReason{}
	case takes <= left || whole:
		return waitReason{why: w.describeLeft(left)} // once the running calls are counted
	}
	return waitReason{w.enoughAt(takes), w.describeLeft(left), true}
}

// fillsSteadily reports whether the window is assumed to refill continuously: this was observed, or it is
// unknown and its end is too far away to wait for.
func (w *limitWindow) fillsSteadily() bool {
	return w.limit > w.left && (w.fill == fillSteady || w.fill == fillUnknown && w.end.Sub(w.at) > maxPatience)
}

// leftNow returns the current rest.
func (w *limitWindow) leftNow(now time.Time) int64 {
	if !w.fillsSteadily() {
		return w.left
	}
	part := min(float64(now.Sub(w.at))/float64(w.end.Sub(w.at)), 1)
	return w.left + int64(part*float64(w.limit-w.left)+1e-6)
}

// batchPart is the fraction of a continuously refilled window that calls wait for, so that they do not
// start one by one.
const batchPart = 4

// enoughAt returns the time when there is enough for a call: at the window's end, or earlier if it
// refills continuously.
func (w *limitWindow) enoughAt(takes int64) time.Time {
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
func (w *limitWindow) mergeReport(next limitWindow, now time.Time) {
	next.fill, next.from = w.fill, windowMark{next.left, next.at, next.end}
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

func (w *limitWindow) describeLeft(left int64) string {
	if w.limit < 0 {
		return fmt.Sprintf("%d %s are left", left, spaceDashes(w.name))
	}
	return fmt.Sprintf("%d of %d %s are left", left, w.limit, spaceDashes(w.name))
}

func spaceDashes(name string) string { return strings.ReplaceAll(name, "-", " ") }
