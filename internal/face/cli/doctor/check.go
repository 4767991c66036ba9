package doctor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitzero"`

	err    error  // why it blocks, with its code
	ask    string // what a person is asked who may start a run all the same; empty: nobody may
	chosen bool   // somebody decided that it is so, and need not be kept from starting for it
}

// State says how bad it is. The zero State blocks.
type State string

// The states of a check.
const (
	Blocker State = "blocker"
	Notice  State = "notice" // a run works without
	Fine    State = "ok"
)

// checked returns a check that blocks when there is an error.
func checked(name, detail string, err error) Check {
	if err == nil {
		return Check{Name: name, State: Fine, Detail: detail}
	}
	c := Check{Name: name, State: Blocker, Detail: err.Error(), err: err}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		c.Hint = e.Hint
	}
	return c
}

// Report is what was looked at, and what follows.
type Report struct {
	OK      bool     `json:"ok"`
	Strict  bool     `json:"strict,omitzero"` // notices block, too
	Light   bool     `json:"light,omitzero"`
	Skipped []string `json:"skipped,omitempty"`
	Checks  []Check  `json:"checks"`
}

// blocks reports whether a check keeps runs from starting.
func (r Report) blocks(c Check) bool {
	return c.State != Fine && (c.State != Notice || r.Strict && !c.chosen)
}

// Notices returns what is worth a word and keeps no run from starting.
func (r Report) Notices() []Check {
	var all []Check
	for _, c := range r.Checks {
		if c.State == Notice && !r.blocks(c) {
			all = append(all, c)
		}
	}
	return all
}

// AskPerson asks a person about what keeps a run from starting unless a person agrees to start it
// all the same, and makes notices of what they agree to. Nobody is asked where something else keeps
// it from starting.
func (r Report) AskPerson(agrees func(c Check, question string) (bool, error)) error {
	for _, c := range r.Checks {
		if r.blocks(c) && c.ask == "" {
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

// Words returns the notices as words.
func (r Report) Words() []string {
	var all []string
	for _, c := range r.Notices() {
		all = append(all, c.Name+": "+c.Detail)
	}
	return all
}

// Err returns what keeps a run from starting. One thing is its own error;
// several are counted and named, under the code of the first. What a person may agree to
// is named where nothing else is left: see [Report.AskPerson].
func (r Report) Err() error {
	var all, asked []Check
	for _, c := range r.Checks {
		switch {
		case !r.blocks(c):
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

// Draw draws what was looked at, with what to do about it.
func (r Report) Draw(s view.Style) string {
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
