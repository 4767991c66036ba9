package improvecmd

import (
	"testing"
	"time"
)

// TestSchedule reads when cycles begin, as cron does: in the time of the place, with a
// day that matches by its date or its weekday where both are given.
func TestSchedule(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	friday := time.Date(2026, 11, 27, 12, 30, 15, 0, berlin)
	for watch, want := range map[string]string{
		"0 2 * * *":     "Sat 2026-11-28 02:00:00",
		"0 2 * * 1-5":   "Mon 2026-11-30 02:00:00",
		"*/20 * * * *":  "Fri 2026-11-27 12:40:00",
		"30 12 * * fri": "Fri 2026-12-04 12:30:00",
		"0 0 29 2 *":    "Tue 2028-02-29 00:00:00",
		"0 4 1 * sun":   "Sun 2026-11-29 04:00:00",
		"@daily":        "Sat 2026-11-28 00:00:00",
		"@every 90m":    "Fri 2026-11-27 14:00:15",
	} {
		next, err := parseSchedule(watch)
		if err != nil || next == nil {
			t.Errorf("%s: %v", watch, err)
			continue
		}
		if have := next(friday).Format("Mon 2006-01-02 15:04:05"); have != want {
			t.Errorf("%s is due at %s, want %s", watch, have, want)
		}
	}
	for _, event := range []string{"files", "commits", "gate"} {
		if next, err := parseSchedule(event); err != nil || next != nil {
			t.Errorf("%s is no time, and has %v", event, err)
		}
	}
	for _, wrong := range []string{"", "file", "2", "* * * *", "61 * * * *", "0 2 * * mon-", "@fortnightly", "@every", "@every -1s", "@every 10ms", "0 0 30 2 *"} {
		if _, err := parseSchedule(wrong); err == nil {
			t.Errorf("%q is taken for something to wait for", wrong)
		}
	}
}
