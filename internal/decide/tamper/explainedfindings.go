package tamper

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AddExplanations adds submissions' explanations to findings with a name. The last explanation of a
// name counts.
func AddExplanations(found []nexus.Finding, said []nexus.RemovalExplanation) []nexus.Finding {
	all := slices.Clone(found)
	for i, f := range all {
		for _, s := range said {
			if why := strings.TrimSpace(s.Why); f.Name != "" && why != "" && trimNameMarks(s.Name) == trimNameMarks(f.Name) {
				all[i].Explained = why
			}
		}
	}
	return all
}

// UnexplainedFindings returns the findings with a name and without an explanation.
func UnexplainedFindings(found []nexus.Finding) []nexus.Finding {
	var all []nexus.Finding
	for _, f := range found {
		if f.Name != "" && f.Explained == "" {
			all = append(all, f)
		}
	}
	return all
}

// UnapprovedFindings returns the explained findings whose names a reviewer has not approved.
func UnapprovedFindings(found []nexus.Finding, agreed []string) []nexus.Finding {
	var all []nexus.Finding
	for _, f := range found {
		same := func(name string) bool { return trimNameMarks(name) == trimNameMarks(f.Name) }
		if f.Name != "" && f.Explained != "" && !slices.ContainsFunc(agreed, same) {
			all = append(all, f)
		}
	}
	return all
}

// trimNameMarks returns a name without the marks that models put around it.
func trimNameMarks(name string) string {
	return strings.TrimPrefix(strings.Trim(strings.TrimSpace(name), "`\"'"), "./")
}
