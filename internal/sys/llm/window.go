package llm

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Window is what the headers of an answer say about one of the account's limits.
type Window struct {
	Name  string // requests, tokens, input-tokens...
	Limit int64  // -1 where it is not said
	Left  int64
	Reset string    // when all of it is there again: a time, or how long that takes
	Sent  time.Time // when that was, by the provider's clock; zero where it is not said
}

// Wait returns how long it is until all of the window is there again, and
// false where nobody said. A time is seen from the provider's own clock.
func (w Window) Wait(now time.Time) (time.Duration, bool) {
	if n, err := strconv.ParseFloat(w.Reset, 64); err == nil && (n >= 1e9 && n < 9e9 || n >= 1e12 && n < 9e12) { // since 1970, in seconds or a thousand times as many
		if n >= 1e12 {
			n /= 1000
		}
		return max(time.Unix(0, int64(n*1e9)).Sub(cmp.Or(w.Sent, now)), 0), true
	}
	return span(w.Reset, cmp.Or(w.Sent, now))
}

type listener struct{}

// Listen returns a context for calls: when a response to one of them begins,
// whatever becomes of it, told gets its status and what its headers say about the
// account's limits.
func Listen(ctx context.Context, told func(status int, all []Window)) context.Context {
	return context.WithValue(ctx, listener{}, told)
}

// ReportHeaders tells who listens what a response says, before its body is read. The
// providers' rooms call it for each.
func ReportHeaders(ctx context.Context, status int, h http.Header) {
	if told, ok := ctx.Value(listener{}).(func(int, []Window)); ok {
		told(status, Windows(h))
	}
}

// Windows reads the headers with which Anthropic, OpenAI and most compatible
// servers say how much of the account's limits is left, in order of their names.
func Windows(h http.Header) []Window {
	var all []Window
	sent, _ := http.ParseTime(h.Get("Date")) // zero where it is none
	for key, values := range h {
		key = strings.ToLower(key)
		var name string
		var field func(what string) string
		if rest, ok := strings.CutPrefix(key, "anthropic-ratelimit-"); ok {
			name, ok = strings.CutSuffix(rest, "-remaining")
			if !ok {
				continue
			}
			field = func(what string) string { return h.Get("anthropic-ratelimit-" + name + "-" + what) }
		} else if name, ok = strings.CutPrefix(key, "x-ratelimit-remaining-"); ok {
			field = func(what string) string { return h.Get("x-ratelimit-" + what + "-" + name) }
		} else if key == "x-ratelimit-remaining" { // OpenRouter and others
			name = "requests"
			field = func(what string) string { return h.Get("x-ratelimit-" + what) }
		} else {
			continue
		}
		left, ok := whole(strings.Join(values, ","))
		if !ok || name == "" {
			continue
		}
		limit, ok := whole(field("limit"))
		if !ok {
			limit = -1
		}
		all = append(all, Window{Name: name, Limit: limit, Left: left, Reset: field("reset"), Sent: sent})
	}
	slices.SortStableFunc(all, func(a, b Window) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Left, b.Left), strings.Compare(a.Reset, b.Reset))
	})
	return all
}

// whole reads a count, which nobody may have below zero.
func whole(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n >= 0
}

// usedUp reports whether one of the windows is used up, and when the last of
// those says that it ends.
func usedUp(all []Window) (reset string, empty bool) {
	longest := time.Duration(-1)
	for _, w := range all {
		if w.Left > 0 {
			continue
		}
		empty = true
		if wait, ok := w.Wait(time.Time{}); ok && wait > longest {
			longest, reset = wait, w.Reset
		}
	}
	return reset, empty
}

// span reads seconds, a duration such as "34s", and a time seen from now. It
// reports false for anything else.
func span(text string, now time.Time) (time.Duration, bool) {
	if s, ok := seconds(text); ok {
		return time.Duration(s * float64(time.Second)), true
	}
	if d, err := time.ParseDuration(text); err == nil {
		return max(d, 0), true
	}
	return stamp(text, now)
}

// stamp returns how long it is until a time that a header names, and false
// where it names none.
func stamp(text string, now time.Time) (time.Duration, bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = http.ParseTime(text) // in any of its three forms
	}
	if err != nil {
		return 0, false
	}
	return max(t.Sub(now), 0), true
}
