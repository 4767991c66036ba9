package llm

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Window is what the headers of an answer say of one of the account's limits.
type Window struct {
	Name  string // requests, tokens, input-tokens...
	Limit int64  // -1 where it is not said
	Left  int64
	Reset string // when all of it is there again: a time, or how long that takes
}

// Windows reads the headers with which Anthropic, OpenAI and most compatible
// servers say how much of the account's limits is left, in order of their names.
func Windows(h http.Header) []Window {
	var all []Window
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
		all = append(all, Window{Name: name, Limit: limit, Left: left, Reset: field("reset")})
	}
	slices.SortFunc(all, func(a, b Window) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Left, b.Left), strings.Compare(a.Reset, b.Reset))
	})
	return all
}

// whole reads a count, which nobody may have below zero.
func whole(text string) (int64, bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return n, err == nil && n >= 0
}

// usedUp reports whether one of the windows is used up, and when that one
// says that it ends.
func usedUp(all []Window) (reset string, empty bool) {
	for _, w := range all {
		if w.Left == 0 {
			return w.Reset, true
		}
	}
	return "", false
}

// stamp returns how long it is until a time that a header names, and false
// where it names none.
func stamp(text string, now time.Time) (time.Duration, bool) {
	for _, layout := range []string{time.RFC3339, http.TimeFormat} {
		if t, err := time.Parse(layout, text); err == nil {
			return max(t.Sub(now), 0), true
		}
	}
	return 0, false
}
