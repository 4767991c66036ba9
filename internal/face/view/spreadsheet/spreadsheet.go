// Package spreadsheet writes tables that programs for spreadsheets open: comma
// separated values by RFC 4180, in which no cell is a formula.
package spreadsheet

import (
	"encoding/csv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

// Table returns rows of texts as comma-separated values. Names in them are the
// words of others: a cell that a spreadsheet would take for a formula begins with
// a quote. A figure that may be below zero would need a way of its own.
func Table(rows [][]string) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.UseCRLF = true
	for _, r := range rows {
		cells := make([]string, len(r))
		for i := range r {
			cells[i] = inert(r[i])
		}
		if err := w.Write(cells); err != nil {
			return "", err
		}
	}
	w.Flush()
	return b.String(), w.Error()
}

// inert returns a cell that no spreadsheet takes for a formula.
func inert(cell string) string {
	cell = view.Clean(cell)
	if strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r") {
		return "'" + cell
	}
	return cell
}
