package view

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Markdown draws the few elements of our own Markdown for a terminal: headings, tables, lists and
// paragraphs. Everything else is unchanged.
func Markdown(s Style, text string) string {
	var b strings.Builder
	var table [][]string
	flush := func() {
		if len(table) > 0 {
			b.WriteString(grid(s, table))
		}
		table = nil
	}
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, "|") {
			table = append(table, cells(line))
			continue
		}
		flush()
		switch {
		case strings.HasPrefix(line, "#"):
			b.WriteString(s.Fit(s.Bold(plainText(strings.TrimSpace(strings.TrimLeft(line, "#"))))) + "\n")
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

// grid draws a table: the head dim, columns of numbers to the right. A two-column table with an
// empty head gets none.
func grid(s Style, rows [][]string) string {
	if len(rows) < 2 {
		return Table(s, nil, rows)
	}
	head, align, rows := rows[0], rows[1], rows[2:]
	if wide := columnWidths(append([][]string{head}, rows...)); s.Width > 0 && !s.Plain && sum(wide)+2*len(wide) > s.Width {
		return records(s, head, rows)
	}
	for i, a := range align {
		if !strings.HasSuffix(a, ":") {
			continue
		}
		width := lipgloss.Width(column(head, i))
		for _, row := range rows {
			width = max(width, lipgloss.Width(column(row, i)))
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
	return Table(s, head, rows)
}

// records draws a table that is wider than the terminal: each row separately, with the column
// titles. A number that is cut would be wrong.
func records(s Style, head []string, rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		if len(head) == 2 {
			b.WriteString(s.Wrap(row[0]+": "+column(row, 1), "  ") + "\n")
			continue
		}
		b.WriteString(s.Wrap(row[0], "  ") + "\n")
		var figures []string
		for i := 1; i < len(head); i++ {
			if cell := column(row, i); cell != "" {
				figures = append(figures, head[i]+" "+cell)
			}
		}
		if len(figures) > 0 {
			for line := range strings.SplitSeq((Style{Width: s.Width - 4, ASCII: s.ASCII}).wrapFigures(figures, ""), "\n") {
				b.WriteString(s.Wrap(line, "    ") + "\n")
			}
		}
	}
	return b.String()
}

func sum(widths []int) (all int) {
	for _, w := range widths {
		all += w
	}
	return all
}

func column(row []string, i int) string {
	if i < len(row) {
		return row[i]
	}
	return ""
}

// cells returns the cells of a line of a table.
func cells(line string) []string {
	line = strings.ReplaceAll(strings.Trim(strings.TrimSpace(line), "|"), `\|`, "\x00")
	var all []string
	for cell := range strings.SplitSeq(line, "|") {
		all = append(all, plainText(strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|"))))
	}
	return all
}

// Literal escapes an untrusted text within Markdown: it contains no markup, links nowhere, and
// mentions nobody. [Markdown] draws the original text.
func Literal(text string) string {
	return strings.NewReplacer(
		`\`, `\\`, "|", `\|`, "&", "&amp;", "<", "&lt;", ">", "&gt;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "`", "\\`",
		"~", `\~`, "#", "&#35;", "@", "@\u200b", "://", ":&#47;&#47;", "www.", "www\u200b.", "$", "&#36;", "!", "&#33;",
	).Replace(Clean(text))
}

// plainText removes the escapes of Literal.
func plainText(text string) string {
	return Clean(strings.NewReplacer(`\|`, "|", "&lt;", "<", `\*`, "*", `\_`, "_", `\[`, "[", "\\`", "`", "@\u200b", "@",
		`\\`, `\`, `\]`, "]", `\~`, "~", "&gt;", ">", "&amp;", "&", "&#35;", "#", "&#47;", "/", "&#36;", "$", "&#33;", "!", "www\u200b.", "www.",
	).Replace(text))
}
