package clarify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// ObjectionsTo returns the contradictions between a submission and a person's statements, a
// sentence each. The interviewer is asked once more; [InterviewState.SubmissionFacts] ignores
// contradictions that it submits again.
func (i *InterviewState) ObjectionsTo(h InterviewSubmission) []string {
	s := i.filterSubmission(h)
	for _, w := range i.unreplacedParts() {
		if !slices.Contains(s.covered, w.ID) {
			s.addObjection("nothing replaces %s: a person said instead %s; submit what holds as a requirement with instead_of %q",
				w.ID, sanitize.RevealHidden(w.Instead), w.ID)
		}
	}
	return s.objections
}

// filteredSubmission is a submission without contradictions to a person's statements.
type filteredSubmission struct {
	InterviewSubmission

	objections []string
	covered    []string // ids of parts that a person called wrong and that the submission replaces
}

func (s *filteredSubmission) addObjection(format string, args ...any) {
	s.objections = append(s.objections, fmt.Sprintf(format, args...))
}

// filterSubmission removes from a submission changes of locked parts, and repetitions of
// parts that a person called wrong.
func (i *InterviewState) filterSubmission(h InterviewSubmission) *filteredSubmission {
	s := &filteredSubmission{InterviewSubmission: h}
	s.Withdraw, s.Replace, s.Requirements, s.Assumptions = nil, nil, nil, nil
	for n, name := range h.Withdraw {
		switch p, ok := i.partByName(name); {
		case !ok: // the part no longer exists
		case i.isLockedPart(p):
			s.addObjection("withdraw[%d]: %s is locked, a person agreed to it; leave it as it is", n, sanitize.RevealHidden(name))
		default:
			s.Withdraw = append(s.Withdraw, name)
		}
	}
	all := slices.Clone(h.Requirements)
	var at []string // positions in the submission
	for n := range all {
		at = append(at, fmt.Sprintf("requirements[%d]", n))
	}
	for n, r := range h.Replace {
		id := i.canonicalPartID(r.ID)
		p, ok := i.partByName(id)
		if i.requirementByID(id) != nil || !ok && strings.HasPrefix(id, "REQ-") {
			all = append(all, rewordedRequirement(i.requirementByID(id), id, r.Text))
			at = append(at, fmt.Sprintf("replace[%d]", n))
			continue
		}
		where := fmt.Sprintf("replace[%d]", n)
		switch {
		case ok && i.isLockedPart(p):
			s.addObjection("%s: %s is locked, a person agreed to it; leave it as it is", where, sanitize.RevealHidden(r.ID))
		case i.repeatsRefusedPart(s, where, r.Text):
		case ok && normalizeText(p.text) == normalizeText(r.Text): // no change
		default:
			s.Replace = append(s.Replace, r)
			s.covered = append(s.covered, id)
		}
	}
	for n, r := range all {
		if r, ok := i.filterRequirement(s, at[n], r); ok {
			s.Requirements = append(s.Requirements, r)
		}
	}
	for n, text := range h.Assumptions {
		if !i.repeatsRefusedPart(s, fmt.Sprintf("assumptions[%d]", n), text) {
			s.Assumptions = append(s.Assumptions, text)
		}
	}
	i.keepAgreedCriteria(s)
	s.Notes = i.keepAgreedTexts(s, "notes", h.Notes, i.Draft.Notes, true)
	s.OutOfScope = i.keepAgreedTexts(s, "out_of_scope", h.OutOfScope, i.Draft.OutOfScope, false)
	return s
}

// repeatsRefusedPart reports whether a text repeats a part that a person called wrong.
func (i *InterviewState) repeatsRefusedPart(s *filteredSubmission, where, text string) bool {
	w, is := i.refusedPart(text)
	if is {
		s.addObjection("%s: it repeats what a person called wrong (%s, which is withdrawn); leave it out", where, w.ID)
	}
	return is
}

// canonicalPartID returns the canonical form of a part's id, also for a withdrawn part.
func (i *InterviewState) canonicalPartID(name string) string {
	if p, ok := i.partByName(name); ok && p.id != "" {
		return p.id
	}
	if p, ok := i.withdrawnPart(name); ok {
		return p.id
	}
	return name
}

func (i *InterviewState) filterRequirement(s *filteredSubmission, where string, r RequirementDraft) (RequirementDraft, bool) {
	if r.ID != "" && i.requirementByID(r.ID) == nil {
		r.InsteadOf, r.ID = r.ID, ""
	}
	if r.InsteadOf != "" {
		r.InsteadOf = i.canonicalPartID(r.InsteadOf)
		if p, ok := i.partByName(r.InsteadOf); ok && i.isLockedPart(p) {
			s.addObjection("%s: %s is locked, a person agreed to it; it cannot be replaced", where, r.InsteadOf)
			return r, false
		}
	}
	if parsePriority(r.Priority) != nexus.Wont && i.repeatsRefusedPart(s, where, r.Text) {
		return r, false
	}
	old := i.requirementByID(r.ID)
	if old == nil {
		old = i.sameRequirement(nexus.Requirement{Text: boundedLine(r.Text)})
	}
	s.covered = append(s.covered, r.InsteadOf)
	if old == nil || !i.isLockedPart(specPart{old.ID, old.Text}) {
		return r, true
	}
	changes := normalizeText(old.Text) != normalizeText(r.Text) || r.Priority != "" && parsePriority(r.Priority) != old.Priority
	if changes || r.Later != nil && *r.Later != old.Later || r.Confidence != nil && *r.Confidence < Sure {
		s.addObjection("%s: %s is locked, a person agreed to it; to change it, ask a question that names it", where, old.ID)
	}
	return r, false
}

// keepAgreedCriteria keeps the criteria that a person agreed to.
func (i *InterviewState) keepAgreedCriteria(s *filteredSubmission) {
	if len(s.Criteria) == 0 {
		return
	}
	all := s.Criteria
	s.Criteria = nil
	for n, c := range all {
		if !i.repeatsRefusedPart(s, fmt.Sprintf("criteria[%d]", n), c.Text) {
			s.Criteria = append(s.Criteria, c)
		}
	}
	for _, c := range i.Draft.Criteria {
		if !i.isLockedPart(specPart{c.ID, c.Text}) {
			continue
		}
		was := CriterionDraft{Text: c.Text, Check: c.Check, Of: c.Of, id: c.ID}
		n := slices.IndexFunc(s.Criteria, func(o CriterionDraft) bool { return o.id == "" && normalizeText(o.Text) == normalizeText(c.Text) })
		switch {
		case n < 0:
			s.addObjection("criteria: %s is locked, a person agreed to it; submit it again: %s", c.ID, sanitize.RevealHidden(c.Text))
			s.Criteria = append(s.Criteria, was)
		default:
			s.Criteria[n] = was
		}
	}
}

// keepAgreedTexts keeps the texts that a person agreed to, in a list that replaces another.
func (i *InterviewState) keepAgreedTexts(s *filteredSubmission, name string, list, was []string, wrong bool) (all []string) {
	if len(nonEmptyLines(list)) == 0 {
		return list
	}
	for n, text := range list {
		if !wrong || !i.repeatsRefusedPart(s, fmt.Sprintf("%s[%d]", name, n), text) {
			all = append(all, text)
		}
	}
	for _, text := range was {
		if i.isLockedPart(specPart{"", text}) && !slices.ContainsFunc(all, func(o string) bool { return normalizeText(o) == normalizeText(text) }) {
			s.addObjection("%s: a person agreed to %s; submit it again", name, sanitize.RevealHidden(text))
			all = append(all, text)
		}
	}
	return all
}
