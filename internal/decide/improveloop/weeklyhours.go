package improveloop

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// WeeklyHours are hours of a week, in the time zone of the time that is compared. The zero Hours
// are empty.
type WeeklyHours struct{ all []hourSpan }

// hourSpan starts on some days and ends on the same or the next day.
type hourSpan struct {
	// minutes since midnight; to is greater than from, and greater than a day's minutes if it
	// ends on the next day
	from, to int
	days     [7]bool
}

const dayMinutes = 24 * 60

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} //nolint:gochecknoglobals // never written

// ParseWeeklyHours parses hours such as "09:00-18:00 Mon-Fri; 22:00-06:00 Sat,Sun". Without days
// they apply to every day; hours that end before they start end on the next day.
func ParseWeeklyHours(text string) (WeeklyHours, error) {
	var h WeeklyHours
	if strings.TrimSpace(text) == "" {
		return h, nil
	}
	for part := range strings.SplitSeq(text, ";") {
		words := strings.Fields(part)
		if len(words) == 0 || len(words) > 2 {
			return WeeklyHours{}, fmt.Errorf("%q is not of the form 09:00-18:00 Mon-Fri", strings.TrimSpace(part))
		}
		from, to, ok := strings.Cut(words[0], "-")
		if !ok {
			return WeeklyHours{}, fmt.Errorf("%q is not of the form 09:00-18:00", words[0])
		}
		var s hourSpan
		var err error
		if s.from, err = parseTimeOfDay(from); err != nil {
			return WeeklyHours{}, err
		}
		if s.to, err = parseTimeOfDay(to); err != nil {
			return WeeklyHours{}, err
		}
		switch {
		case s.from == dayMinutes:
			return WeeklyHours{}, fmt.Errorf("nothing can start at %s", from)
		case s.from == s.to:
			return WeeklyHours{}, fmt.Errorf("%q has no length", words[0])
		case s.to < s.from:
			s.to += dayMinutes
		}
		days := "mon-sun"
		if len(words) == 2 {
			days = words[1]
		}
		if s.days, err = parseDays(days); err != nil {
			return WeeklyHours{}, err
		}
		h.all = append(h.all, s)
	}
	return h, nil
}

// parseTimeOfDay parses a time of day.
func parseTimeOfDay(text string) (int, error) {
	hour, minute, ok := strings.Cut(text, ":")
	h, err := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	n := h*60 + m
	if !ok || err != nil || err2 != nil || len(hour) != 2 || len(minute) != 2 || h < 0 || m < 0 || m > 59 || n > dayMinutes {
		return 0, fmt.Errorf("%q is not a time of day: write 09:00", text)
	}
	return n, nil
}

// parseDays parses days such as Mon-Fri,Sun.
func parseDays(text string) (days [7]bool, err error) {
	for part := range strings.SplitSeq(strings.ToLower(text), ",") {
		first, last, ranged := strings.Cut(part, "-")
		if !ranged {
			last = first
		}
		from, to := slices.Index(weekdays, first), slices.Index(weekdays, last)
		if from < 0 || to < 0 {
			return days, fmt.Errorf("%q is not a day: write Mon, Tue, Wed, Thu, Fri, Sat or Sun", part)
		}
		for d := from; ; d = (d + 1) % 7 {
			days[d] = true
			if d == to {
				break
			}
		}
	}
	return days, nil
}

// EndOfCurrentHours reports whether a time is within the hours, and when they end.
func (h WeeklyHours) EndOfCurrentHours(now time.Time) (time.Time, bool) {
	end := now
	for range 8 * (len(h.all) + 1) {
		next, ok := h.endWithin(end)
		if !ok {
			break
		}
		end = next
		if end.Sub(now) > 8*24*time.Hour {
			break // the whole week: they never end
		}
	}
	return end, end.After(now)
}

// endWithin returns the end of the hours that contain a time. The zone's clock may change in
// between.
func (h WeeklyHours) endWithin(at time.Time) (time.Time, bool) {
	var end time.Time
	for _, s := range h.all {
		for back := range 2 {
			day := time.Date(at.Year(), at.Month(), at.Day()-back, 12, 0, 0, 0, at.Location())
			if !s.days[day.Weekday()] {
				continue
			}
			from, to := clockTime(day, s.from), clockTime(day, s.to)
			if !at.Before(from) && at.Before(to) && to.After(end) {
				end = to
			}
		}
	}
	return end, !end.IsZero()
}

// clockTime returns the time at which the clocks of a day's zone show the given minutes since
// midnight.
func clockTime(day time.Time, minutes int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day()+minutes/dayMinutes, minutes/60%24, minutes%60, 0, 0, day.Location())
}
