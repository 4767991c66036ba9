package review

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
)

// OpinionOfPlugin returns a plugin's findings in a change as the opinion of a reader, verified
// against the tree like those of models. It does not approve.
func OpinionOfPlugin(name string, o plugin.ReviewerOutput, text FileVersionsFunc) ReviewerOpinion {
	given := nexus.ReviewerVerdictGiven{Reviewed: true, Summary: truncateFindingText(o.Summary)}
	for _, f := range o.Findings {
		checked, err := submittedReviewFinding(f).checkedFinding()
		if err != nil {
			continue // the protocol checks the same, and more
		}
		given.Findings = append(given.Findings, verifyFinding(checked, text))
	}
	return ReviewerOpinion{Reader: nexus.ChangeReviewer{Plugin: name, Reviewed: true}, Given: given}
}

// AddPluginFindings adds plugins' findings to the review of a change by models. A blocking
// finding revokes an approval, and none approves: models decide whether there was a review,
// and whether it approves.
func AddPluginFindings(r nexus.ReviewerVerdictGiven, all []ReviewerOpinion) nexus.ReviewerVerdictGiven {
	for _, o := range all {
		who := "plugin " + o.Reader.Plugin
		found := len(r.Findings)
		r.Findings = slices.Clone(r.Findings)
		for _, f := range o.Given.Findings {
			f.Persona = who
			r.Findings = addFinding(r.Findings, found, f)
			if canBlockLanding(f) && f.Unverified == "" {
				r.Approved = false
			}
		}
		o.Reader.Approved = !slices.ContainsFunc(o.Given.Findings, func(f nexus.Finding) bool { return canBlockLanding(f) && f.Unverified == "" })
		r.Readers = append(slices.Clip(r.Readers), o.Reader)
		if o.Given.Summary != "" {
			r.Summary = truncateFindingText(strings.TrimSpace(r.Summary + "\n" + who + ": " + o.Given.Summary))
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b nexus.Finding) int { return severityRank(a) - severityRank(b) })
	return r
}
