package view

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// DrawTable lays rows out in columns. Cells are drawn already; the last column of a row that is too
// wide is cut. In plain style the columns are separated by tabs, so that a program can split
// them; the first line is the head.
func DrawTable(s OutputStyle, head []string, rows [][]string) string {
	return layOutTable(s, head, rows, shrinkableColumn{column: -1})
}

// DrawTableShrinking is like [DrawTable], but cuts the given column, which lists files, before the others.
func DrawTableShrinking(s OutputStyle, head []string, rows [][]string, column int) string {
	return layOutTable(s, head, rows, shrinkableColumn{column, leastListed})
}

// leastListed is the minimum width of that column.
const leastListed = 16

// shrinkableColumn is a column that is cut before the others, and its minimum width.
type shrinkableColumn struct{ column, least int }

func layOutTable(s OutputStyle, head []string, rows [][]string, y shrinkableColumn) string {
	var b strings.Builder
	if s.Plain {
		if len(head) > 0 && len(rows) > 0 {
			b.WriteString(strings.Join(head, "\t") + "\n")
		}
		for _, row := range rows {
			b.WriteString(ansi.Strip(strings.Join(row, "\t")) + "\n")
		}
		return b.String()
	}
	if len(head) > 0 {
		drawn := make([]string, len(head))
		for i, h := range head {
			drawn[i] = s.Dim(h)
		}
		rows = append([][]string{drawn}, rows...)
	}
	widths := columnWidths(rows)
	shrinkColumns(widths, s.Width, y)
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			cell = ansi.Truncate(cell, max(widths[i], 1), s.ellipsis())
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", max(widths[i]-lipgloss.Width(cell), 0)+2))
			}
		}
		b.WriteString(s.TruncateLine(strings.TrimRight(line.String(), " ")) + "\n")
	}
	return b.String()
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], lipgloss.Width(cell))
		}
	}
	return widths
}

// shrinkColumns narrows the yielding column, and then the widest one, until the row fits; a
// column keeps at least twelve.
func shrinkColumns(widths []int, width int, y shrinkableColumn) {
	if width <= 0 {
		return
	}
	total := 2 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	if over := total - width; over > 0 && y.column >= 0 && y.column < len(widths) {
		less := min(over, max(widths[y.column]-y.least, 0))
		widths[y.column] -= less
		total -= less
	}
	for total > width {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 12 {
			return
		}
		widths[widest]--
		total--
	}
}
