package runscmd

import (
	"slices"
	"strconv"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/view/spreadsheet"
)

// groupsCSV returns the groups as comma-separated values: all tasks, then a row for
// each group.
func groupsCSV(f runhistory.RunHistoryStatistics, ways []string) (string, error) {
	rows := [][]string{{
		"by", "name", "tasks", "landed", "failed", "parked", "retried", "attempts", "rounds", "escalations",
		"first_pass", "seconds", "usd", "usd_per_landed", "tokens",
	}}
	rows = append(rows, groupCells("all", f.Of))
	for _, d := range f.TaskDimensions() {
		if !slices.Contains(ways, d.Name) {
			continue
		}
		for _, g := range d.Groups {
			rows = append(rows, groupCells(d.Name, g))
		}
	}
	return spreadsheet.FormatCSV(rows)
}

func groupCells(by string, g runhistory.TaskGroupStatistics) []string {
	n := strconv.Itoa
	money := func(usd float64) string { return strconv.FormatFloat(usd, 'f', 6, 64) }
	each := ""
	if g.Landed > 0 {
		each = money(g.PerLanded.Dollars())
	}
	return []string{
		by, g.Name, n(g.Tasks), n(g.Landed), n(g.Failed), n(g.Parked), n(g.Retried), n(g.Attempts), n(g.Rounds), n(g.Raised),
		strconv.FormatFloat(g.FirstPass, 'f', 4, 64), strconv.FormatInt(g.Seconds, 10), money(g.Money.Dollars()),
		each, strconv.FormatInt(g.Tokens, 10),
	}
}
