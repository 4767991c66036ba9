package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// terminalFile returns the file behind w if it is an interactive terminal.
func (a *Console) terminalFile(w io.Writer) (*os.File, bool) {
	f, ok := w.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd())) && a.Env("TERM") != "dumb"
}

// HasPerson reports whether there is a person at the terminal who can be asked.
func (a *Console) HasPerson() bool {
	if a.HasPlayedPerson() {
		return true
	}
	in, ok := a.In.(*os.File)
	_, tty := a.terminalFile(a.Err)
	return ok && tty && term.IsTerminal(int(in.Fd()))
}

// HasPlayedPerson reports whether a simulated person answers the questions.
func (a *Console) HasPlayedPerson() bool {
	_, played := a.In.(*ScriptedInput)
	return played
}

// CanRedraw reports whether w may be redrawn.
func (a *Console) CanRedraw(w io.Writer) bool {
	_, tty := a.terminalFile(w)
	return tty && !a.Quiet && a.Env("CI") == "" && a.Env("NO_ANIMATION") == ""
}

// Style returns the style for drawing on w.
func (a *Console) Style(w io.Writer) view.OutputStyle {
	f, tty := a.terminalFile(w)
	s := view.OutputStyle{Plain: !tty && (w != a.Out || !a.Host.Person), ASCII: !a.supportsUTF8()}
	if tty {
		s.Width = 80
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			s.Width, s.Height = width, height
		}
	}
	if n, err := strconv.Atoi(a.Env("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	s.Color = a.usesColor(tty)
	return s
}

func (a *Console) usesColor(tty bool) bool {
	set := func(name string) bool { v := a.Env(name); return v != "" && v != "0" }
	switch {
	case a.Color == "always":
		return true
	case a.Color == "never" || a.Env("NO_COLOR") != "" || a.Env("CLICOLOR") == "0":
		return false
	case set("CLICOLOR_FORCE") || set("FORCE_COLOR"):
		return true
	default:
		return tty
	}
}

// supportsUTF8 reports whether the locale can show more than ASCII.
func (a *Console) supportsUTF8() bool {
	locale := strings.ToLower(cmp.Or(a.Env("LC_ALL"), a.Env("LC_CTYPE"), a.Env("LANG")))
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// Print writes a result.
func (a *Console) Print(text string) error {
	_, err := io.WriteString(a.Out, a.Mask.MaskText(text))
	return err
}

// Answer prints the result: v as one JSON object with --json, else the text.
func (a *Console) Answer(v any, text func(view.OutputStyle) string) error {
	if !a.JSON {
		return a.Print(text(a.Style(a.Out)))
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	if a.Host.Drawn != nil && text != nil {
		a.Host.Drawn(a.Mask.MaskText(text(a.Style(a.Out))))
	}
	return a.Print(string(sanitize.EscapeJSON(b.Bytes())))
}

// Say prints a message for people.
func (a *Console) Say(format string, args ...any) {
	if !a.Quiet {
		a.held.write(a.Err, a.Mask.MaskText(fmt.Sprintf(format+"\n", args...)))
	}
}

// Ask prints a question for people, even with --quiet.
func (a *Console) Ask(text string) { a.held.write(a.Err, text) }

// Failure is the JSON form of an error.
type Failure struct {
	Code    nexus.ErrorCode `json:"code"`
	Message string          `json:"message"`
	Hint    string          `json:"hint,omitzero"`
}

// Failure returns the JSON form of an error, with keys masked.
func (a *Console) Failure(err error) Failure {
	f := Failure{Code: nexus.CodeInternal, Message: a.Mask.MaskText(err.Error())}
	if e, ok := errors.AsType[*nexus.Error](err); ok {
		f.Code, f.Hint = e.Code, a.Mask.MaskText(e.Hint)
	}
	return f
}

// Fail prints the reason why a command failed. With --json, the error is also the one object that
// the command prints.
func (a *Console) Fail(err error) {
	if _, told := errors.AsType[ExitError](err); a.JSON && err != nil && !told {
		_ = a.Answer(map[string]Failure{"error": a.Failure(err)}, nil)
	}
	a.ReportError(err)
}

// ReportError prints an error with which a command continues.
func (a *Console) ReportError(err error) {
	if err == nil {
		return
	}
	if _, told := errors.AsType[ExitError](err); told {
		return
	}
	f, s := a.Failure(err), a.Style(a.Err)
	text := s.Bad("nexus:") + " " + strings.TrimPrefix(s.WrapWords("nexus: "+view.EscapeLinesForTerminal(f.Message), "  "), "  nexus: ") + "\n"
	if f.Hint != "" {
		text += s.WrapWords(view.EscapeLinesForTerminal(f.Hint), "  ") + "\n"
	}
	a.held.write(a.Err, text)
}

// PrintEventJSON prints an event as one line of JSON.
func (a *Console) PrintEventJSON(e nexus.Event) error {
	v, err := view.EventStreamLineOf(e)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	if err := out.Encode(v); err != nil {
		return err
	}
	return a.Print(string(sanitize.EscapeJSON(b.Bytes())))
}
