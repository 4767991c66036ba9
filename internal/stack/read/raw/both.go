package raw

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Both joins what a tool printed with what its report says about the same run:
// the report counts and names, and the worse word of the two holds. A report
// that knows of fewer failures than were printed is not whole; one that knows
// of more that passed is not of this run alone.
func Both(printed, report Report) Report {
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
		of := []string{CodeTest, CodeExit, CodeEnvironment, CodeMissing} // the report says more of these
		report.Findings = NormalizeFindings(slices.Concat(report.Findings, slices.DeleteFunc(slices.Clone(printed.Findings), func(f nexus.Finding) bool { return slices.Contains(of, f.Code) })))
	case printed.Counted && !printed.Partly:
		report.Counts.Passed = min(report.Counts.Passed, printed.Counts.Passed)
	}
	return report
}
