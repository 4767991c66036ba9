package runquality

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// lastCoverage returns the coverage measured for a tree, nil if there is none.
func lastCoverage(all []nexus.GateEvidence) *nexus.TestCoverage {
	for _, e := range all {
		if e.Coverage != nil {
			return e.Coverage
		}
	}
	return nil
}

// maxRows limits the rows of new lines in a report.
const maxRows = 20

// writeCoverage draws the test coverage of the landed tree and of each task's additions. It also
// states what is unknown.
func writeCoverage(b *strings.Builder, q RunQuality) {
	type row struct {
		what string
		of   *nexus.TestCoverage
	}
	var rows []row
	if q.Coverage != nil {
		rows = append(rows, row{"the result", q.Coverage})
	}
	for _, t := range q.Tasks {
		if c := lastCoverage(t.Evidence); c != nil {
			rows = append(rows, row{string(t.ID), c})
		}
	}
	if len(rows) == 0 {
		return
	}
	b.WriteString("\n## Coverage\n\n| of | lines | branches | functions | statements | new lines |\n|---|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", escapeCell(r.what), shareText(r.of.Lines), shareText(r.of.Branches), shareText(r.of.Functions), shareText(r.of.Statements), newLinesText(r.of))
	}
	last := rows[0].of
	if len(last.Missed)+len(last.Unknown) == 0 {
		return
	}
	b.WriteString("\nNew lines that no test runs:\n\n")
	for i, m := range last.Missed {
		if i == maxRows {
			fmt.Fprintf(b, "- and %d more\n", len(last.Missed)-i)
			break
		}
		at := fmt.Sprintf("%s:%d", m.File, m.From)
		if m.To > m.From {
			at += fmt.Sprintf("-%d", m.To)
		}
		fmt.Fprintf(b, "- %s: %s\n", escapeCell(at), escapeCell(m.Text))
	}
	for _, f := range last.Unknown {
		fmt.Fprintf(b, "- %s: unknown, not in the coverage report\n", escapeCell(f))
	}
}

// shareText formats a share, and its change.
func shareText(c nexus.CoverageChange) string {
	now, known := c.Percent()
	if !known {
		return "unknown"
	}
	text := fmt.Sprintf("%.1f %%", now)
	if c.Before != nil {
		if was, known := c.Before.Percent(); known {
			text += fmt.Sprintf(" (%+.1f)", now-was)
		}
	}
	return text
}

func newLinesText(c *nexus.TestCoverage) string {
	percent, known := c.New.Percent()
	if !known {
		return map[bool]string{true: "none", false: "unknown"}[len(c.Unknown) == 0]
	}
	return fmt.Sprintf("%d of %d, %.1f %%", c.New.Covered, c.New.Total, percent)
}

// writeEarlierChecks lists the checks and criteria of earlier runs that were checked before the
// work.
func writeEarlierChecks(b *strings.Builder, q RunQuality) {
	if len(q.Tried) > 0 {
		b.WriteString("\n## Checks run before the work\n\n| criterion | check | usable | result |\n|---|---|---|---|\n")
	}
	for _, x := range q.Tried {
		fits := "yes"
		switch {
		case x.Words:
			fits = "no, removed"
		case !x.Fits:
			fits = "no"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", escapeCell(x.Criterion), escapeCell(x.Check), fits, escapeCell(x.Came))
	}
	if len(q.Earlier) == 0 {
		return
	}
	b.WriteString("\n## Before the run started\n\n" + escapeCell(accept.SummarizeEarlierResults(q.Earlier)) + "\n\n| run | criterion | command | state |\n|---|---|---|---|\n")
	for _, r := range q.Earlier {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", escapeCell(string(r.Run)), escapeCell(r.Criterion), escapeCell(r.Command), escapeCell(strings.TrimSuffix(string(r.State)+": "+r.Why, ": ")))
	}
}
