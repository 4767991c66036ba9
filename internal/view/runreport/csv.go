package runreport

import (
	"strconv"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/spreadsheet"
)

// CSVReport writes a row for each task, for a spreadsheet.
func CSVReport(r Report) (string, error) {
	rows := [][]string{{
		"run", "task", "title", "status", "commit", "attempts", "rounds", "seconds", "usd", "gates", "review", "criteria_met", "criteria", "why",
	}}
	money := func(m nexus.Money) string { return strconv.FormatFloat(m.Dollars(), 'f', 6, 64) }
	n := strconv.Itoa
	for _, l := range r.Landed {
		rows = append(rows, []string{
			string(r.Run), string(l.ID), l.Title, string(nexus.Landed), l.Commit, n(l.Attempts), n(l.Rounds),
			strconv.FormatFloat(l.Seconds, 'f', 3, 64), money(l.Spent), n(len(l.Gates)), reviewText(l.Review),
			n(countMet(l.Criteria)), n(len(l.Criteria)), "",
		})
	}
	for _, l := range r.Left {
		rows = append(rows, []string{
			string(r.Run), string(l.ID), l.Title, string(l.Status), "", n(l.Attempts), n(l.Rounds), "", money(l.Spent), "", "", "", "", l.Why,
		})
	}
	return spreadsheet.FormatCSV(rows)
}
