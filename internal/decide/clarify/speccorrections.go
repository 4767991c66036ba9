package clarify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// SpecCorrection is the effect of a person's answer on parts of the spec, and their replacements.
type SpecCorrection struct {
	nexus.SpecPartsCorrected

	// replacements; Instead is the id of the replaced part
	Replaced []nexus.CorrectedSpecPart `json:"replaced,omitempty"`
	Heard    bool                      `json:"-"` // the interviewer has received it
	asked    bool                      // the result was shown to the person for confirmation
}

// specPart is a part of the spec that can be withdrawn.
type specPart struct {
	id   string // empty for a note or an out-of-scope statement, which are identified by their text
	text string
}

// specParts returns the present parts of the spec, and the uncertain candidates.
func (i *InterviewState) specParts() (all []specPart) {
	for _, r := range slices.Concat(i.Requirements, i.Candidates) {
		all = append(all, specPart{r.ID, r.Text})
	}
	for _, a := range i.Assumptions {
		all = append(all, specPart{a.ID, a.Text})
	}
	for _, c := range i.Draft.Criteria {
		all = append(all, specPart{c.ID, c.Text})
	}
	for _, text := range slices.Concat(i.Draft.Notes, i.Draft.OutOfScope) {
		all = append(all, specPart{"", text})
	}
	return all
}

// partByName returns the part with that id, or the note or out-of-scope statement with that text.
func (i *InterviewState) partByName(name string) (specPart, bool) {
	if strings.TrimSpace(name) == "" {
		return specPart{}, false
	}
	all := i.specParts()
	n := slices.IndexFunc(all, func(p specPart) bool {
		return p.id != "" && strings.EqualFold(p.id, strings.TrimSpace(name)) || p.id == "" && normalizeText(p.text) == normalizeText(name)
	})
	if n < 0 {
		return specPart{}, false
	}
	return all[n], true
}

// withdrawnPart returns the withdrawn part with that id.
func (i *InterviewState) withdrawnPart(id string) (specPart, bool) {
	n := slices.IndexFunc(i.withdrawn, func(p specPart) bool { return p.id != "" && strings.EqualFold(p.id, strings.TrimSpace(id)) })
	if n < 0 {
		return specPart{}, false
	}
	return i.withdrawn[n], true
}

// refusedPart returns the part that a person called wrong in these words, unless somebody
// mentioned it again later.
func (i *InterviewState) refusedPart(text string) (nexus.CorrectedSpecPart, bool) {
	if slices.ContainsFunc(i.specParts(), func(p specPart) bool { return normalizeText(p.text) == normalizeText(text) }) {
		return nexus.CorrectedSpecPart{}, false // it was restored
	}
	for _, c := range i.Corrections {
		for _, w := range c.Withdrawn {
			if normalizeText(w.Text) == normalizeText(text) && !i.isRevived(w.ID) {
				return w, true
			}
		}
	}
	return nexus.CorrectedSpecPart{}, false
}

// isCorrected reports whether a person called the part with that id wrong.
func (i *InterviewState) isCorrected(id string) bool {
	return slices.ContainsFunc(i.Corrections, func(c SpecCorrection) bool {
		return slices.ContainsFunc(c.Withdrawn, func(w nexus.CorrectedSpecPart) bool { return w.ID == id })
	})
}

// isRevived reports whether a person, in an answer that the interviewer has not received,
// mentions a withdrawn part without calling it wrong.
func (i *InterviewState) isRevived(id string) bool {
	return slices.ContainsFunc(i.Exchanges, func(e InterviewExchange) bool {
		if e.Kind != Said || e.Heard {
			return false
		}
		v := parsePartJudgement(visibleText(e.Answer))
		return slices.Contains(v.right, id) || slices.Contains(v.unclear, id)
	})
}

// withdrawPart removes a part from the visible spec. Its id stays reserved.
func (i *InterviewState) withdrawPart(p specPart) {
	i.removePart(p.id, p.text)
	i.withdrawn = append(slices.Clip(i.withdrawn), p)
}

// removePart removes the part with an id, or the note or out-of-scope statement with a text.
func (i *InterviewState) removePart(id, text string) {
	if id == "" {
		same := func(o string) bool { return normalizeText(o) == normalizeText(text) }
		i.Draft.Notes = slices.DeleteFunc(slices.Clone(i.Draft.Notes), same)
		i.Draft.OutOfScope = slices.DeleteFunc(slices.Clone(i.Draft.OutOfScope), same)
		return
	}
	same := func(o nexus.Requirement) bool { return o.ID == id }
	i.Requirements = slices.DeleteFunc(slices.Clone(i.Requirements), same)
	i.Candidates = slices.DeleteFunc(slices.Clone(i.Candidates), same)
	i.Assumptions = slices.DeleteFunc(slices.Clone(i.Assumptions), func(a InterviewAssumption) bool { return a.ID == id })
	i.Draft.Criteria = slices.DeleteFunc(slices.Clone(i.Draft.Criteria), func(c nexus.InterviewCriterion) bool { return c.ID == id })
	i.fixed = slices.DeleteFunc(slices.Clone(i.fixed), func(o string) bool { return o == id })
}

// applyCorrection applies the effect of a person's answer.
func (i *InterviewState) applyCorrection(f nexus.SpecPartsCorrected) {
	for _, w := range f.Withdrawn {
		for _, a := range i.Assumptions {
			if a.ID == w.ID && a.Question != "" {
				i.answerInsteadOfAssumption(a.Question, w.Instead, f.By)
			}
		}
		i.withdrawPart(specPart{w.ID, w.Text})
	}
	for _, id := range f.Locked {
		for n := range i.Assumptions {
			i.Assumptions[n].Locked = i.Assumptions[n].Locked || i.Assumptions[n].ID == id
		}
	}
	i.fixed = append(slices.Clip(i.fixed), f.Locked...)
	i.kept = append(slices.Clip(i.kept), f.Kept...)
	i.Corrections = append(slices.Clip(i.Corrections), SpecCorrection{SpecPartsCorrected: f})
	if len(f.Withdrawn)+len(f.Unclear) > 0 {
		i.locked = false // the result is shown to the person
	}
}

// answerInsteadOfAssumption makes a person's replacement of a default the answer to its question.
func (i *InterviewState) answerInsteadOfAssumption(key, instead, by string) {
	i.Exchanges = slices.Clone(i.Exchanges)
	for n := range i.Exchanges {
		e := &i.Exchanges[n]
		switch {
		case e.Key != key:
		case instead == "":
			e.Kind, e.Answer, e.By, e.Heard, e.taken = Denied, "", by, false, true
		default:
			e.Kind, e.Answer, e.By, e.Heard, e.taken = Said, instead, by, false, true
		}
	}
}

// noteReplacement records the replacement of a part that a person called wrong.
func (i *InterviewState) noteReplacement(id, text, instead string) {
	if instead == "" {
		return
	}
	i.Corrections = slices.Clone(i.Corrections)
	for n := len(i.Corrections) - 1; n >= 0; n-- {
		c := &i.Corrections[n]
		if slices.ContainsFunc(c.Withdrawn, func(w nexus.CorrectedSpecPart) bool { return w.ID == instead }) {
			others := slices.DeleteFunc(slices.Clone(c.Replaced), func(p nexus.CorrectedSpecPart) bool { return p.ID == id })
			c.Replaced = append(others, nexus.CorrectedSpecPart{ID: id, Text: text, Instead: instead})
			return
		}
	}
}

// correctionFacts returns the facts that follow from people's statements about parts of the spec.
// Each answer leads to at most one.
func (i *InterviewState) correctionFacts() []nexus.Fact {
	for _, e := range i.Exchanges {
		done := slices.ContainsFunc(i.Corrections, func(c SpecCorrection) bool { return c.Question == e.ID })
		if done || e.Heard || e.taken || e.Kind != Said || slices.Contains(e.Choices, e.Answer) {
			continue
		}
		if f, does := i.correctionFrom(e); does {
			return []nexus.Fact{f}
		}
	}
	return nil
}

// correctionFrom returns the effect of an answer on the parts that it names, or false if it names
// none. An answer to another question locks the rest only if it names a part.
func (i *InterviewState) correctionFrom(e InterviewExchange) (nexus.SpecPartsCorrected, bool) {
	v := parsePartJudgement(visibleText(e.Answer))
	f := nexus.SpecPartsCorrected{Attempt: i.Attempt, Question: e.ID, By: e.By}
	var named []string
	for _, w := range v.wrong {
		if p, ok := i.partByName(w.id); ok {
			named = append(named, p.id)
			f.Withdrawn = append(f.Withdrawn, nexus.CorrectedSpecPart{ID: p.id, Text: p.text, Instead: w.instead})
		}
	}
	for _, id := range v.unclear {
		if p, ok := i.partByName(id); ok {
			named = append(named, p.id)
			f.Unclear = append(f.Unclear, nexus.CorrectedSpecPart{ID: p.id, Text: p.text})
		}
	}
	for _, id := range v.right {
		if p, ok := i.partByName(id); ok {
			named = append(named, p.id)
			f.Locked = append(f.Locked, p.id)
		}
	}
	if v.rest && (len(named) > 0 || e.Key == LockKey) {
		i.lockUnnamedParts(&f, named)
	}
	return f, len(f.Withdrawn)+len(f.Unclear)+len(f.Locked)+len(f.Kept) > 0
}

// lockUnnamedParts locks all parts of the spec that are not named. Uncertain candidates are not in
// the spec.
func (i *InterviewState) lockUnnamedParts(f *nexus.SpecPartsCorrected, named []string) {
	for _, p := range i.specParts() {
		switch {
		case slices.ContainsFunc(i.Candidates, func(r nexus.Requirement) bool { return r.ID == p.id }):
		case p.id == "" && !slices.Contains(f.Kept, p.text):
			f.Kept = append(f.Kept, p.text)
		case p.id != "" && !slices.Contains(named, p.id):
			f.Locked = append(f.Locked, p.id)
		}
	}
}

// isLockedPart reports whether the interviewer may not change a part: a person agreed to it,
// and it was not mentioned since.
func (i *InterviewState) isLockedPart(p specPart) bool {
	if p.id == "" {
		return slices.ContainsFunc(i.kept, func(o string) bool { return normalizeText(o) == normalizeText(p.text) }) && !i.hasRevisedAnswer()
	}
	agreed := func(a InterviewAssumption) bool { return a.ID == p.id && a.Locked }
	locked := slices.Contains(i.fixed, p.id) || slices.ContainsFunc(i.Assumptions, agreed)
	return locked && !i.hasRevisedAnswer() && !i.isMentionedSince(p.id)
}

// UnchangeableParts returns the ids of the parts that the interviewer may not change, and the texts of
// those without an id.
func (i *InterviewState) UnchangeableParts() (all []string) {
	for _, p := range i.specParts() {
		if i.isLockedPart(p) {
			all = append(all, cmp.Or(p.id, sanitize.RevealHidden(p.text)))
		}
	}
	return all
}

// hasRevisedAnswer reports whether a person changed an earlier answer and the interviewer has not
// received the new one: the consequences of the old answer are unknown then.
func (i *InterviewState) hasRevisedAnswer() bool {
	return slices.ContainsFunc(i.Exchanges, func(e InterviewExchange) bool {
		return e.Kind == Said && !e.Heard && e.Key != LockKey && e.Before != "" && e.Before != e.Answer
	})
}

// isMentionedSince reports whether a person mentioned a part in an answer that the interviewer has not
// received, or answered a question that names it. The words that withdrew or locked it do not
// count.
func (i *InterviewState) isMentionedSince(id string) bool {
	return slices.ContainsFunc(i.Exchanges, func(e InterviewExchange) bool {
		if e.Kind != Said || e.Heard {
			return false
		}
		names := func(text string) bool {
			return slices.ContainsFunc(partMentions(visibleText(text)), func(n specPartMention) bool { return n.id == id })
		}
		did := slices.ContainsFunc(i.Corrections, func(c SpecCorrection) bool {
			withdrawn := slices.ContainsFunc(c.Withdrawn, func(w nexus.CorrectedSpecPart) bool { return w.ID == id })
			return c.Question == e.ID && (withdrawn || slices.Contains(c.Locked, id))
		})
		return !did && (names(e.Answer) || e.Key != LockKey && names(e.Text))
	})
}

// unreplacedParts returns people's corrections that nothing has replaced yet.
func (i *InterviewState) unreplacedParts() (all []nexus.CorrectedSpecPart) {
	for _, c := range i.Corrections {
		for _, w := range c.Withdrawn {
			replaced := slices.ContainsFunc(c.Replaced, func(p nexus.CorrectedSpecPart) bool { return p.Instead == w.ID })
			if !c.Heard && !replaced && w.Instead != "" {
				all = append(all, w)
			}
		}
	}
	return all
}

// requirementFactsInWords returns the facts that turn people's corrections into requirements, in their own
// words.
func (i *InterviewState) requirementFactsInWords(except []string) (fs []nexus.Fact) {
	after := i.Clone()
	for _, w := range after.unreplacedParts() {
		if slices.Contains(except, w.ID) || after.sameRequirement(nexus.Requirement{Text: w.Instead}) != nil {
			continue
		}
		f := nexus.RequirementCaptured{Attempt: i.Attempt, Instead: w.ID}
		f.Requirement = nexus.Requirement{
			ID: "REQ-" + strconv.Itoa(after.captured+1), Text: w.Instead, Quote: w.Instead,
			Category: parseCategory(""), Priority: parsePriority(""), Confidence: 1,
		}
		after.Apply(f)
		fs = append(fs, f)
	}
	return fs
}

// numberCriteria gives criteria the ids of existing criteria with the same text, and new ids to the
// others.
func (i *InterviewState) numberCriteria(all []nexus.InterviewCriterion) []nexus.InterviewCriterion {
	out, next := slices.Clone(all), i.shown
	for n := range out {
		if out[n].ID != "" {
			continue
		}
		k := slices.IndexFunc(i.Draft.Criteria, func(was nexus.InterviewCriterion) bool {
			taken := slices.ContainsFunc(out, func(o nexus.InterviewCriterion) bool { return o.ID == was.ID })
			return !taken && normalizeText(was.Text) == normalizeText(out[n].Text)
		})
		if k >= 0 {
			out[n].ID = i.Draft.Criteria[k].ID
			continue
		}
		next++
		out[n].ID = "AC-" + strconv.Itoa(next)
	}
	return out
}

// SummaryLines returns the effect of a correction and its result, one line each.
func (c SpecCorrection) SummaryLines() (all []string) {
	for _, w := range c.Withdrawn {
		all = append(all, fmt.Sprintf("withdrawn %s: %s", w.ID, w.Text))
		for _, p := range c.Replaced {
			if p.Instead == w.ID {
				all = append(all, fmt.Sprintf("instead %s: %s", p.ID, p.Text))
			}
		}
	}
	for _, u := range c.Unclear {
		all = append(all, fmt.Sprintf("not clear %s: %s", u.ID, u.Text))
	}
	if locked := AgreedPartsText(c.SpecPartsCorrected); locked != "" {
		all = append(all, "locked "+locked)
	}
	return all
}

// AgreedPartsText returns a line with the parts that a person agreed to, or "".
func AgreedPartsText(f nexus.SpecPartsCorrected) string {
	names := slices.Clone(f.Locked)
	if len(f.Kept) > 0 {
		names = append(names, "notes and out of scope")
	}
	return strings.Join(names, ", ")
}

// correctionOutcomes returns the results of corrections that the person has not confirmed.
func (i *InterviewState) correctionOutcomes() (all []string) {
	for _, c := range i.Corrections {
		if !c.asked && len(c.Withdrawn)+len(c.Unclear) > 0 {
			all = append(all, c.SummaryLines()...)
		}
	}
	return all
}
