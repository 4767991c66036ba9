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

// AccountLimitWindow is the state of one of the account's limits, from the headers of a response.
type AccountLimitWindow struct {
	Name  string // requests, tokens, input-tokens...
	Limit int64  // -1 if unknown
	Left  int64
	Reset string    // when it is full again: a time or a duration
	Sent  time.Time // time of the response, by the provider's clock; zero if unknown
}

// UntilReset returns the time until the window is full again, and false if unknown. A time is relative
// to the provider's own clock.
func (w AccountLimitWindow) UntilReset(now time.Time) (time.Duration, bool) {
	if n, err := strconv.ParseFloat(w.Reset, 64); err == nil && (n >= 1e9 && n < 9e9 || n >= 1e12 && n < 9e12) { // Unix time, in seconds or milliseconds
		if n >= 1e12 {
			n /= 1000
		}
		return max(time.Unix(0, int64(n*1e9)).Sub(cmp.Or(w.Sent, now)), 0), true
	}
	return parseWait(w.Reset, cmp.Or(w.Sent, now))
}

type headerListenerKey struct{}

// WithHeaderListener returns a context for calls: when a response to one of them begins, told is called with
// its status and the windows in its headers, whatever the result of the call.
func WithHeaderListener(ctx context.Context, told func(status int, all []AccountLimitWindow)) context.Context {
	return context.WithValue(ctx, headerListenerKey{}, told)
}

// ReportHeaders calls the function of [WithHeaderListener] with the headers of a response, before its body is
// read. The provider packages call it for each response.
func ReportHeaders(ctx context.Context, status int, h http.Header) {
	if told, ok := ctx.Value(headerListenerKey{}).(func(int, []AccountLimitWindow)); ok {
		told(status, ParseLimitWindows(h))
	}
}

// ParseLimitWindows parses the headers with which Anthropic, OpenAI and most compatible servers report the
// rest of the account's limits, sorted by name.
func ParseLimitWindows(h http.Header) []AccountLimitWindow {
	var all []AccountLimitWindow
	sent, _ := http.ParseTime(h.Get("Date")) // zero without one
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
		left, ok := parseCount(strings.Join(values, ","))
		if !ok || name == "" {
			continue
		}
		limit, ok := parseCount(field("limit"))
		if !ok {
			limit = -1
		}
		all = append(all, AccountLimitWindow{Name: name, Limit: limit, Left: left, Reset: field("reset"), Sent: sent})
	}
	slices.SortStableFunc(all, func(a, b AccountLimitWindow) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Left, b.Left), strings.Compare(a.Reset, b.Reset))
	})
	return all
}

// parseCount parses a non-negative count.
func parseCount(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n >= 0
}

// exhaustedWindow reports whether one of the windows is used up, and the latest end of those.
func exhaustedWindow(all []AccountLimitWindow) (reset string, empty bool) {
	longest := time.Duration(-1)
	for _, w := range all {
		if w.Left > 0 {
			continue
		}
		empty = true
		if wait, ok := w.UntilReset(time.Time{}); ok && wait > longest {
			longest, reset = wait, w.Reset
		}
	}
	return reset, empty
}

// parseWait parses seconds, a duration such as "34s", or a time relative to now. It returns false for
// other texts.
func parseWait(text string, now time.Time) (time.Duration, bool) {
	if s, ok := parseSeconds(text); ok {
		return time.Duration(s * float64(time.Second)), true
	}
	if d, err := time.ParseDuration(text); err == nil {
		return max(d, 0), true
	}
	return parseTimeUntil(text, now)
}

// parseTimeUntil returns the time until a date in a header, and false if it has none.
func parseTimeUntil(text string, now time.Time) (time.Duration, bool) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = http.ParseTime(text) // in any of its three forms
	}
	if err != nil {
		return 0, false
	}
	return max(t.Sub(now), 0), true
}
