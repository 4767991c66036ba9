package clarify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// withdrawAndReplace adds the facts that withdraw parts, and those that replace them by
// others of the same kind. The replacement of a requirement is among the requirements.
func (i *InterviewState) withdrawAndReplace(h *InterviewSubmission, add func(nexus.Fact)) {
	for _, name := range h.Withdraw {
		if p, ok := i.partByName(name); ok {
			add(i.withdrawalFact(p))
			h.removeWithdrawn(p)
		}
	}
	for _, r := range h.Replace {
		p, is := i.partByName(r.ID)
		if !is {
			p, _ = i.withdrawnPart(r.ID)
		}
		text := boundedLine(r.Text)
		switch {
		case !is || strings.HasPrefix(p.id, "A-"):
			if is {
				add(i.withdrawalFact(p))
			}
			i.addAssumption(text, p.id, add)
			continue
		case p.id != "":
			h.Criteria = replaceCriterionText(firstNonEmpty(h.Criteria, i.draftCriteria()), p.text, text)
		case slices.ContainsFunc(i.Draft.Notes, func(o string) bool { return normalizeText(o) == normalizeText(p.text) }):
			h.Notes = append(withoutText(firstNonEmpty(h.Notes, i.Draft.Notes), p.text), text)
		default:
			h.OutOfScope = append(withoutText(firstNonEmpty(h.OutOfScope, i.Draft.OutOfScope), p.text), text)
		}
		add(i.withdrawalFact(p))
	}
}

// rewordedRequirement returns a requirement with other words: the same one if it counts, or else a
// replacement.
func rewordedRequirement(was *nexus.Requirement, id, text string) RequirementDraft {
	if was != nil {
		return RequirementDraft{ID: was.ID, Text: text}
	}
	yes := 1.0
	return RequirementDraft{InsteadOf: id, Text: text, Confidence: &yes}
}

// addAssumption adds the fact that states an assumption, unless it is known.
func (i *InterviewState) addAssumption(text, instead string, add func(nexus.Fact)) {
	same := func(a InterviewAssumption) bool { return normalizeText(a.Text) == normalizeText(text) }
	if text = boundedLine(text); text != "" && !slices.ContainsFunc(i.Assumptions, same) {
		add(nexus.AssumptionStated{Attempt: i.Attempt, ID: "A-" + strconv.Itoa(i.stated+1), Text: text, Instead: instead})
	}
}

// withdrawalFact returns the fact that the interviewer withdrew a part.
func (i *InterviewState) withdrawalFact(p specPart) nexus.Fact {
	if i.requirementByID(p.id) != nil {
		return nexus.RequirementWithdrawn{Attempt: i.Attempt, ID: p.id, Why: "the interviewer withdrew it after an answer"}
	}
	return nexus.SpecPartWithdrawn{Attempt: i.Attempt, ID: p.id, Text: p.text}
}

// removeWithdrawn removes a withdrawn part from the lists of a submission.
func (h *InterviewSubmission) removeWithdrawn(p specPart) {
	if p.id == "" {
		h.Notes, h.OutOfScope = withoutText(h.Notes, p.text), withoutText(h.OutOfScope, p.text)
		return
	}
	h.Criteria = slices.DeleteFunc(slices.Clone(h.Criteria), func(c CriterionDraft) bool {
		return strings.HasPrefix(p.id, "AC-") && c.id == "" && normalizeText(c.Text) == normalizeText(p.text)
	})
}

func withoutText(all []string, text string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(o string) bool { return normalizeText(o) == normalizeText(text) })
}

// draftCriteria returns the draft's criteria in the form of a submission.
func (i *InterviewState) draftCriteria() (all []CriterionDraft) {
	for _, c := range i.Draft.Criteria {
		all = append(all, CriterionDraft{Text: c.Text, Check: c.Check, Of: c.Of})
	}
	return all
}

// replaceCriterionText returns criteria with the text of one of them replaced.
func replaceCriterionText(all []CriterionDraft, from, to string) []CriterionDraft {
	all = slices.Clone(all)
	for n := range all {
		if normalizeText(all[n].Text) == normalizeText(from) {
			all[n].Text = to
			return all
		}
	}
	return append(all, CriterionDraft{Text: to})
}

// firstNonEmpty returns the first list that is not empty.
func firstNonEmpty[T any](a, b []T) []T {
	if len(a) > 0 {
		return a
	}
	return b
}

// numberedDraft returns the draft of a submission. Criteria with the text of existing ones get
// their ids.
func (i *InterviewState) numberedDraft(h InterviewSubmission) nexus.InterviewSpecDraft {
	d := draftFromSubmission(h)
	d.Criteria = i.numberCriteria(d.Criteria)
	return d
}
