package view

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// DrawMarkdown draws the few elements of our own Markdown for a terminal: headings, tables, lists and
// paragraphs. Everything else is unchanged.
func DrawMarkdown(s OutputStyle, text string) string {
	var b strings.Builder
	var table [][]string
	flush := func() {
		if len(table) > 0 {
			b.WriteString(drawGrid(s, table))
		}
		table = nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, "|") {
			table = append(table, splitCells(line))
			continue
		}
		flush()
		switch {
		case strings.HasPrefix(line, "#"):
			b.WriteString(s.TruncateLine(s.Bold(plainText(strings.TrimSpace(strings.TrimLeft(line, "#"))))) + "\n")
		case strings.HasPrefix(line, "- "):
			wrapped := s.Wrap(plainText(line[2:]), "    ")
			b.WriteString("  - " + strings.TrimPrefix(wrapped, "    ") + "\n")
		case line == "":
			b.WriteString("\n")
		default:
			b.WriteString(s.Wrap(plainText(line), "") + "\n")
		}
	}
	flush()
	return b.String()
}

// drawGrid draws a table: the head dim, columns of numbers to the right. A two-column table with an
// empty head gets none.
func drawGrid(s OutputStyle, rows [][]string) string {
	if len(rows) < 2 {
		return DrawTable(s, nil, rows)
	}
	head, align, rows := rows[0], rows[1], rows[2:]
	if wide := columnWidths(append([][]string{head}, rows...)); s.Width > 0 && !s.Plain && sumWidths(wide)+2*len(wide) > s.Width {
		return drawRecords(s, head, rows)
	}
	for i, a := range align {
		if !strings.HasSuffix(a, ":") {
			continue
		}
		width := lipgloss.Width(cellAt(head, i))
		for _, row := range rows {
			width = max(width, lipgloss.Width(cellAt(row, i)))
		}
		right := func(row []string) {
			if i < len(row) {
				row[i] = strings.Repeat(" ", width-lipgloss.Width(row[i])) + row[i]
			}
		}
		right(head)
		for _, row := range rows {
			right(row)
		}
	}
	for _, row := range rows {
		row[0] = "  " + row[0]
	}
	head[0] = "  " + head[0]
	return DrawTable(s, head, rows)
}

// drawRecords draws a table that is wider than the terminal: each row separately, with the column
// titles. A number that is cut would be wrong.
func drawRecords(s OutputStyle, head []string, rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		if len(head) == 2 {
			b.WriteString(s.Wrap(row[0]+": "+cellAt(row, 1), "  ") + "\n")
			continue
		}
		b.WriteString(s.Wrap(row[0], "  ") + "\n")
		var figures []string
		for i := 1; i < len(head); i++ {
			if cell := cellAt(row, i); cell != "" {
				figures = append(figures, head[i]+" "+cell)
			}
		}
		if len(figures) > 0 {
			for line := range strings.SplitSeq((OutputStyle{Width: s.Width - 4, ASCII: s.ASCII}).wrapFigures(figures, ""), "\n") {
				b.WriteString(s.Wrap(line, "    ") + "\n")
			}
		}
	}
	return b.String()
}

func sumWidths(widths []int) (all int) {
	for _, w := range widths {
		all += w
	}
	return all
}

func cellAt(row []string, i int) string {
	if i < len(row) {
		return row[i]
	}
	return ""
}

// splitCells returns the cells of a line of a table.
func splitCells(line string) []string {
	line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00")
	var all []string
	for cell := range strings.SplitSeq(line, "|") {
		all = append(all, plainText(strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|"))))
	}
	return all
}

// EscapeMarkdown escapes an untrusted text within Markdown: it contains no markup, links nowhere, and
// mentions nobody. [DrawMarkdown] draws the original text.
func EscapeMarkdown(text string) string {
	return strings.NewReplacer(
		`\`, `\\`, "|", `\|`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "`", "\\`",
		"~", `\~`, "#", "&#35;", "@", "@\u200b", "://", ":&#47;&#47;", "www.", "www\u200b.", "$", "&#36;", "!", "&#33;",
	).Replace(EscapeForTerminal(text))
}

// plainText removes the escapes of Literal.
func plainText(text string) string {
	return EscapeForTerminal(strings.NewReplacer(`\|`, "|", "&lt;", "<", `\*`, "*", `\_`, "_", `\[`, "[", "\\`", "`", "@\u200b", "@",
		`\\`, `\`, `\]`, "]", `\~`, "~", "&gt;", ">", "&amp;", "&", "&#35;", "#", "&#47;", "/", "&#36;", "$", "&#33;", "!", "www\u200b.", "www.",
	).Replace(text))
}
