package parserbase

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// JoinReports merges a tool's output and its report file about the same run: counts and names come
// from the report, and the worse of the two states counts. A report with fewer failures than
// were printed is incomplete; one with more passed tests is not of this run alone.
func JoinReports(printed, report ParsedToolOutput) ParsedToolOutput {
	red := printed.State == nexus.Fail || printed.State == nexus.Environmental
	switch {
	case !report.Counted, printed.State == nexus.NotRun && !printed.Partly, printed.State == nexus.Pass && report.State == nexus.NotRun:
		return printed
	case red && (report.State != nexus.Fail || printed.Counts.Failed > report.Counts.Failed):
		if !printed.Counted {
			printed.Counts, printed.Counted = report.Counts, true
		}
		return printed
	case red:
		of := []string{CodeTest, CodeExit, CodeEnvironment, CodeMissing} // the report has more details on these
		report.Findings = NormalizeFindings(slices.Concat(report.Findings, slices.DeleteFunc(slices.Clone(printed.Findings), func(f nexus.Finding) bool { return slices.Contains(of, f.Code) })))
	case printed.Counted && !printed.Partly:
		report.Counts.Passed = min(report.Counts.Passed, printed.Counts.Passed)
	}
	return report
}
