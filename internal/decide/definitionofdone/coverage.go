package definitionofdone

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// coverageFindings returns findings for insufficient coverage. Work on a tree that had too little
// before must only not make it worse.
func coverageFindings(r nexus.DefinitionOfDone, m MeasuredChange) (found []nexus.Finding, unsure string) {
	c := m.Cover
	switch {
	case c == nil:
		return nil, "not measured: Nexus does not know how for this project; set done.coverage_command"
	case c.Why != "":
		return nil, c.Why
	}
	least, was := float64(r.Minimum), ""
	if c.Had {
		was = fmt.Sprintf(", before it was %.1f %%", c.Before)
	}
	found = totalCoverageFindings(r, c, least, was)
	if c.Measured != nil {
		found = append(found, newLineCoverageFindings(r, *c.Measured)...)
	}
	return found, strings.Join(c.Lacks, "; ")
}

// totalCoverageFindings checks the coverage of the whole tree.
func totalCoverageFindings(r nexus.DefinitionOfDone, c *CoveragePercentage, least float64, was string) []nexus.Finding {
	switch {
	case c.Had && c.Now < c.Before-float64(r.Drop):
		return []nexus.Finding{{
			Message: fmt.Sprintf("tests run %.1f %% of the lines now%s", c.Now, was), Advice: "Test what is new, or what lost its tests.",
		}}
	case c.Now < least && !(c.Had && c.Before < least):
		return []nexus.Finding{{Message: fmt.Sprintf("tests run %.1f %% of the lines%s; the minimum is %d %%", c.Now, was, r.Minimum), Advice: "Test what is new."}}
	case c.Now < float64(r.Target):
		return []nexus.Finding{{Severity: nexus.Suggestion, Message: fmt.Sprintf("tests run %.1f %% of the lines%s; the target is %d %%", c.Now, was, r.Target)}}
	}
	return nil
}

// newLineCoverageFindings checks the coverage of new lines, and names those that no test runs. If
// coverage is too low, only as many lines as the target requires are findings, the longest
// ranges first; the others are remarks.
func newLineCoverageFindings(r nexus.DefinitionOfDone, c nexus.TestCoverage) []nexus.Finding {
	var found []nexus.Finding
	percent, known := c.New.Percent()
	missing := 0 // lines that are missing for the target
	switch {
	case !known:
	case percent < float64(r.NewMinimum):
		missing = (max(r.NewTarget, r.NewMinimum)*c.New.Total+99)/100 - c.New.Covered
		found = append(found, nexus.Finding{
			Message: fmt.Sprintf("tests run %d of %d new lines, %.1f %%; the minimum is %d %%", c.New.Covered, c.New.Total, percent, r.NewMinimum),
			Advice:  "Test what the new lines do, starting with those below.",
		})
	case percent < float64(r.NewTarget):
		found = append(found, nexus.Finding{
			Severity: nexus.Suggestion,
			Message:  fmt.Sprintf("tests run %d of %d new lines, %.1f %%; the target is %d %%", c.New.Covered, c.New.Total, percent, r.NewTarget),
		})
	}
	for _, row := range c.Missed {
		f := nexus.Finding{File: row.File, Line: row.From, Message: "no test runs this new line", Quote: row.Text}
		if row.To > row.From {
			f.EndLine, f.Message = row.To, "no test runs these new lines"
		}
		f.Message += ": " + row.Text
		if missing <= 0 {
			f.Severity = nexus.Suggestion
		}
		missing -= row.Lines
		found = append(found, f)
	}
	for _, file := range c.Unknown {
		found = append(found, nexus.Finding{
			File: file, Message: "the coverage report does not include this file, which has new lines: no test loads it, or the command skips it",
			Advice: "Test it, or have a person name it in done.coverage_except.",
		})
	}
	return found
}

// trimCoverage returns the figures with a limited number of ranges.
func trimCoverage(c nexus.TestCoverage) *nexus.TestCoverage {
	c.Missed = slices.Clip(c.Missed[:min(len(c.Missed), most)])
	c.Unknown = slices.Clip(c.Unknown[:min(len(c.Unknown), most)])
	return &c
}

// CoverageSummary returns the measured coverage in one line.
func CoverageSummary(c nexus.TestCoverage) string {
	var parts []string
	for _, s := range []struct {
		what string
		of   nexus.CoverageChange
	}{{"lines", c.Lines}, {"branches", c.Branches}, {"functions", c.Functions}, {"statements", c.Statements}} {
		now, known := s.of.Percent()
		if !known {
			continue
		}
		text := fmt.Sprintf("%s %.1f %%", s.what, now)
		if s.of.Before != nil {
			if was, known := s.of.Before.Percent(); known {
				text += fmt.Sprintf(" (%+.1f)", now-was)
			}
		}
		parts = append(parts, text)
	}
	if percent, known := c.New.Percent(); known {
		parts = append(parts, fmt.Sprintf("new lines %.1f %% (%d of %d)", percent, c.New.Covered, c.New.Total))
	}
	switch n := len(c.Unknown); n {
	case 0:
	case 1:
		parts = append(parts, "1 file unknown")
	default:
		parts = append(parts, fmt.Sprintf("%d files unknown", n))
	}
	return strings.Join(parts, ", ")
}
