// Package spreadsheet writes tables for spreadsheet programs: comma-separated values by RFC 4180,
// in which no cell is a formula.
package spreadsheet

import (
	"encoding/csv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

// FormatCSV returns rows of texts as comma-separated values. Names in them are untrusted: a cell that
// a spreadsheet would read as a formula gets a leading quote. Numbers that may be negative would
// need another function.
func FormatCSV(rows [][]string) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	for _, r := range rows {
		cells := make([]string, len(r))
		for i := range r {
			cells[i] = escapeFormula(r[i])
		}
		if err := w.Write(cells); err != nil {
			return "", err
		}
	}
	w.Flush()
	return b.String(), w.Error()
}

// escapeFormula returns a cell that no spreadsheet reads as a formula.
func escapeFormula(cell string) string {
	cell = view.EscapeForTerminal(cell)
	if strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r") {
		return "'" + cell
	}
	return cell
}
