package tui

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// formatOutput prepares the output of a command for drawing: safe lines. Consecutive lines with the
// same number of tabs are the rows of a table, which fits the width. Other lines are folded.
func (b stylePainter) formatOutput(text string, width int, wrap bool) []string {
	lines := strings.Split(view.EscapeLinesForTerminal(strings.TrimSpace(text)), "\n")
	var out []string
	for len(lines) > 0 {
		n := slices.IndexFunc(lines, func(l string) bool { return strings.Count(l, "\t") != strings.Count(lines[0], "\t") })
		if n < 0 {
			n = len(lines)
		}
		if strings.Contains(lines[0], "\t") && n > 1 {
			out = append(out, b.layOutTable(lines[:n], width)...)
		} else {
			out = append(out, b.wrapLines(b.sanitizeLines(strings.Join(lines[:n], "\n")), width, wrap)...)
		}
		lines = lines[n:]
	}
	return out
}

// leastColumn is the minimum width of a column, if it has as much content.
const leastColumn = 12

// layOutTable lays out the rows of a table, the first of which is its head. Columns that are empty
// below the head are dropped, and then the last ones, until the others fit.
func (b stylePainter) layOutTable(lines []string, width int) []string {
	var head []string
	rows := make([][]string, len(lines)-1)
	left, more := width+2, false
	all := make([][]string, len(lines))
	for i, l := range lines {
		all[i] = strings.Split(l, "\t")
	}
	for c := range all[0] {
		widest := 0
		for _, row := range all[1:] {
			widest = max(widest, ansi.StringWidth(row[c]))
		}
		need := min(max(widest, ansi.StringWidth(all[0][c])), leastColumn) + 2
		switch {
		case widest == 0:
			continue
		case more || need > left && len(head) > 0:
			more = true
			continue
		}
		left -= need
		head = append(head, all[0][c])
		for i, row := range all[1:] {
			rows[i] = append(rows[i], row[c])
		}
	}
	if more {
		head[len(head)-1] += " " + b.symbolOrASCII("\u2026", "~")
	}
	drawn := view.DrawTable(view.OutputStyle{ASCII: b.ASCII, Width: width}, head, rows)
	out := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
	out[0] = b.Dim(out[0])
	return out
}
