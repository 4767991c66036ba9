package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/face/common/highlight"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// stylePainter draws with a style.
type stylePainter struct{ view.OutputStyle }

// truncateLine shortens a line to a width.
func (b stylePainter) truncateLine(line string, width int) string {
	if width <= 0 {
		return ""
	}
	return view.OutputStyle{Width: width, ASCII: b.ASCII}.TruncateLine(line)
}

// padLine returns a line of exactly the width.
func (b stylePainter) padLine(line string, width int) string {
	line = b.truncateLine(line, width)
	return line + strings.Repeat(" ", max(width-ansi.StringWidth(line), 0))
}

// selectedLine draws a selected line; here means that keys act on it.
func (b stylePainter) selectedLine(line string, width int, here bool) string {
	line = b.padLine(ansi.Strip(line), width)
	switch {
	case !b.Color:
		return line
	case here:
		return lipgloss.NewStyle().Reverse(true).Render(line)
	}
	return lipgloss.NewStyle().Bold(true).Render(line)
}

func (b stylePainter) symbolOrASCII(sign, ascii string) string {
	if b.ASCII {
		return ascii
	}
	return sign
}

// paneSeparator returns the separator of two panes.
func (b stylePainter) paneSeparator() string { return b.Dim(b.symbolOrASCII("\u2502", "|")) }

// laneSign returns the glyph of a column of the board, one column wide, and its words.
func (b stylePainter) laneSign(l projection.BoardLane) (glyph, words string) {
	switch l {
	case projection.LaneNeedsYou:
		return b.Warn(b.Bold("!")), "needs you"
	case projection.LaneRunning:
		return b.Busy(b.symbolOrASCII("\u25cf", ">")), "running"
	case projection.LaneVerifying:
		return b.Busy(b.symbolOrASCII("\u25d1", "q")), "verifying"
	case projection.LaneReview:
		return b.colorSymbol("\u25c6", "v", lipgloss.Magenta), "in review"
	case projection.LaneLanding:
		return b.Good(b.symbolOrASCII("\u21e1", "m")), "landing"
	case projection.LaneReady:
		return b.symbolOrASCII("\u25c7", "r"), "ready"
	case projection.LaneBlocked:
		return b.Dim(b.symbolOrASCII("\u25cc", "b")), "blocked"
	case projection.LaneStopped:
		return b.Bad(b.symbolOrASCII("\u2717", "X")), "stopped"
	case projection.LaneDone:
		return b.Good(b.symbolOrASCII("\u2713", "+")), "done"
	}
	return "?", string(l)
}

func (b stylePainter) colorSymbol(sign, ascii string, color ansi.BasicColor) string {
	sign = b.symbolOrASCII(sign, ascii)
	if !b.Color {
		return sign
	}
	return lipgloss.NewStyle().Foreground(color).Render(sign)
}

// drawCode draws the spans of a code line. Their text is untrusted.
func (b stylePainter) drawCode(spans []highlight.CodeSpan) string {
	var out strings.Builder
	for _, s := range spans {
		text := b.sanitizeCode(s.Text)
		if !b.Color || s.Kind == highlight.Plain {
			out.WriteString(text)
			continue
		}
		out.WriteString(highlightStyle(s.Kind).Render(text))
	}
	return out.String()
}

// sanitizeCode makes a part of a line safe. It keeps spaces, and replaces tabs.
func (b stylePainter) sanitizeCode(text string) string {
	text = strings.ReplaceAll(strings.TrimSuffix(text, "\r"), "\t", "    ")
	lead := len(text) - len(strings.TrimLeft(text, " "))
	tail := len(text) - len(strings.TrimRight(text, " "))
	if lead == len(text) {
		return text
	}
	return text[:lead] + view.EscapeForTerminal(text[lead:len(text)-tail]) + text[len(text)-tail:]
}

func highlightStyle(k highlight.SpanKind) lipgloss.Style {
	s := lipgloss.NewStyle()
	switch k {
	case highlight.Keyword:
		return s.Foreground(lipgloss.Magenta)
	case highlight.Type:
		return s.Foreground(lipgloss.Yellow)
	case highlight.Function:
		return s.Foreground(lipgloss.Blue)
	case highlight.Name:
		return s.Foreground(lipgloss.Cyan)
	case highlight.String:
		return s.Foreground(lipgloss.Green)
	case highlight.Number:
		return s.Foreground(lipgloss.Cyan)
	case highlight.Comment:
		return s.Faint(true)
	case highlight.Heading:
		return s.Bold(true)
	default:
		return s
	}
}

// sanitizeLines makes lines of an external text safe to draw.
func (b stylePainter) sanitizeLines(text string) []string {
	lines := strings.Split(view.EscapeLinesForTerminal(text), "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(l, "\t", "    ")
	}
	return lines
}

// wrapLines wraps lines to a width, or leaves them to be cut.
func (b stylePainter) wrapLines(lines []string, width int, wrap bool) []string {
	if !wrap || width < 4 {
		return lines
	}
	var out []string
	for _, l := range lines {
		out = append(out, strings.Split(ansi.Wrap(l, width, ""), "\n")...)
	}
	return out
}
