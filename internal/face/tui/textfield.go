package tui

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// textField is a text input: one line, or several.
type textField struct {
	runes   []rune
	at      int  // runes before the cursor
	several bool // alt+enter begins another line
}

// newTextField returns a field with a text, and the cursor at its end.
func newTextField(text string, several bool) textField {
	f := textField{several: several}
	f.insertText(text)
	return f
}

func (f *textField) text() string { return string(f.runes) }

// insertText inserts a text at the cursor, without control sequences.
func (f *textField) insertText(text string) {
	var in []rune
	for _, r := range ansi.Strip(strings.ReplaceAll(text, "\r\n", "\n")) {
		switch {
		case r == '\n' || r == '\r':
			if r = ' '; f.several {
				r = '\n'
			}
			in = append(in, r)
		case r == '\t' && f.several:
			in = append(in, r)
		case r == '\t':
			in = append(in, []rune("    ")...)
		case unicode.IsPrint(r):
			in = append(in, r)
		}
	}
	f.runes = append(f.runes[:f.at:f.at], append(in, f.runes[f.at:]...)...)
	f.at += len(in)
}

// handleKey handles a key, and reports whether it was for the field.
func (f *textField) handleKey(key tea.KeyPressMsg) bool {
	switch key.String() {
	case "backspace", "ctrl+h":
		if f.at > 0 {
			f.deleteRange(f.at-1, f.at)
		}
	case "delete":
		f.deleteRange(f.at, min(f.at+1, len(f.runes)))
	case "ctrl+w", "alt+backspace":
		from := f.at
		for from > 0 && f.runes[from-1] == ' ' {
			from--
		}
		for from > 0 && f.runes[from-1] != ' ' && f.runes[from-1] != '\n' {
			from--
		}
		f.deleteRange(from, f.at)
	case "ctrl+u":
		f.deleteRange(f.lineStart(f.at), f.at)
	case "ctrl+k":
		f.deleteRange(f.at, f.lineEnd(f.at))
	case "left", "ctrl+b":
		f.at = max(f.at-1, 0)
	case "right", "ctrl+f":
		f.at = min(f.at+1, len(f.runes))
	case "home", "ctrl+a":
		f.at = f.lineStart(f.at)
	case "end", "ctrl+e":
		f.at = f.lineEnd(f.at)
	case "up":
		f.moveCursorByLines(-1)
	case "down":
		f.moveCursorByLines(1)
	case "alt+enter", "ctrl+j", "shift+enter":
		if f.several {
			f.insertText("\n")
		}
	default:
		if key.Text == "" {
			return false
		}
		f.insertText(key.Text)
	}
	return true
}

func (f *textField) deleteRange(from, to int) {
	f.runes = append(f.runes[:from:from], f.runes[to:]...)
	f.at = from
}

// lineStart returns the start of the line at a position.
func (f *textField) lineStart(at int) int {
	for at > 0 && f.runes[at-1] != '\n' {
		at--
	}
	return at
}

func (f *textField) lineEnd(at int) int {
	for at < len(f.runes) && f.runes[at] != '\n' {
		at++
	}
	return at
}

// moveCursorByLines moves the cursor to the previous or next line.
func (f *textField) moveCursorByLines(by int) {
	column := f.at - f.lineStart(f.at)
	if by < 0 {
		if begin := f.lineStart(f.at); begin > 0 {
			before := f.lineStart(begin - 1)
			f.at = min(before+column, begin-1)
		}
		return
	}
	if end := f.lineEnd(f.at); end < len(f.runes) {
		f.at = min(end+1+column, f.lineEnd(end+1))
	}
}

// drawLines returns the lines of the field within a width, with its cursor. If there are more than
// most, it returns those around the cursor.
func (f *textField) drawLines(width, most int, cursor string) []string {
	text := strings.ReplaceAll(string(f.runes[:f.at])+"\x00"+string(f.runes[f.at:]), "\t", "    ")
	var lines []string
	at := 0
	for line := range strings.SplitSeq(text, "\n") {
		before, after, here := strings.Cut(line, "\x00")
		if here {
			at = len(lines)
		}
		line = before + after
		if here {
			line = before + cursor + after
		}
		if n := ansi.StringWidth(line); n > width {
			if here {
				line = ansi.TruncateLeft(line, max(min(n-width, ansi.StringWidth(before)-width/2), 0), "")
			}
			line = ansi.Truncate(line, width, "")
		}
		lines = append(lines, line)
	}
	top := min(max(at-most+1, 0), max(len(lines)-most, 0))
	return lines[top:min(top+most, len(lines))]
}
