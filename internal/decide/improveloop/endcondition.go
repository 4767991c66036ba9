package improveloop

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// LoopEndCondition is the condition at which a loop ends. The zero value is never.
type LoopEndCondition struct {
	At       time.Time
	Landings int
	Empty    bool
}

// ParseEndCondition parses a time (2026-12-01, 2026-12-01 18:00, 18:00, or RFC 3339), a duration (90m,
// 7d), or a condition: "empty" for no more work, or landed:N. Times are in now's time zone.
func ParseEndCondition(text string, now time.Time) (LoopEndCondition, error) {
	text = strings.TrimSpace(text)
	if text == "empty" {
		return LoopEndCondition{Empty: true}, nil
	}
	if of, ok := strings.CutPrefix(text, "landed:"); ok {
		n, err := strconv.Atoi(of)
		if err != nil || n < 1 || n > 1_000_000 {
			return LoopEndCondition{}, fmt.Errorf("%q is not a number of results: write landed:5", of)
		}
		return LoopEndCondition{Landings: n}, nil
	}
	if d, ok := parseDuration(text); ok {
		if d <= 0 {
			return LoopEndCondition{}, fmt.Errorf("%s would end at once", text)
		}
		return LoopEndCondition{At: now.Add(d)}, nil
	}
	at, ok := parseTime(text, now)
	if !ok {
		return LoopEndCondition{}, fmt.Errorf("%q is not a time, duration or condition", text)
	}
	if !at.After(now) {
		return LoopEndCondition{}, fmt.Errorf("%s is over", text)
	}
	return LoopEndCondition{At: at}, nil
}

// parseDuration parses a duration, which may be in days.
func parseDuration(text string) (time.Duration, bool) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n <= 3650 {
			return time.Duration(n) * 24 * time.Hour, true
		}
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// parseTime parses a time; a time of day is the next one.
func parseTime(text string, now time.Time) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, true
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02T15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, true
		}
	}
	clock, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{}, false
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
	if !at.After(now) {
		at = time.Date(now.Year(), now.Month(), now.Day()+1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
	}
	return at, true
}
