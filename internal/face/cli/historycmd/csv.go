package historycmd

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

// table returns the groups as comma-separated values: all tasks, then a row for
// each group.
func table(f history.Figures, ways []string) (string, error) {
	var b strings.Builder
	w := csv.NewWriter(&b)
	rows := [][]string{{
		"by", "name", "tasks", "landed", "failed", "parked", "retried", "attempts", "rounds", "escalations",
		"first_pass", "seconds", "usd", "usd_per_landed", "tokens",
	}}
	rows = append(rows, cells("all", f.Of))
	for _, d := range f.Dimensions() {
		if !slices.Contains(ways, d.Name) {
			continue
		}
		for _, g := range d.Groups {
			rows = append(rows, cells(d.Name, g))
		}
	}
	for _, r := range rows {
		for i := range r {
			r[i] = inert(r[i])
		}
		if err := w.Write(r); err != nil {
			return "", err
		}
	}
	w.Flush()
	return b.String(), w.Error()
}

func cells(by string, g history.Group) []string {
	n := strconv.Itoa
	money := func(usd float64) string { return strconv.FormatFloat(usd, 'f', 6, 64) }
	return []string{
		by, g.Name, n(g.Tasks), n(g.Landed), n(g.Failed), n(g.Parked), n(g.Retried), n(g.Attempts), n(g.Rounds), n(g.Raised),
		strconv.FormatFloat(g.FirstPass, 'f', 4, 64), strconv.FormatInt(g.Seconds, 10), money(g.Money.Float()),
		money(g.PerLanded.Float()), strconv.FormatInt(g.Tokens, 10),
	}
}

// inert returns a cell that no spreadsheet takes for a formula: names of models,
// gates and directories are the words of others. No figure here is below zero.
func inert(cell string) string {
	cell = view.Clean(cell)
	if strings.ContainsAny(cell[:min(len(cell), 1)], "=+-@\t\r") {
		return "'" + cell
	}
	return cell
}
