// Package view draws the output of all interfaces: it turns a run's state into one documented
// object, and that object into tables, progress and reports. It is pure: the same state and style
// always give the same text.
package view

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// OutputStyle describes the abilities of the output. The zero value is plain text without colour or
// wrapping.
type OutputStyle struct {
	Color  bool
	Plain  bool // output for a program: one line per record, tab-separated
	ASCII  bool // the locale supports nothing else
	Width  int  // columns; 0 is no limit
	Height int  // lines; 0 is unknown
}

func (s OutputStyle) applyStyle(text string, l lipgloss.Style) string {
	if !s.Color || text == "" {
		return text
	}
	return l.Render(text)
}

// Bold marks the most important text.
func (s OutputStyle) Bold(text string) string {
	return s.applyStyle(text, lipgloss.NewStyle().Bold(true))
}

// Dim marks secondary text.
func (s OutputStyle) Dim(text string) string {
	return s.applyStyle(text, lipgloss.NewStyle().Faint(true))
}

// Strikethrough marks text that is no longer valid.
func (s OutputStyle) Strikethrough(text string) string {
	return s.applyStyle(text, lipgloss.NewStyle().Strikethrough(true))
}

// Good marks a success.
func (s OutputStyle) Good(text string) string {
	return s.applyStyle(text, lipgloss.NewStyle().Foreground(lipgloss.Green))
}

// Bad marks a failure.
func (s OutputStyle) Bad(text string) string {
	return s.applyStyle(text, lipgloss.NewStyle().Foreground(lipgloss.Red))
}

// Warn marks text about an item that waits for a person.
func (s OutputStyle) Warn(text string) string {
	return s.applyStyle(text, lipgloss.NewStyle().Foreground(lipgloss.Yellow))
}

// Busy marks text about work in progress.
func (s OutputStyle) Busy(text string) string {
	return s.applyStyle(text, lipgloss.NewStyle().Foreground(lipgloss.Cyan))
}

// TruncateLine cuts a line to the width.
func (s OutputStyle) TruncateLine(line string) string {
	if s.Width <= 0 {
		return line
	}
	return ansi.Truncate(line, s.Width, s.ellipsis())
}

// Wrap breaks a text into indented lines of the width: at spaces, and within a word only if it is
// longer than a line.
func (s OutputStyle) Wrap(text, indent string) string {
	width := s.Width - len(indent)
	if width <= 20 {
		return indent + text
	}
	text = OutputStyle{Width: width}.WrapWords(text, "")
	return indent + strings.ReplaceAll(ansi.Hardwrap(text, width, true), "\n", "\n"+indent)
}

// wrapFigures puts figures on lines of the width, as many as fit, and indents the later lines.
func (s OutputStyle) wrapFigures(figures []string, indent string) string {
	var b strings.Builder
	at := 0
	for i, f := range figures {
		n := ansi.StringWidth(f)
		switch {
		case i == 0:
		case s.Width > 0 && !s.Plain && at+ansi.StringWidth(s.Separator())+n > s.Width:
			b.WriteString("\n" + indent)
			at = len(indent)
		default:
			b.WriteString(s.Separator())
			at += ansi.StringWidth(s.Separator())
		}
		b.WriteString(f)
		at += n
	}
	return b.String()
}

// wrapLimited wraps a line that people must read to its end, up to ten lines. The second and
// later lines are indented.
func (s OutputStyle) wrapLimited(line string) string {
	if s.Width <= 0 || s.Plain {
		return line
	}
	lines := strings.Split(s.Wrap(line, "  "), "\n")
	if most := 10; len(lines) > most {
		lines = append(lines[:most-1], "  "+ansi.Truncate(strings.TrimSpace(lines[most-1]), s.Width-2-ansi.StringWidth(s.ellipsis()), "")+s.ellipsis())
	}
	return strings.TrimPrefix(strings.Join(lines, "\n"), "  ")
}

// WrapWords breaks a text at spaces into indented lines of the width. A longer word is not
// broken, so that a path in it can be copied.
func (s OutputStyle) WrapWords(text, indent string) string {
	width := s.Width - len(indent)
	if s.Plain || width <= 20 {
		return indent + strings.ReplaceAll(text, "\n", "\n"+indent)
	}
	var b strings.Builder
	b.WriteString(indent)
	at := 0
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("\n" + indent)
			at = 0
		}
		for j, word := range strings.Split(line, " ") {
			n := ansi.StringWidth(word)
			switch {
			case j == 0:
			case at > 0 && at+1+n > width:
				b.WriteString("\n" + indent)
				at = 0
			default:
				b.WriteByte(' ')
				at++
			}
			b.WriteString(word)
			at += n
		}
	}
	return b.String()
}

func (s OutputStyle) ellipsis() string {
	if s.ASCII {
		return "~"
	}
	return "\u2026"
}

// JoinFigures puts figures on one line.
func (s OutputStyle) JoinFigures(figures ...string) string {
	return strings.Join(figures, s.Separator())
}

// Separator returns the separator of figures on a line.
func (s OutputStyle) Separator() string {
	if s.ASCII || s.Plain {
		return ", "
	}
	return " \u00b7 "
}

// StatusGlyph returns the sign of a task's status, one column wide.
func (s OutputStyle) StatusGlyph(status nexus.TaskStatus) string {
	pick := func(sign, ascii string) string {
		if s.ASCII {
			return ascii
		}
		return sign
	}
	switch status {
	case nexus.Landed:
		return s.Good(pick("\u2713", "+"))
	case nexus.Running:
		return s.Busy(pick("\u25cf", "*"))
	case nexus.Reviewing:
		return s.Busy(pick("\u25d0", "?"))
	case nexus.Boarding:
		return s.Busy(pick("\u2191", "^"))
	case nexus.Parked:
		return s.Warn("!")
	case nexus.Failed:
		return s.Bad(pick("\u2717", "x"))
	case nexus.Blocked:
		return s.Bad(pick("\u2298", "#"))
	case nexus.Skipped, nexus.Split:
		return s.Dim("-")
	default:
		return s.Dim(pick("\u25cb", "."))
	}
}

// EscapeForTerminal makes an external text safe for a terminal: control and invisible format characters are
// escaped, line breaks become spaces.
func EscapeForTerminal(text string) string {
	var b strings.Builder
	text = strings.Trim(text, " \t\r\n")
	for i, r := range text {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case r == unicode.ReplacementChar, sanitize.IsInvisibleAt(text, i):
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// EscapeLinesForTerminal is like [EscapeForTerminal], but keeps line breaks.
func EscapeLinesForTerminal(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		tabs := strings.Split(strings.TrimSuffix(line, "\r"), "\t")
		for j := range tabs {
			lead := len(tabs[j]) - len(strings.TrimLeft(tabs[j], " "))
			tabs[j] = tabs[j][:lead] + EscapeForTerminal(tabs[j])
		}
		lines[i] = strings.Join(tabs, "\t")
	}
	return strings.Join(lines, "\n")
}

// QuoteForTerminal returns the text in quotes, safe for a terminal and at most 80 characters long.
func QuoteForTerminal(text string) string { return strconv.Quote(ansi.Truncate(text, 80, "...")) }

// FormatDuration formats a duration for people.
func FormatDuration(d time.Duration) string {
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", max(d, 0).Seconds())
	}
	d = d.Round(time.Second)
	hours, minutes, rest := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60
	switch {
	case hours > 0:
		return fmt.Sprintf("%dh%02dm", hours, minutes)
	case minutes > 0 && rest > 0:
		return fmt.Sprintf("%dm%ds", minutes, rest)
	case minutes > 0:
		return fmt.Sprintf("%dm", minutes)
	default:
		return fmt.Sprintf("%ds", rest)
	}
}

// FormatNumber formats a number with separated thousands.
func FormatNumber(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// CountWithNoun formats a number with a noun: "1 task", "2 tasks".
func CountWithNoun(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return FormatNumber(int64(n)) + " " + noun
}

// ShortHash returns the first characters of a commit's or tree's hash.
func ShortHash(hash string) string { return hash[:min(len(hash), 9)] }
