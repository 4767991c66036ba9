package clarify

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// withdrawAndReplace adds the facts that withdraw parts, and those that replace them by
// others of the same kind. The replacement of a requirement is among the requirements.
func (i *Interview) withdrawAndReplace(h *Handin, add func(nexus.Fact)) {
	for _, name := range h.Withdraw {
		if p, ok := i.part(name); ok {
			add(i.withdrawal(p))
			h.forget(p)
		}
	}
	for _, r := range h.Replace {
		p, is := i.part(r.ID)
		if !is {
			p, _ = i.withdrawnPart(r.ID)
		}
		text := line(r.Text)
		switch {
		case !is || strings.HasPrefix(p.id, "A-"):
			if is {
				add(i.withdrawal(p))
			}
			i.suppose(text, p.id, add)
			continue
		case p.id != "":
			h.Criteria = swapped(some(h.Criteria, i.criteria()), p.text, text)
		case slices.ContainsFunc(i.Draft.Notes, func(o string) bool { return norm(o) == norm(p.text) }):
			h.Notes = append(without(some(h.Notes, i.Draft.Notes), p.text), text)
		default:
			h.OutOfScope = append(without(some(h.OutOfScope, i.Draft.OutOfScope), p.text), text)
		}
		add(i.withdrawal(p))
	}
}

// again returns a requirement with other words: the same one if it counts, or else a
// replacement.
func again(was *nexus.Requirement, id, text string) RequirementDraft {
	if was != nil {
		return RequirementDraft{ID: was.ID, Text: text}
	}
	yes := 1.0
	return RequirementDraft{InsteadOf: id, Text: text, Confidence: &yes}
}

// suppose adds the fact that states an assumption, unless it is known.
func (i *Interview) suppose(text, instead string, add func(nexus.Fact)) {
	same := func(a Assumption) bool { return norm(a.Text) == norm(text) }
	if text = line(text); text != "" && !slices.ContainsFunc(i.Assumptions, same) {
		add(nexus.AssumptionStated{Attempt: i.Attempt, ID: "A-" + strconv.Itoa(i.stated+1), Text: text, Instead: instead})
	}
}

// withdrawal returns the fact that the interviewer withdrew a part.
func (i *Interview) withdrawal(p part) nexus.Fact {
	if i.find(p.id) != nil {
		return nexus.RequirementWithdrawn{Attempt: i.Attempt, ID: p.id, Why: "the interviewer withdrew it after an answer"}
	}
	return nexus.PartWithdrawn{Attempt: i.Attempt, ID: p.id, Text: p.text}
}

// forget removes a withdrawn part from the lists of a submission.
func (h *Handin) forget(p part) {
	if p.id == "" {
		h.Notes, h.OutOfScope = without(h.Notes, p.text), without(h.OutOfScope, p.text)
		return
	}
	h.Criteria = slices.DeleteFunc(slices.Clone(h.Criteria), func(c CriterionDraft) bool {
		return strings.HasPrefix(p.id, "AC-") && c.id == "" && norm(c.Text) == norm(p.text)
	})
}

func without(all []string, text string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(o string) bool { return norm(o) == norm(text) })
}

// criteria returns the draft's criteria in the form of a submission.
func (i *Interview) criteria() (all []CriterionDraft) {
	for _, c := range i.Draft.Criteria {
		all = append(all, CriterionDraft{Text: c.Text, Check: c.Check, Of: c.Of})
	}
	return all
}

// swapped returns criteria with the text of one of them replaced.
func swapped(all []CriterionDraft, from, to string) []CriterionDraft {
	all = slices.Clone(all)
	for n := range all {
		if norm(all[n].Text) == norm(from) {
			all[n].Text = to
			return all
		}
	}
	return append(all, CriterionDraft{Text: to})
}

// some returns the first list that is not empty.
func some[T any](a, b []T) []T {
	if len(a) > 0 {
		return a
	}
	return b
}

// drafted returns the draft of a submission. Criteria with the text of existing ones get
// their ids.
func (i *Interview) drafted(h Handin) nexus.InterviewDraft {
	d := draft(h)
	d.Criteria = i.number(d.Criteria)
	return d
}
