package flaky

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// QuarantineFile is the path of the record, from the root of the repository.
const QuarantineFile = ".nexus/quarantine.toml"

// MaxDays limits the days of a quarantine until somebody must give the reason again.
const MaxDays = 90

// Limits of the record.
const (
	maxBytes   = 256 << 10
	maxEntries = 500
	maxText    = 1000
)

// QuarantineEntry is a test in quarantine.
type QuarantineEntry struct {
	Test   string        `json:"test"`           // name of the test in findings
	Gate   string        `json:"gate,omitzero"`  // gate of the test; empty: any gate
	Reason string        `json:"reason"`         // why its failure does not count
	Since  QuarantineDay `json:"since"`          // the first day
	Until  QuarantineDay `json:"until"`          // the last day
	Owner  string        `json:"owner,omitzero"` // person who fixes it
	Issue  string        `json:"issue,omitzero"` // where its fix is tracked
}

// QuarantineList is a record, in the order of its file. The zero value is empty.
type QuarantineList []QuarantineEntry

// QuarantineDay is a day, at midnight UTC.
type QuarantineDay struct{ time.Time }

// DayOf returns the day of a time.
func DayOf(t time.Time) QuarantineDay { return QuarantineDay{t.UTC().Truncate(24 * time.Hour)} }

// String formats the day as 2006-01-02.
func (d QuarantineDay) String() string { return d.Format(time.DateOnly) }

// UnmarshalText parses the output of [QuarantineDay.String].
func (d *QuarantineDay) UnmarshalText(text []byte) error {
	t, err := time.Parse(time.DateOnly, string(text))
	*d = QuarantineDay{t}
	return err
}

// MarshalJSON encodes the day as text; the embedded time would add hours.
func (d QuarantineDay) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON decodes the output of [QuarantineDay.MarshalJSON].
func (d *QuarantineDay) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return d.UnmarshalText([]byte(text))
}

// AddDays returns the day that is the given number of days later.
func (d QuarantineDay) AddDays(days int) QuarantineDay { return QuarantineDay{d.AddDate(0, 0, days)} }

// IsActive reports whether an entry is valid on a day.
func (e QuarantineEntry) IsActive(day QuarantineDay) bool {
	return !day.Before(e.Since.Time) && !day.After(e.Until.Time)
}

// IsExpired reports whether an entry has expired.
func (e QuarantineEntry) IsExpired(day QuarantineDay) bool { return day.After(e.Until.Time) }

// NoteText returns a short reason for a test's quarantine.
func (e QuarantineEntry) NoteText() string {
	text := fmt.Sprintf("until %s: %s", e.Until, e.Reason)
	if more := strings.TrimPrefix(strings.TrimSuffix(e.Owner+", "+e.Issue, ", "), ", "); more != "" {
		text += " (" + more + ")"
	}
	return text
}

// EntryFor returns the entry for a gate's test, active or not. An entry for a Go test also applies
// to its subtests. An entry that is active on the day is preferred to one that is not.
func (l QuarantineList) EntryFor(gate, test string, day QuarantineDay) (QuarantineEntry, bool) {
	var found QuarantineEntry
	ok := false
	for _, e := range l {
		if test == "" || e.Gate != "" && e.Gate != gate || e.Test != test && !strings.HasPrefix(test, e.Test+"/") {
			continue
		}
		if !ok || e.IsActive(day) && !found.IsActive(day) {
			found, ok = e, true
		}
	}
	return found, ok
}

// quarantineFileEntry is an entry in the file: a day may be a date or a string.
type quarantineFileEntry struct {
	Test   string `toml:"test"`
	Gate   string `toml:"gate"`
	Reason string `toml:"reason"`
	Since  any    `toml:"since"`
	Until  any    `toml:"until"`
	Owner  string `toml:"owner"`
	Issue  string `toml:"issue"`
}

// ParseQuarantine parses a record. It is strict: an entry that it does not understand is not
// applied, and is an error with its position.
func ParseQuarantine(data []byte) (QuarantineList, error) {
	if len(data) > maxBytes {
		return nil, fileError(fmt.Sprintf("it has %d bytes, more than %d", len(data), maxBytes))
	}
	var file struct {
		Test []quarantineFileEntry `toml:"test"`
	}
	d := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fileError(parseErrorText(err))
	}
	if len(file.Test) > maxEntries {
		return nil, fileError(fmt.Sprintf("it has %d entries, more than %d", len(file.Test), maxEntries))
	}
	var all QuarantineList
	for i, w := range file.Test {
		e, err := w.toEntry()
		if err == nil {
			err = e.Check()
		}
		if err != nil {
			return nil, fileError(fmt.Sprintf("entry %d (%s): %s", i+1, cmp.Or(truncateText(w.Test), "no test"), err))
		}
		if slices.ContainsFunc(all, func(o QuarantineEntry) bool { return o.Test == e.Test && o.Gate == e.Gate }) {
			return nil, fileError(fmt.Sprintf("entry %d: %s already has an entry", i+1, truncateText(e.Test)))
		}
		all = append(all, e)
	}
	return all, nil
}

func fileError(why string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidConfig, Message: QuarantineFile + ": " + why,
		Hint: "Each entry is a table [[test]] with test, reason, since and until, and may have gate, owner and issue; until is at most 90 days after since.",
	}
}

// parseErrorText returns the problem in a text, and its position.
func parseErrorText(err error) string {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		row, _ := unknown.Errors[0].Position()
		return fmt.Sprintf("line %d: unknown key %s", row, truncateText(strings.Join(unknown.Errors[0].Key(), ".")))
	}
	var broken *toml.DecodeError
	if errors.As(err, &broken) {
		row, column := broken.Position()
		return fmt.Sprintf("line %d, column %d: %s", row, column, strings.TrimPrefix(broken.Error(), "toml: "))
	}
	return strings.TrimPrefix(err.Error(), "toml: ")
}

func (w quarantineFileEntry) toEntry() (QuarantineEntry, error) {
	e := QuarantineEntry{Test: w.Test, Gate: w.Gate, Reason: strings.TrimSpace(w.Reason), Owner: w.Owner, Issue: w.Issue}
	for _, x := range []struct {
		name string
		from any
		to   *QuarantineDay
	}{{"since", w.Since, &e.Since}, {"until", w.Until, &e.Until}} {
		var text string
		switch v := x.from.(type) {
		case nil:
			return e, fmt.Errorf("it has no %s", x.name)
		case string:
			text = v
		case toml.LocalDate:
			text = v.String()
		default:
			return e, fmt.Errorf("%s is not a date", x.name)
		}
		if x.to.UnmarshalText([]byte(text)) != nil {
			return e, fmt.Errorf("%s is not a date: write 2006-01-02, not %q", x.name, truncateText(text))
		}
	}
	return e, nil
}

// Check returns the problem with an entry.
func (e QuarantineEntry) Check() error {
	for _, x := range []struct{ name, text string }{{"test", e.Test}, {"gate", e.Gate}, {"reason", e.Reason}, {"owner", e.Owner}, {"issue", e.Issue}} {
		switch {
		case x.text == "" && (x.name == "test" || x.name == "reason"):
			return fmt.Errorf("it has no %s", x.name)
		case len(x.text) > maxText:
			return fmt.Errorf("its %s is longer than %d bytes", x.name, maxText)
		case !utf8.ValidString(x.text) || strings.ContainsFunc(x.text, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 }):
			return fmt.Errorf("its %s has invisible characters", x.name)
		}
	}
	switch {
	case strings.TrimSpace(e.Test) != e.Test || e.Test == "*":
		return fmt.Errorf("%q is not the name of a test: one entry is one test", truncateText(e.Test))
	case e.Since.IsZero() || e.Until.IsZero():
		return errors.New("it has no since and until")
	case e.Until.Before(e.Since.Time):
		return fmt.Errorf("it ends on %s, before it starts on %s", e.Until, e.Since)
	case e.Until.After(e.Since.AddDate(0, 0, MaxDays)):
		return fmt.Errorf("it lasts from %s until %s, more than %d days", e.Since, e.Until, MaxDays)
	}
	return nil
}

func truncateText(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "..."
	}
	return s
}
