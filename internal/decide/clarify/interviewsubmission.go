package clarify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// InterviewSubmission is the interviewer's submission in a round.
type InterviewSubmission struct {
	Clear        bool               `json:"clear"` // no question is needed
	Done         bool               `json:"done"`  // no further question is needed
	Title        string             `json:"title"`
	Problem      string             `json:"problem"`
	Requirements []RequirementDraft `json:"requirements"`
	// ids of parts that are no longer valid, or texts of parts without an id
	Withdraw    []string              `json:"withdraw"`
	Replace     []SpecPartReplacement `json:"replace"`
	Assumptions []string              `json:"assumptions"`
	Questions   []QuestionDraft       `json:"questions"`

	Criteria   []CriterionDraft `json:"criteria"`
	Notes      []string         `json:"notes"`
	OutOfScope []string         `json:"out_of_scope"`
	Critique   []string         `json:"critique"`
}

// SpecPartReplacement is the replacement of a part of the spec.
type SpecPartReplacement struct {
	ID   string `json:"id"` // id of the part, or its text if it has no id
	Text string `json:"text"`
}

// CriterionDraft is a criterion as the interviewer submits it.
type CriterionDraft struct {
	Text  string   `json:"text"`
	Check string   `json:"check"`
	Of    []string `json:"of"`
	id    string   // id of the criterion that a person agreed to; empty: found by its text
}

// RequirementDraft is a requirement as the interviewer submits it.
type RequirementDraft struct {
	ID         string   `json:"id"` // id of the requirement that it replaces; empty: a new one
	Text       string   `json:"text"`
	Category   string   `json:"category"`
	Priority   string   `json:"priority"`
	Confidence *float64 `json:"confidence"`
	Area       string   `json:"area"`
	Quote      string   `json:"quote"`
	Later      *bool    `json:"later"`
	InsteadOf  string   `json:"instead_of"` // id of the part that it replaces
}

// QuestionDraft is a question as the interviewer submits it.
type QuestionDraft struct {
	Text    string   `json:"text"`
	Choices []string `json:"choices"`
	Default string   `json:"default"`
	Changes string   `json:"changes"`
	Area    string   `json:"area"`
}

// SubmissionProblems returns the problems that the interviewer must fix in another submission, a
// sentence each.
func (i *InterviewState) SubmissionProblems(h InterviewSubmission) []string {
	var all []string
	for n, r := range h.Requirements {
		if boundedLine(r.Text) == "" {
			all = append(all, fmt.Sprintf("requirements[%d] has no text", n))
		}
		if r.ID != "" && i.requirementByID(r.ID) == nil && !i.knowsPart(r.ID) {
			all = append(all, fmt.Sprintf("requirements[%d]: there is no requirement %q; leave out the id of a new one", n, r.ID))
		}
		if r.InsteadOf != "" && !i.knowsPart(r.InsteadOf) {
			all = append(all, fmt.Sprintf("requirements[%d]: there is no part %q that it could replace", n, r.InsteadOf))
		}
		if c := r.Confidence; c != nil && (*c < 0 || *c > 1) {
			all = append(all, fmt.Sprintf("requirements[%d]: the confidence is not between 0 and 1", n))
		}
	}
	for n, q := range h.Questions {
		if strings.TrimSpace(q.Changes) != "" && (boundedLine(q.Text) == "" || boundedLine(q.Default) == "") {
			all = append(all, fmt.Sprintf("questions[%d] needs a text and a default", n))
		}
	}
	for n, c := range h.Criteria {
		if strings.Contains(strings.TrimSpace(visibleText(c.Check)), "\n") {
			all = append(all, fmt.Sprintf("criteria[%d]: the check has several lines; give one command in one line", n))
		}
	}
	all = append(all, i.withdrawalProblems(h)...)
	if len(h.Replace)+len(h.Requirements)+len(h.Questions)+len(h.Withdraw) == 0 && len(i.Requirements)+len(i.Candidates) == 0 {
		all = append(all, "there is no requirement and no question: submit what the goal asks for, or what must be asked first")
	}
	return all
}

// withdrawalProblems returns the problems with withdrawn and replaced parts.
func (i *InterviewState) withdrawalProblems(h InterviewSubmission) (all []string) {
	for n, id := range h.Withdraw {
		if !i.knowsPart(id) {
			all = append(all, fmt.Sprintf("withdraw[%d]: ", n)+unknownPartText(id))
		}
	}
	for n, r := range h.Replace {
		switch {
		case !i.knowsPart(r.ID):
			all = append(all, fmt.Sprintf("replace[%d]: ", n)+unknownPartText(r.ID))
		case boundedLine(r.Text) == "":
			all = append(all, fmt.Sprintf("replace[%d] has no text; withdraw it if nothing holds instead", n))
		}
	}
	return all
}

// unknownPartText returns the message that a part does not exist.
func unknownPartText(name string) string {
	return fmt.Sprintf("there is no requirement, assumption or criterion %q, and no note or item out of scope with that text", name)
}

// knowsPart reports whether a part exists or has existed.
func (i *InterviewState) knowsPart(name string) bool {
	_, is := i.partByName(name)
	_, gone := i.withdrawnPart(name)
	return is || gone
}

// requirementByID returns the requirement with that id, even if it does not count.
func (i *InterviewState) requirementByID(id string) *nexus.Requirement {
	for _, all := range [][]nexus.Requirement{i.Requirements, i.Candidates} {
		for n := range all {
			if all[n].ID == id {
				return &all[n]
			}
		}
	}
	return nil
}

// SubmissionFacts returns the facts that follow from the interviewer's submission. It drops
// questions that change nothing in the plan, that were asked before, or that are too many. A
// known requirement counts once, with the highest confidence. A quote that the person did not
// say is dropped.
func (i *InterviewState) SubmissionFacts(round int, h InterviewSubmission) []nexus.Fact {
	after := i.Clone()
	var fs []nexus.Fact
	add := func(f nexus.Fact) {
		after.Apply(f)
		fs = append(fs, f)
	}
	s := i.filterSubmission(h)
	h = s.InterviewSubmission
	after.withdrawAndReplace(&h, add)
	for _, r := range h.Requirements {
		if r.ID != "" && after.requirementByID(r.ID) == nil { // it was just withdrawn
			r.InsteadOf, r.ID = cmp.Or(r.InsteadOf, r.ID), ""
		}
		if f, changed := after.requirementFact(r); changed {
			if p, ok := after.partByName(f.Instead); ok && p.id != f.Requirement.ID {
				add(after.withdrawalFact(p))
			}
			add(f)
		}
	}
	for _, text := range h.Assumptions {
		after.addAssumption(text, "", add)
	}
	for _, f := range after.requirementFactsInWords(s.covered) {
		add(f)
	}
	heard := nexus.InterviewRoundEnded{Attempt: i.Attempt, Round: round, Draft: after.numberedDraft(h), Done: h.Done}
	// otherwise the interviewer could not receive the answers
	if !i.Ended && !h.Done && !h.Clear && round < MaxRounds {
		heard.Questions = i.usefulQuestions(round, h.Questions)
	}
	heard.Clear = h.Clear && round == 1
	add(heard)
	return fs
}

func draftFromSubmission(h InterviewSubmission) nexus.InterviewSpecDraft {
	d := nexus.InterviewSpecDraft{
		Title: boundedLine(h.Title), Problem: strings.TrimSpace(visibleText(h.Problem)),
		Notes: nonEmptyLines(h.Notes), OutOfScope: nonEmptyLines(h.OutOfScope), Critique: nonEmptyLines(h.Critique),
	}
	for _, c := range h.Criteria {
		if text := boundedLine(c.Text); text != "" {
			check := strings.TrimSpace(visibleText(c.Check))
			d.Criteria = append(d.Criteria, nexus.InterviewCriterion{ID: c.id, Text: text, Check: check, Of: nonEmptyLines(c.Of)})
		}
	}
	return d
}

// requirementFact returns the fact for a requirement, or false if it adds nothing new. Fields that a
// replacement omits keep their values.
func (i *InterviewState) requirementFact(h RequirementDraft) (nexus.RequirementCaptured, bool) {
	was := nexus.Requirement{Confidence: Unsaid, Category: parseCategory(""), Priority: parsePriority("")}
	old := i.requirementByID(h.ID)
	if old != nil {
		was = *old
	}
	r := nexus.Requirement{
		ID: h.ID, Text: boundedLine(h.Text), Category: was.Category, Priority: was.Priority, Confidence: was.Confidence,
		Area: cmp.Or(parseArea(h.Area), was.Area), Quote: was.Quote, Later: was.Later,
	}
	if h.Category != "" {
		r.Category = parseCategory(h.Category)
	}
	if h.Priority != "" {
		r.Priority = parsePriority(h.Priority)
	}
	if h.Confidence != nil {
		r.Confidence = min(max(*h.Confidence, 0), 1)
	}
	if i.isCorrected(h.InsteadOf) {
		r.Confidence = max(r.Confidence, Sure) // a person asked for it
	}
	if h.Later != nil {
		r.Later = *h.Later
	}
	if quote := strings.TrimSpace(visibleText(h.Quote)); i.isQuoteOfPerson(quote) {
		r.Quote = quote
	}
	if old != nil && *old == r && h.InsteadOf == "" {
		return nexus.RequirementCaptured{}, false
	}
	if known := i.sameRequirement(r); r.ID == "" && known != nil {
		if i.isLockedPart(specPart{known.ID, known.Text}) || known.Confidence >= r.Confidence && h.InsteadOf == "" {
			return nexus.RequirementCaptured{}, false
		}
		r.Confidence = max(r.Confidence, known.Confidence)
		r.ID = known.ID
		r.Quote = cmp.Or(r.Quote, known.Quote)
	}
	if r.ID == "" {
		r.ID = "REQ-" + strconv.Itoa(i.captured+1)
	}
	return nexus.RequirementCaptured{Attempt: i.Attempt, Requirement: r, Candidate: r.Confidence < Sure, Instead: h.InsteadOf}, true
}

// sameRequirement returns the requirement with the same text, or nil.
func (i *InterviewState) sameRequirement(r nexus.Requirement) *nexus.Requirement {
	for _, all := range [][]nexus.Requirement{i.Requirements, i.Candidates} {
		for n := range all {
			if normalizeText(all[n].Text) == normalizeText(r.Text) {
				return &all[n]
			}
		}
	}
	return nil
}

// isQuoteOfPerson reports whether a person said it, word for word.
func (i *InterviewState) isQuoteOfPerson(quote string) bool {
	if quote = boundedLine(quote); quote == "" {
		return false
	}
	has := func(text string) bool { return strings.Contains(singleLine(text), quote) }
	return has(i.Goal) || slices.ContainsFunc(i.Exchanges, func(e InterviewExchange) bool { return e.Kind == Said && has(e.Answer) })
}

// usefulQuestions returns the questions that are worth a person's time.
func (i *InterviewState) usefulQuestions(round int, all []QuestionDraft) []nexus.InterviewQuestion {
	var out []nexus.InterviewQuestion
	seen := map[string]bool{}
	for _, e := range i.Exchanges {
		seen[normalizeText(e.Text)] = true
	}
	for _, h := range all {
		q := nexus.InterviewQuestion{
			Key: fmt.Sprintf("%d.%d", round, len(out)+1), Text: boundedLine(h.Text),
			Default: boundedLine(h.Default), Changes: strings.TrimSuffix(boundedLine(h.Changes), "."), Area: parseArea(h.Area),
		}
		if q.Changes == "" || q.Text == "" || seen[normalizeText(q.Text)] || len(out) == MaxPerRound || i.asked+len(out) >= MaxQuestions {
			continue
		}
		seen[normalizeText(q.Text)] = true
		for _, c := range h.Choices {
			if c = boundedLine(c); c != "" && !slices.Contains(q.Choices, c) && len(q.Choices) < 9 {
				q.Choices = append(q.Choices, c)
			}
		}
		q.Default = ResolveChoice(q.Choices, q.Default)
		out = append(out, q)
	}
	return out
}

// singleLine returns a text in one line, without invisible characters.
func singleLine(text string) string { return strings.Join(strings.Fields(visibleText(text)), " ") }

// visibleText returns the visible characters of a text: a spec must not contain others.
func visibleText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u2028' || r == '\u2029' || r == '\u0085':
			return '\n'
		case sanitize.IsHiddenCharacter(r):
			return -1
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "?"))
}

// boundedLine returns a text in one line, cut to a readable length.
func boundedLine(text string) string {
	text = singleLine(text)
	if r := []rune(text); len(r) > 2_000 {
		text = string(r[:2_000]) + "..."
	}
	return text
}

func nonEmptyLines(texts []string) []string {
	var all []string
	for _, t := range texts {
		if t = boundedLine(t); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// normalizeText returns a form of a text for comparison: its words in lower case, without the
// punctuation between them. Marks within words are kept, as in -1 and C++.
func normalizeText(text string) string {
	var all []string
	for w := range strings.FieldsSeq(strings.ToLower(text)) {
		if w = strings.Trim(strings.TrimRight(w, ".,;:!?"), "\"'`()"); w != "" {
			all = append(all, strings.TrimRight(w, ".,;:!?"))
		}
	}
	return strings.Join(all, " ")
}

// normalizeName returns a name in the form of the lists.
func normalizeName(text, between string) string {
	other := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	return strings.Join(strings.FieldsFunc(strings.ToLower(text), other), between)
}

// parseCategory returns the category with that name, or functional.
func parseCategory(text string) nexus.RequirementCategory {
	name := normalizeName(text, "-")
	switch name {
	case "integrations":
		return nexus.ReqIntegration
	case "nonfunctional", "quality":
		return nexus.ReqNonFunctional
	case "design":
		return nexus.ReqDesign
	case "business":
		return nexus.ReqBusiness
	}
	if c := nexus.RequirementCategory(name); slices.Contains(nexus.RequirementCategories(), c) {
		return c
	}
	return nexus.ReqFunctional
}

// parsePriority returns the priority with that name, or should.
func parsePriority(text string) nexus.RequirementPriority {
	switch normalizeName(text, "") {
	case "must", "musthave", "p0", "critical":
		return nexus.Must
	case "could", "couldhave", "p2", "p3", "medium", "low":
		return nexus.Could
	case "wont", "wonthave":
		return nexus.Wont
	default:
		return nexus.Should
	}
}

// parseArea returns the area with that name, or the person's own.
func parseArea(text string) string {
	a := normalizeName(text, "_")
	if slices.Contains(spec.GapAreas(), a) {
		return a
	}
	if r := []rune(a); len(r) > 40 {
		a = string(r[:40])
	}
	return a
}
