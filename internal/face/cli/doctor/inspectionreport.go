package doctor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Check is the result of one check.
type Check struct {
	Name   string     `json:"name"`
	State  CheckState `json:"state"`
	Detail string     `json:"detail"`
	Hint   string     `json:"hint,omitzero"`

	err    error  // why it blocks, with its code
	ask    string // question to a person who may start a run anyway; empty: nobody may
	chosen bool   // a person chose this state, and it need not stop a run
}

// CheckState is the severity of a check's result. The zero State blocks.
type CheckState string

// The states of a check.
const (
	Blocker CheckState = "blocker"
	Notice  CheckState = "notice" // a run works without it
	Fine    CheckState = "ok"
)

// checkOf returns a check that blocks when there is an error.
func checkOf(name, detail string, err error) Check {
	if err == nil {
		return Check{Name: name, State: Fine, Detail: detail}
	}
	c := Check{Name: name, State: Blocker, Detail: err.Error(), err: err}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		c.Hint = e.Hint
	}
	return c
}

// InspectionReport is the results of all checks, with their consequences.
type InspectionReport struct {
	OK      bool     `json:"ok"`
	Strict  bool     `json:"strict,omitzero"` // notices also block
	Light   bool     `json:"light,omitzero"`
	Skipped []string `json:"skipped,omitempty"`
	Checks  []Check  `json:"checks"`
}

// isBlocking reports whether a check prevents runs from starting.
func (r InspectionReport) isBlocking(c Check) bool {
	return c.State != Fine && (c.State != Notice || r.Strict && !c.chosen)
}

// Notices returns the notices: checks worth mentioning that prevent no run.
func (r InspectionReport) Notices() []Check {
	var all []Check
	for _, c := range r.Checks {
		if c.State == Notice && !r.isBlocking(c) {
			all = append(all, c)
		}
	}
	return all
}

// AskPerson asks a person about the checks that block a run unless a person agrees, and turns the
// agreed ones into notices. It asks nothing if another check blocks the run.
func (r InspectionReport) AskPerson(agrees func(c Check, question string) (bool, error)) error {
	for _, c := range r.Checks {
		if r.isBlocking(c) && c.ask == "" {
			return nil
		}
	}
	for i, c := range r.Checks {
		if c.State != Blocker || c.ask == "" {
			continue
		}
		yes, err := agrees(c, c.ask)
		if err != nil {
			return err
		}
		if yes {
			r.Checks[i].State, r.Checks[i].chosen = Notice, true
		}
	}
	return nil
}

// NoticeLines returns the notices as text.
func (r InspectionReport) NoticeLines() []string {
	var all []string
	for _, c := range r.Notices() {
		all = append(all, c.Name+": "+c.Detail)
	}
	return all
}

// BlockingError returns the error that prevents a run from starting. A single problem is its own error;
// several are counted and named, under the code of the first. A problem that a person may accept
// is named only if there is no other: see [InspectionReport.AskPerson].
func (r InspectionReport) BlockingError() error {
	var all, asked []Check
	for _, c := range r.Checks {
		switch {
		case !r.isBlocking(c):
		case c.ask != "":
			asked = append(asked, c)
		default:
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		all = asked
	}
	if len(all) == 0 {
		return nil
	}
	first := &nexus.Error{Code: nexus.CodeNotReady, Message: all[0].Name + ": " + all[0].Detail, Hint: all[0].Hint}
	if all[0].State == Notice {
		first.Hint = strings.TrimSpace(first.Hint + " Or leave --strict out.")
	}
	if e, ok := errors.AsType[*nexus.Error](all[0].err); ok {
		first = e
	}
	if len(all) == 1 {
		return first
	}
	var words []string
	for _, c := range all {
		words = append(words, c.Name+": "+c.Detail)
	}
	return &nexus.Error{
		Code: first.Code, Message: fmt.Sprintf("%d problems keep the run from starting: %s", len(all), strings.Join(words, "; ")),
		Hint: "nexus doctor shows how to fix each.",
	}
}

// Draw draws the results, with the next steps.
func (r InspectionReport) Draw(s view.OutputStyle) string {
	rows := make([][]string, 0, len(r.Checks))
	for _, c := range r.Checks {
		var sign string
		switch c.State {
		case Fine:
			sign = s.Good("ok")
		case Notice:
			sign = s.Warn("notice")
		default:
			sign = s.Bad("blocker")
		}
		row := []string{sign, c.Name, view.EscapeForTerminal(c.Detail)}
		if s.Plain {
			row = append(row, c.Hint)
		}
		rows = append(rows, row)
		if c.Hint != "" && !s.Plain {
			rows = append(rows, hintRows(s, c.Hint)...)
		}
	}
	return view.DrawTable(s, nil, rows)
}

// hintRows wraps a hint into rows of the last column.
func hintRows(s view.OutputStyle, text string) [][]string {
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
