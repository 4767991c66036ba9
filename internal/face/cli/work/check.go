package work

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

// check is one thing that was looked at.
type check struct {
	Name   string     `json:"name"`
	State  checkState `json:"state"`
	Detail string     `json:"detail"`
	Hint   string     `json:"hint,omitzero"`
}

// checkState says how bad it is. The zero checkState blocks.
type checkState string

// The states of a check.
const (
	blocker checkState = "blocker"
	notice  checkState = "notice" // a run works without
	fine    checkState = "ok"
)

// blocked reports whether a check keeps runs from starting.
func blocked(all []check) bool {
	for _, c := range all {
		if c.State != fine && c.State != notice {
			return true
		}
	}
	return false
}

// drawChecks draws what was looked at, with what to do about it.
func drawChecks(s view.Style, all []check) string {
	rows := make([][]string, 0, len(all))
	for _, c := range all {
		var sign string
		switch c.State {
		case fine:
			sign = s.Good("ok")
		case notice:
			sign = s.Warn("notice")
		default:
			sign = s.Bad("blocker")
		}
		row := []string{sign, c.Name, view.Clean(c.Detail)}
		if s.Plain {
			row = append(row, c.Hint)
		}
		rows = append(rows, row)
		if c.Hint != "" && !s.Plain {
			rows = append(rows, hint(s, c.Hint)...)
		}
	}
	return view.Table(s, nil, rows)
}

// hint wraps a hint into rows of the last column.
func hint(s view.Style, text string) [][]string {
	var rows [][]string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && s.Width > 0 && len(line)+len(word)+26 > s.Width {
			rows = append(rows, []string{"", "", s.Dim(line)})
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(rows, []string{"", "", s.Dim(line)})
}
