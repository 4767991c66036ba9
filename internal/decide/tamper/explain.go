package tamper

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Explain adds submissions' explanations to findings with a name. The last explanation of a
// name counts.
func Explain(found []nexus.Finding, said []nexus.Explanation) []nexus.Finding {
	all := slices.Clone(found)
	for i, f := range all {
		for _, s := range said {
			if why := strings.TrimSpace(s.Why); f.Name != "" && why != "" && plain(s.Name) == plain(f.Name) {
				all[i].Explained = why
			}
		}
	}
	return all
}

// Unexplained returns the findings with a name and without an explanation.
func Unexplained(found []nexus.Finding) []nexus.Finding {
	var all []nexus.Finding
	for _, f := range found {
		if f.Name != "" && f.Explained == "" {
			all = append(all, f)
		}
	}
	return all
}

// Unagreed returns the explained findings whose names a reviewer has not approved.
func Unagreed(found []nexus.Finding, agreed []string) []nexus.Finding {
	var all []nexus.Finding
	for _, f := range found {
		same := func(name string) bool { return plain(name) == plain(f.Name) }
		if f.Name != "" && f.Explained != "" && !slices.ContainsFunc(agreed, same) {
			all = append(all, f)
		}
	}
	return all
}

// plain returns a name without the marks that models put around it.
func plain(name string) string {
	return strings.TrimPrefix(strings.Trim(strings.TrimSpace(name), "`\"'"), "./")
}
