package ratelimit

import (
	"fmt"
	"strings"
	"time"
)

// longest is the maximum length of a window.
const longest = 31 * 24 * time.Hour

// window is the known rest of one limit.
type window struct {
	name        string
	limit, left int64
	at, end     time.Time // time of the report, and of the end, when it is full again
	fill        fill
	from        mark // first report since it was full, or had more left
}

// mark is a report about a window.
type mark struct {
	left    int64
	at, end time.Time
}

// fill is the way in which a window is refilled.
type fill int

const (
	unknown fill = iota
	steady       // continuously
	atEnd        // completely at its end
)

// holds returns the hold of a call with this need, while running calls may not be counted yet. A
// call that is larger than the window needs all of it.
func (w *window) holds(takes, out int64, now time.Time) hold {
	if !now.Before(w.end) {
		if w.limit < 0 { // the limit is unknown
			return hold{}
		}
		w.left = w.limit
	}
	left := w.now(now)
	whole := w.limit >= 0 && left >= w.limit
	switch {
	case takes <= left-out, out == 0 && whole:
		return hold{}
	case takes <= left || whole:
		return hold{why: w.about(left)} // once the running calls are counted
	}
	return hold{w.until(takes), w.about(left), true}
}

// fills reports whether the window is assumed to refill continuously: this was observed, or it is
// unknown and its end is too far away to wait for.
func (w *window) fills() bool {
	return w.limit > w.left && (w.fill == steady || w.fill == unknown && w.end.Sub(w.at) > patience)
}

// now returns the current rest.
func (w *window) now(now time.Time) int64 {
	if !w.fills() {
		return w.left
	}
	part := min(float64(now.Sub(w.at))/float64(w.end.Sub(w.at)), 1)
	return w.left + int64(part*float64(w.limit-w.left)+1e-6)
}

// batch is the fraction of a continuously refilled window that calls wait for, so that they do not
// start one by one.
const batch = 4

// until returns the time when there is enough for a call: at the window's end, or earlier if it
// refills continuously.
func (w *window) until(takes int64) time.Time {
	if !w.fills() {
		return w.end
	}
	if w.fill == steady && w.end.Sub(w.at) <= patience {
		takes = max(takes, w.limit/batch)
	}
	part := float64(min(takes, w.limit)-w.left) / float64(w.limit-w.left)
	return w.at.Add(time.Duration(part*float64(w.end.Sub(w.at))) + time.Millisecond)
}

// same is the difference up to which two ends count as the same.
const same = time.Second

// follow updates the window from a later report. Responses overtake each other: a later end, or a
// smaller rest before the same end, is newer.
func (w *window) follow(next window, now time.Time) {
	next.fill, next.from = w.fill, mark{next.left, next.at, next.end}
	if !now.Before(w.end) {
		*w = next
		return
	}
	moved := next.end.Sub(w.end)
	if moved < -same {
		return
	}
	if next.left <= w.from.left && next.limit == w.limit {
		next.from = w.from
		// If it refills continuously and its rest has not grown, its end has moved by the elapsed
		// time.
		if passed := next.at.Sub(w.from.at); passed > 3*same {
			next.fill = atEnd
			if next.end.Sub(w.from.end) > passed/2 {
				next.fill = steady
			}
		}
	}
	if moved <= same && next.left >= w.left && next.limit == w.limit {
		w.fill = next.fill
		return
	}
	*w = next
}

func (w *window) about(left int64) string {
	if w.limit < 0 {
		return fmt.Sprintf("%d %s are left", left, spaced(w.name))
	}
	return fmt.Sprintf("%d of %d %s are left", left, w.limit, spaced(w.name))
}

func spaced(name string) string { return strings.ReplaceAll(name, "-", " ") }
