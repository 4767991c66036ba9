package ratelimit

import (
	"fmt"
	"strings"
	"time"
)

// longest is how long a window may be.
const longest = 31 * 24 * time.Hour

// window is what is left of one of the limits.
type window struct {
	name        string
	limit, left int64
	at, end     time.Time // when that was told, and when all of it is there again
	fill        fill
	from        mark // what was told first since it was full, or had more
}

// mark is something that was told about a window.
type mark struct {
	left    int64
	at, end time.Time
}

// fill is how a window fills up.
type fill int

const (
	unknown fill = iota
	steady       // a little all the time
	atEnd        // all at once
)

// holds returns what keeps a call that takes so much while calls under way may
// not be counted yet. A call that is larger than the window needs all of it.
func (w *window) holds(takes, out int64, now time.Time) hold {
	if !now.Before(w.end) {
		if w.limit < 0 { // nobody knows how much there is
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
		return hold{why: w.about(left)} // once those under way are counted
	}
	return hold{w.until(takes), w.about(left), true}
}

// fills reports whether the window is taken to fill up steadily: it was seen
// to, or nobody knows, and its end is too far to wait for.
func (w *window) fills() bool {
	return w.limit > w.left && (w.fill == steady || w.fill == unknown && w.end.Sub(w.at) > patience)
}

// now returns what is left by now.
func (w *window) now(now time.Time) int64 {
	if !w.fills() {
		return w.left
	}
	part := min(float64(now.Sub(w.at))/float64(w.end.Sub(w.at)), 1)
	return w.left + int64(part*float64(w.limit-w.left)+1e-6)
}

// batch is the part of a window that calls wait for where it fills up
// steadily, so that they do not come one by one.
const batch = 4

// until returns when there is enough for a call: at the window's end, or
// before where it fills up steadily.
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

// same is how much two ends may differ that mean the same.
const same = time.Second

// follow takes in what was told later. Answers overtake each other: the
// later an end, and the less is left before the same one, the newer it is.
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
		// If it fills up steadily and has no more than then, its end has moved by the time that passed.
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
