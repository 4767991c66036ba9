package review

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ReviewerOpinion is one reader's opinion, with the reader.
type ReviewerOpinion struct {
	Reader nexus.ChangeReviewer
	Given  nexus.ReviewerVerdictGiven
}

// MergeReviews merges the opinions of several readers into one review, the worst findings first and
// duplicates once. It is a review only if all have read, unless the findings forbid landing
// already: majors is the number of major findings that do.
func MergeReviews(all []ReviewerOpinion, majors int) nexus.ReviewerVerdictGiven {
	r := nexus.ReviewerVerdictGiven{Reviewed: len(all) > 0, Approved: len(all) > 0}
	var said, missing []string
	for _, o := range all {
		reader := o.Reader
		reader.Reviewed, reader.Approved = o.Given.Reviewed, o.Given.Approved
		if !reader.Reviewed {
			reader.Why = o.Given.Summary
			missing = append(missing, reviewerPrefix(reader)+reader.Why)
			r.Readers = append(r.Readers, reader)
			continue
		}
		if len(said) == 0 {
			r.Agreed = o.Given.Agreed
		}
		r.Agreed = commonNames(r.Agreed, o.Given.Agreed)
		r.Readers = append(r.Readers, reader)
		r.Approved = r.Approved && reader.Approved
		said = append(said, reviewerPrefix(reader)+o.Given.Summary)
		for others := len(r.Findings); len(o.Given.Findings) > 0; o.Given.Findings = o.Given.Findings[1:] {
			f := o.Given.Findings[0]
			f.Persona = reader.Persona
			r.Findings = addFinding(r.Findings, others, f)
		}
	}
	slices.SortStableFunc(r.Findings, func(a, b nexus.Finding) int { return severityRank(a) - severityRank(b) })
	r.Summary = truncateFindingText(strings.Join(append(missing, said...), "\n"))
	if len(missing) > 0 {
		r.Approved, r.Reviewed = false, BlocksLanding(nexus.ReviewerVerdictGiven{Reviewed: true, Findings: r.Findings}, majors)
	}
	return r
}

// commonNames returns the names that two lists have.
func commonNames(a, b []string) []string {
	var all []string
	for _, name := range a {
		if slices.Contains(b, name) {
			all = append(all, name)
		}
	}
	return all
}

// RequireAgreement applies the required approvals of explained removals: if the readers did not approve
// each of them by name, the change is not approved.
func RequireAgreement(r nexus.ReviewerVerdictGiven, taken []nexus.Finding) nexus.ReviewerVerdictGiven {
	if !r.Reviewed || !r.Approved {
		return r
	}
	for _, f := range tamper.UnapprovedFindings(taken, r.Agreed) {
		r.Approved = false
		r.Findings = append(slices.Clip(r.Findings), nexus.Finding{
			Gate: Gate, File: f.File, Severity: nexus.Major, Category: "scope", Name: f.Name,
			Message: fmt.Sprintf("the review does not agree to %s, for which the author gives this reason: %s", f.Name, f.Explained),
			Advice:  "Put it back, or explain it better.",
		})
	}
	return r
}

// reviewerPrefix returns the prefix of a reader's texts, or "" if there is only one.
func reviewerPrefix(r nexus.ChangeReviewer) string {
	text := r.Persona
	if r.Parts > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s part %d of %d", text, r.Part, r.Parts))
	}
	if text != "" {
		text += ": "
	}
	return text
}

// addFinding adds a finding unless an equal one is among those of the others, who come first: then
// the worse severity counts, text that is in the tree replaces text that is not, and both are
// named as finders.
func addFinding(all []nexus.Finding, others int, f nexus.Finding) []nexus.Finding {
	i := slices.IndexFunc(all[:others], func(a nexus.Finding) bool { return repair.IsSameFinding(a, f) })
	if i < 0 {
		return append(all, f)
	}
	old := all[i]
	kept, other := old, f
	if old.Unverified != "" && f.Unverified == "" || (old.Unverified == "") == (f.Unverified == "") && severityRank(f) < severityRank(old) {
		kept, other = f, old
	}
	kept.Persona = old.Persona
	if f.Persona != "" && !slices.Contains(strings.Split(old.Persona, ","), f.Persona) {
		kept.Persona = strings.Trim(old.Persona+","+f.Persona, ",")
	}
	kept.Advice = cmp.Or(kept.Advice, other.Advice)
	all[i] = kept
	return all
}

// severityRank returns the sort key of a finding: the worst first, unverified ones last.
func severityRank(f nexus.Finding) int {
	n := slices.Index([]nexus.Severity{nexus.Critical, nexus.Major, nexus.Minor, nexus.Suggestion}, cmp.Or(f.Severity, nexus.Major))
	if f.Unverified != "" {
		n += 4
	}
	return n
}
