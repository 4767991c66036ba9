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

// Correction is the effect of a person's answer on parts of the spec, and their replacements.
type Correction struct {
	nexus.InterviewCorrected

	// replacements; Instead is the id of the replaced part
	Replaced []nexus.CorrectedPart `json:"replaced,omitempty"`
	Heard    bool                  `json:"-"` // the interviewer has received it
	asked    bool                  // the result was shown to the person for confirmation
}

// part is a part of the spec that can be withdrawn.
type part struct {
	id   string // empty for a note or an out-of-scope statement, which are identified by their text
	text string
}

// parts returns the present parts of the spec, and the uncertain candidates.
func (i *Interview) parts() (all []part) {
	for _, r := range slices.Concat(i.Requirements, i.Candidates) {
		all = append(all, part{r.ID, r.Text})
	}
	for _, a := range i.Assumptions {
		all = append(all, part{a.ID, a.Text})
	}
	for _, c := range i.Draft.Criteria {
		all = append(all, part{c.ID, c.Text})
	}
	for _, text := range slices.Concat(i.Draft.Notes, i.Draft.OutOfScope) {
		all = append(all, part{"", text})
	}
	return all
}

// part returns the part with that id, or the note or out-of-scope statement with that text.
func (i *Interview) part(name string) (part, bool) {
	if strings.TrimSpace(name) == "" {
		return part{}, false
	}
	all := i.parts()
	n := slices.IndexFunc(all, func(p part) bool {
		return p.id != "" && strings.EqualFold(p.id, strings.TrimSpace(name)) || p.id == "" && norm(p.text) == norm(name)
	})
	if n < 0 {
		return part{}, false
	}
	return all[n], true
}

// withdrawnPart returns the withdrawn part with that id.
func (i *Interview) withdrawnPart(id string) (part, bool) {
	n := slices.IndexFunc(i.withdrawn, func(p part) bool { return p.id != "" && strings.EqualFold(p.id, strings.TrimSpace(id)) })
	if n < 0 {
		return part{}, false
	}
	return i.withdrawn[n], true
}

// refused returns the part that a person called wrong in these words, unless somebody
// mentioned it again later.
func (i *Interview) refused(text string) (nexus.CorrectedPart, bool) {
	if slices.ContainsFunc(i.parts(), func(p part) bool { return norm(p.text) == norm(text) }) {
		return nexus.CorrectedPart{}, false // it was restored
	}
	for _, c := range i.Corrections {
		for _, w := range c.Withdrawn {
			if norm(w.Text) == norm(text) && !i.revived(w.ID) {
				return w, true
			}
		}
	}
	return nexus.CorrectedPart{}, false
}

// corrects reports whether a person called the part with that id wrong.
func (i *Interview) corrects(id string) bool {
	return slices.ContainsFunc(i.Corrections, func(c Correction) bool {
		return slices.ContainsFunc(c.Withdrawn, func(w nexus.CorrectedPart) bool { return w.ID == id })
	})
}

// revived reports whether a person, in an answer that the interviewer has not received,
// mentions a withdrawn part without calling it wrong.
func (i *Interview) revived(id string) bool {
	return slices.ContainsFunc(i.Exchanges, func(e Exchange) bool {
		if e.Kind != Said || e.Heard {
			return false
		}
		v := parseVerdict(visible(e.Answer))
		return slices.Contains(v.right, id) || slices.Contains(v.unclear, id)
	})
}

// withdraw removes a part from the visible spec. Its id stays reserved.
func (i *Interview) withdraw(p part) {
	i.drop(p.id, p.text)
	i.withdrawn = append(slices.Clip(i.withdrawn), p)
}

// drop removes the part with an id, or the note or out-of-scope statement with a text.
func (i *Interview) drop(id, text string) {
	if id == "" {
		same := func(o string) bool { return norm(o) == norm(text) }
		i.Draft.Notes = slices.DeleteFunc(slices.Clone(i.Draft.Notes), same)
		i.Draft.OutOfScope = slices.DeleteFunc(slices.Clone(i.Draft.OutOfScope), same)
		return
	}
	same := func(o nexus.Requirement) bool { return o.ID == id }
	i.Requirements = slices.DeleteFunc(slices.Clone(i.Requirements), same)
	i.Candidates = slices.DeleteFunc(slices.Clone(i.Candidates), same)
	i.Assumptions = slices.DeleteFunc(slices.Clone(i.Assumptions), func(a Assumption) bool { return a.ID == id })
	i.Draft.Criteria = slices.DeleteFunc(slices.Clone(i.Draft.Criteria), func(c nexus.InterviewCriterion) bool { return c.ID == id })
	i.fixed = slices.DeleteFunc(slices.Clone(i.fixed), func(o string) bool { return o == id })
}

// correct applies the effect of a person's answer.
func (i *Interview) correct(f nexus.InterviewCorrected) {
	for _, w := range f.Withdrawn {
		for _, a := range i.Assumptions {
			if a.ID == w.ID && a.Question != "" {
				i.unassume(a.Question, w.Instead, f.By)
			}
		}
		i.withdraw(part{w.ID, w.Text})
	}
	for _, id := range f.Locked {
		for n := range i.Assumptions {
			i.Assumptions[n].Locked = i.Assumptions[n].Locked || i.Assumptions[n].ID == id
		}
	}
	i.fixed = append(slices.Clip(i.fixed), f.Locked...)
	i.kept = append(slices.Clip(i.kept), f.Kept...)
	i.Corrections = append(slices.Clip(i.Corrections), Correction{InterviewCorrected: f})
	if len(f.Withdrawn)+len(f.Unclear) > 0 {
		i.locked = false // the result is shown to the person
	}
}

// unassume makes a person's replacement of a default the answer to its question.
func (i *Interview) unassume(key, instead, by string) {
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

// replaced records the replacement of a part that a person called wrong.
func (i *Interview) replaced(id, text, instead string) {
	if instead == "" {
		return
	}
	i.Corrections = slices.Clone(i.Corrections)
	for n := len(i.Corrections) - 1; n >= 0; n-- {
		c := &i.Corrections[n]
		if slices.ContainsFunc(c.Withdrawn, func(w nexus.CorrectedPart) bool { return w.ID == instead }) {
			others := slices.DeleteFunc(slices.Clone(c.Replaced), func(p nexus.CorrectedPart) bool { return p.ID == id })
			c.Replaced = append(others, nexus.CorrectedPart{ID: id, Text: text, Instead: instead})
			return
		}
	}
}

// corrections returns the facts that follow from people's statements about parts of the spec.
// Each answer leads to at most one.
func (i *Interview) corrections() []nexus.Fact {
	for _, e := range i.Exchanges {
		done := slices.ContainsFunc(i.Corrections, func(c Correction) bool { return c.Question == e.ID })
		if done || e.Heard || e.taken || e.Kind != Said || slices.Contains(e.Choices, e.Answer) {
			continue
		}
		if f, does := i.corrected(e); does {
			return []nexus.Fact{f}
		}
	}
	return nil
}

// corrected returns the effect of an answer on the parts that it names, or false if it names
// none. An answer to another question locks the rest only if it names a part.
func (i *Interview) corrected(e Exchange) (nexus.InterviewCorrected, bool) {
	v := parseVerdict(visible(e.Answer))
	f := nexus.InterviewCorrected{Attempt: i.Attempt, Question: e.ID, By: e.By}
	var named []string
	for _, w := range v.wrong {
		if p, ok := i.part(w.id); ok {
			named = append(named, p.id)
			f.Withdrawn = append(f.Withdrawn, nexus.CorrectedPart{ID: p.id, Text: p.text, Instead: w.instead})
		}
	}
	for _, id := range v.unclear {
		if p, ok := i.part(id); ok {
			named = append(named, p.id)
			f.Unclear = append(f.Unclear, nexus.CorrectedPart{ID: p.id, Text: p.text})
		}
	}
	for _, id := range v.right {
		if p, ok := i.part(id); ok {
			named = append(named, p.id)
			f.Locked = append(f.Locked, p.id)
		}
	}
	if v.rest && (len(named) > 0 || e.Key == LockKey) {
		i.lockRest(&f, named)
	}
	return f, len(f.Withdrawn)+len(f.Unclear)+len(f.Locked)+len(f.Kept) > 0
}

// lockRest locks all parts of the spec that are not named. Uncertain candidates are not in
// the spec.
func (i *Interview) lockRest(f *nexus.InterviewCorrected, named []string) {
	for _, p := range i.parts() {
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
func (i *Interview) isLockedPart(p part) bool {
	if p.id == "" {
		return slices.ContainsFunc(i.kept, func(o string) bool { return norm(o) == norm(p.text) }) && !i.revised()
	}
	agreed := func(a Assumption) bool { return a.ID == p.id && a.Locked }
	locked := slices.Contains(i.fixed, p.id) || slices.ContainsFunc(i.Assumptions, agreed)
	return locked && !i.revised() && !i.spoken(p.id)
}

// Locked returns the ids of the parts that the interviewer may not change, and the texts of
// those without an id.
func (i *Interview) Locked() (all []string) {
	for _, p := range i.parts() {
		if i.isLockedPart(p) {
			all = append(all, cmp.Or(p.id, sanitize.Show(p.text)))
		}
	}
	return all
}

// revised reports whether a person changed an earlier answer and the interviewer has not
// received the new one: the consequences of the old answer are unknown then.
func (i *Interview) revised() bool {
	return slices.ContainsFunc(i.Exchanges, func(e Exchange) bool {
		return e.Kind == Said && !e.Heard && e.Key != LockKey && e.Before != "" && e.Before != e.Answer
	})
}

// spoken reports whether a person mentioned a part in an answer that the interviewer has not
// received, or answered a question that names it. The words that withdrew or locked it do not
// count.
func (i *Interview) spoken(id string) bool {
	return slices.ContainsFunc(i.Exchanges, func(e Exchange) bool {
		if e.Kind != Said || e.Heard {
			return false
		}
		names := func(text string) bool {
			return slices.ContainsFunc(mentions(visible(text)), func(n partMention) bool { return n.id == id })
		}
		did := slices.ContainsFunc(i.Corrections, func(c Correction) bool {
			withdrawn := slices.ContainsFunc(c.Withdrawn, func(w nexus.CorrectedPart) bool { return w.ID == id })
			return c.Question == e.ID && (withdrawn || slices.Contains(c.Locked, id))
		})
		return !did && (names(e.Answer) || e.Key != LockKey && names(e.Text))
	})
}

// waiting returns people's corrections that nothing has replaced yet.
func (i *Interview) waiting() (all []nexus.CorrectedPart) {
	for _, c := range i.Corrections {
		for _, w := range c.Withdrawn {
			replaced := slices.ContainsFunc(c.Replaced, func(p nexus.CorrectedPart) bool { return p.Instead == w.ID })
			if !c.Heard && !replaced && w.Instead != "" {
				all = append(all, w)
			}
		}
	}
	return all
}

// inWords returns the facts that turn people's corrections into requirements, in their own
// words.
func (i *Interview) inWords(except []string) (fs []nexus.Fact) {
	after := i.Clone()
	for _, w := range after.waiting() {
		if slices.Contains(except, w.ID) || after.like(nexus.Requirement{Text: w.Instead}) != nil {
			continue
		}
		f := nexus.RequirementCaptured{Attempt: i.Attempt, Instead: w.ID}
		f.Requirement = nexus.Requirement{
			ID: "REQ-" + strconv.Itoa(after.captured+1), Text: w.Instead, Quote: w.Instead,
			Category: category(""), Priority: priority(""), Confidence: 1,
		}
		after.Apply(f)
		fs = append(fs, f)
	}
	return fs
}

// number gives criteria the ids of existing criteria with the same text, and new ids to the
// others.
func (i *Interview) number(all []nexus.InterviewCriterion) []nexus.InterviewCriterion {
	out, next := slices.Clone(all), i.shown
	for n := range out {
		if out[n].ID != "" {
			continue
		}
		k := slices.IndexFunc(i.Draft.Criteria, func(was nexus.InterviewCriterion) bool {
			taken := slices.ContainsFunc(out, func(o nexus.InterviewCriterion) bool { return o.ID == was.ID })
			return !taken && norm(was.Text) == norm(out[n].Text)
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

// Lines returns the effect of a correction and its result, one line each.
func (c Correction) Lines() (all []string) {
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
	if locked := Locks(c.InterviewCorrected); locked != "" {
		all = append(all, "locked "+locked)
	}
	return all
}

// Locks returns a line with the parts that a person agreed to, or "".
func Locks(f nexus.InterviewCorrected) string {
	names := slices.Clone(f.Locked)
	if len(f.Kept) > 0 {
		names = append(names, "notes and out of scope")
	}
	return strings.Join(names, ", ")
}

// outcome returns the results of corrections that the person has not confirmed.
func (i *Interview) outcome() (all []string) {
	for _, c := range i.Corrections {
		if !c.asked && len(c.Withdrawn)+len(c.Unclear) > 0 {
			all = append(all, c.Lines()...)
		}
	}
	return all
}
