// Package clarify decides which questions a person gets before a plan is made: whether a goal
// is vague, which question is next, how to understand an answer, and which requirements and
// assumptions follow.
//
// An interview is folded from facts alone, so it continues after a crash, days later, and
// with answers from any channel.
package clarify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// Limits of an interview.
const (
	Sure         = 0.7 // minimum confidence of a requirement that counts
	Unsaid       = 0.5 // confidence if the interviewer gives none
	MaxQuestions = 12  // over all rounds
	MaxPerRound  = 4
	MaxRounds    = 8
	maxGaps      = 3
)

// LockKey is the key of the question whether the assumptions are right.
const LockKey = "lock"

// InterviewAnswerKind is the kind of an answer.
type InterviewAnswerKind string

// Values of Kind.
const (
	Said    InterviewAnswerKind = "said"    // a choice, or a person's own words
	Skipped InterviewAnswerKind = "skipped" // a person skipped it
	Assumed InterviewAnswerKind = "assumed" // it was not answered
	Denied  InterviewAnswerKind = "denied"  // a person called the default wrong without a replacement
)

// AskedInterviewQuestion is a question and the number of times that it was asked.
type AskedInterviewQuestion struct {
	nexus.InterviewQuestion

	Before string   `json:"before,omitzero"` // the earlier answer, if a person went back to the question
	Note   string   `json:"-"`               // text to show first
	Asked  int      `json:"-"`               // times that it was asked before
	IDs    []string `json:"-"`               // IDs of the run's earlier questions that asked it
}

// InterviewExchange is a question with its answer.
type InterviewExchange struct {
	AskedInterviewQuestion

	ID     string              `json:"id"`     // "q3": the ID of the run's question
	Answer string              `json:"answer"` // the choice's text if a choice was selected
	Kind   InterviewAnswerKind `json:"kind"`
	By     string              `json:"by,omitzero"` // person or program that answered; empty: not answered
	Heard  bool                `json:"-"`           // the interviewer has received it
	taken  bool                // it follows from a correction
}

// InterviewAssumption is an assumption, with its question.
type InterviewAssumption struct {
	spec.SpecAssumption

	Question string `json:"question,omitzero"` // key of the question; empty: the interviewer's own assumption
}

// InterviewState is the state of an interview. The zero value has not begun.
type InterviewState struct {
	Attempt      nexus.AttemptID
	Goal         string
	Rounds       int  // rounds of the interviewer with a result
	Tries        int  // attempts without a result: the next process starts another one
	Clear        bool // the goal needed no question
	Ended        bool // a person wants no further questions
	Paused       bool // until the run is continued
	Failed       string
	Outcome      nexus.Outcome // why it failed, as an outcome if it has one
	Draft        nexus.InterviewSpecDraft
	Requirements []nexus.Requirement // requirements that count
	Candidates   []nexus.Requirement // uncertain requirements
	Assumptions  []InterviewAssumption
	Exchanges    []InterviewExchange // the last answer to each question, in the order of answers
	Corrections  []SpecCorrection    // effects of people's answers on parts of the spec, in the order of answers

	queue    []AskedInterviewQuestion // questions to ask, the next one first
	open     string                   // ID of the run's open question
	asked    int                      // number of different questions
	captured int                      // number of requirements, including withdrawn ones
	stated   int                      // number of assumptions
	locked   bool                     // the question whether the assumptions are right was asked

	withdrawn []specPart // their ids stay reserved
	fixed     []string   // ids that people agreed to
	kept      []string   // texts without an id that people agreed to
	shown     int        // highest number of a criterion
}

// Apply applies a fact. It ignores facts about anything else.
func (i *InterviewState) Apply(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.GoalAccepted:
		if f.Goal.Mode == nexus.Interview {
			i.Goal = f.Goal.Text
		}
	case nexus.InterviewRoundStarted:
		i.Attempt, i.Failed, i.Outcome = f.Attempt, "", ""
	case nexus.InterviewRoundEnded:
		i.applyRoundResult(f)
	case nexus.InterviewRoundFailed:
		i.Failed, i.Outcome = f.Why, f.Outcome
	case nexus.RequirementCaptured:
		i.applyRequirement(f)
	case nexus.RequirementWithdrawn:
		if p, ok := i.partByName(f.ID); ok {
			i.withdrawPart(p)
		}
	case nexus.SpecPartWithdrawn:
		i.withdrawPart(specPart{f.ID, f.Text})
	case nexus.SpecPartsCorrected:
		i.applyCorrection(f)
	case nexus.AssumptionStated:
		if f.Attempt == i.Attempt { // a plan has its own assumptions
			i.applyAssumption(f)
		}
	case nexus.AssumptionConfirmed:
		for n := range i.Assumptions {
			if i.Assumptions[n].ID == f.ID {
				i.Assumptions[n].Locked = true
			}
		}
	case nexus.QuestionAsked:
		if i.Attempt != "" && f.Attempt == i.Attempt {
			i.openQuestion(f)
		}
	case nexus.QuestionExpired:
		if i.open != "" && f.ID == i.open {
			i.Paused = true
		}
	case nexus.QuestionAnswered:
		if i.open != "" && f.ID == i.open {
			i.applyAnswer(f)
		}
	case nexus.RunReopened:
		if i.Failed != "" && i.Outcome != nexus.Refused { // an interview that ran out of money continues
			i.Tries++
		}
		i.Paused, i.Failed, i.Outcome = false, "", ""
	default:
	}
}

func (i *InterviewState) applyRoundResult(f nexus.InterviewRoundEnded) {
	i.Rounds, i.Clear = f.Round, f.Clear
	d := &i.Draft
	setIfNotEmpty(&d.Title, f.Draft.Title)
	setIfNotEmpty(&d.Problem, f.Draft.Problem)
	for _, l := range []struct{ to, from *[]string }{
		{&d.Notes, &f.Draft.Notes}, {&d.OutOfScope, &f.Draft.OutOfScope}, {&d.Critique, &f.Draft.Critique},
	} {
		if len(*l.from) > 0 {
			*l.to = *l.from
		}
	}
	if len(f.Draft.Criteria) > 0 {
		d.Criteria = i.numberCriteria(f.Draft.Criteria)
	}
	for _, c := range d.Criteria {
		if n, err := strconv.Atoi(strings.TrimPrefix(c.ID, "AC-")); err == nil {
			i.shown = max(i.shown, n)
		}
	}
	i.Corrections = slices.Clone(i.Corrections)
	for n := range i.Corrections {
		i.Corrections[n].Heard = true
	}
	for n := range i.Exchanges {
		i.Exchanges[n].Heard = true
	}
	i.queue = nil
	for _, q := range f.Questions {
		i.queue = append(i.queue, AskedInterviewQuestion{InterviewQuestion: q})
	}
	i.asked += len(f.Questions)
}

func setIfNotEmpty(to *string, from string) {
	if from != "" {
		*to = from
	}
}

func (i *InterviewState) applyRequirement(f nexus.RequirementCaptured) {
	to, other := &i.Requirements, &i.Candidates
	if f.Candidate {
		to, other = other, to
	}
	r := f.Requirement
	i.noteReplacement(r.ID, r.Text, f.Instead)
	// the person did not agree to the new text
	if was := i.requirementByID(r.ID); was != nil && normalizeText(was.Text) != normalizeText(r.Text) {
		i.fixed = slices.DeleteFunc(slices.Clone(i.fixed), func(id string) bool { return id == r.ID })
	}
	same := func(o nexus.Requirement) bool { return o.ID == r.ID }
	if !slices.ContainsFunc(i.Requirements, same) && !slices.ContainsFunc(i.Candidates, same) {
		i.captured++
	}
	*other = slices.DeleteFunc(slices.Clone(*other), same)
	if n := slices.IndexFunc(*to, same); n >= 0 {
		*to = slices.Clone(*to)
		(*to)[n] = r
		return
	}
	*to = append(slices.Clip(*to), r)
}

func (i *InterviewState) applyAssumption(f nexus.AssumptionStated) {
	i.stated++
	i.noteReplacement(f.ID, f.Text, f.Instead)
	a := InterviewAssumption{spec.SpecAssumption{ID: f.ID, Text: f.Text}, f.Question}
	i.Assumptions = slices.DeleteFunc(slices.Clone(i.Assumptions), func(o InterviewAssumption) bool {
		return o.ID == f.ID || f.Question != "" && o.Question == f.Question
	})
	i.Assumptions = append(i.Assumptions, a)
}

// openQuestion makes a question that was asked the open one. Nexus itself asks the last question,
// whether the assumptions are right.
func (i *InterviewState) openQuestion(f nexus.QuestionAsked) {
	i.open, i.Paused = f.ID, false
	key, _, _ := strings.Cut(f.Mark, "#")
	if key == LockKey && !slices.ContainsFunc(i.queue, func(q AskedInterviewQuestion) bool { return q.Key == LockKey }) {
		i.queue = append(i.queue, i.lockQuestion())
	}
	if key == LockKey {
		i.locked = true
		i.Corrections = slices.Clone(i.Corrections)
		for n := range i.Corrections {
			i.Corrections[n].asked = true
		}
	}
	if n := slices.IndexFunc(i.queue, func(q AskedInterviewQuestion) bool { return q.Key == key }); n > 0 {
		q := i.queue[n]
		i.queue = slices.Insert(slices.Delete(slices.Clone(i.queue), n, n+1), 0, q)
	}
}

// applyAnswer applies the answer to the open question, or executes the command that a person gave
// instead.
func (i *InterviewState) applyAnswer(f nexus.QuestionAnswered) {
	id := i.open
	i.open = ""
	if len(i.queue) == 0 {
		return
	}
	q := i.queue[0]
	q.Asked, q.Note, q.IDs = q.Asked+1, "", append(slices.Clip(q.IDs), id)
	i.queue = slices.Clone(i.queue[1:])
	if f.By == "fallback" {
		i.addExchange(InterviewExchange{AskedInterviewQuestion: q, ID: id, Answer: q.Default, Kind: Assumed})
		return
	}
	switch ParseAnswerCommand(f.Text) {
	case Back:
		i.reaskQuestion(q, BackTarget(f.Text))
	case Skip:
		i.addExchange(InterviewExchange{AskedInterviewQuestion: q, ID: id, Answer: q.Default, Kind: Skipped, By: f.By})
	case End:
		i.Ended = true
		for _, left := range append([]AskedInterviewQuestion{q}, i.queue...) {
			i.addExchange(InterviewExchange{AskedInterviewQuestion: left, ID: id, Answer: left.Default, Kind: Assumed})
		}
		i.queue = nil
	default:
		i.addExchange(InterviewExchange{AskedInterviewQuestion: q, ID: id, Answer: ResolveChoice(q.Choices, f.Text), Kind: Said, By: f.By})
	}
}

// addExchange stores an answer. It ends the assumption that replaced the answer.
func (i *InterviewState) addExchange(e InterviewExchange) {
	i.Exchanges = append(slices.DeleteFunc(slices.Clone(i.Exchanges), func(o InterviewExchange) bool {
		return o.Key == e.Key && (o.Key != LockKey || o.isSettled()) // a person's own words are kept
	}), e)
	if e.Kind == Said {
		i.Assumptions = slices.DeleteFunc(slices.Clone(i.Assumptions), func(a InterviewAssumption) bool { return a.Question == e.Key })
	}
}

// reaskQuestion asks an earlier question again, and then this one. To is the ID under which it was
// asked; empty: the question before.
func (i *InterviewState) reaskQuestion(q AskedInterviewQuestion, to string) {
	n := len(i.Exchanges) - 1
	if to != "" {
		n = slices.IndexFunc(i.Exchanges, func(e InterviewExchange) bool { return slices.Contains(e.IDs, to) })
	}
	switch {
	case n < 0 && to != "":
		q.Note = "There is no answer to " + sanitize.RevealHidden(to) + " to go back to."
	case n < 0:
		q.Note = "There is no question before this one."
	case q.Key == LockKey: // the assumptions may be different then
		i.queue, i.locked = []AskedInterviewQuestion{i.removeAnswer(n)}, false
		return
	default:
		i.queue = slices.Insert(i.queue, 0, i.removeAnswer(n), q)
		return
	}
	i.queue = slices.Insert(i.queue, 0, q)
}

// removeAnswer removes an answer and returns its question.
func (i *InterviewState) removeAnswer(n int) AskedInterviewQuestion {
	last := i.Exchanges[n]
	i.Exchanges = slices.Delete(slices.Clone(i.Exchanges), n, n+1)
	q := last.AskedInterviewQuestion
	if q.Key == LockKey { // some of the parts that it named may be withdrawn
		q.InterviewQuestion = i.lockQuestion().InterviewQuestion
	}
	q.Before, q.Note = last.Answer, fmt.Sprintf("Your answer was %q.", last.Answer)
	return q
}

// CurrentQuestion returns the open question, or nil if there is none.
func (i *InterviewState) CurrentQuestion() *AskedInterviewQuestion {
	if i.open == "" || len(i.queue) == 0 {
		return nil
	}
	return &i.queue[0]
}

// OpenQuestionID returns the ID of the run's open question, or "" if there is none.
func (i *InterviewState) OpenQuestionID() string { return i.open }

// Clone returns a copy that a worker may keep.
func (i *InterviewState) Clone() *InterviewState {
	if i == nil {
		return nil
	}
	c := *i
	c.Requirements, c.Candidates = slices.Clone(i.Requirements), slices.Clone(i.Candidates)
	c.Corrections = slices.Clone(i.Corrections)
	c.Assumptions, c.Exchanges, c.queue = slices.Clone(i.Assumptions), slices.Clone(i.Exchanges), slices.Clone(i.queue)
	return &c
}

// QuestionDepth returns the depth of the questions: broad, then clarifying after two answers, then
// detailed after five requirements.
func (i *InterviewState) QuestionDepth() string {
	answers := 0
	for _, e := range i.Exchanges {
		if e.Kind == Said {
			answers++
		}
	}
	switch {
	case len(i.Requirements) > 5:
		return "detailed"
	case answers > 2:
		return "clarifying"
	default:
		return "broad"
	}
}

// ExploredAreas returns the areas of requirements and questions.
func (i *InterviewState) ExploredAreas() []string {
	var all []string
	add := func(area string) {
		if area != "" && !slices.Contains(all, area) {
			all = append(all, area)
		}
	}
	for _, r := range i.Requirements {
		add(r.Area)
	}
	for _, e := range i.Exchanges {
		add(e.Area)
	}
	return all
}

// UnexploredAreas returns the first three areas without any statement, once there are three requirements
// in two areas: before that everything is a gap.
func (i *InterviewState) UnexploredAreas() []string {
	var of []string
	for _, r := range i.Requirements {
		if r.Area != "" && !slices.Contains(of, r.Area) {
			of = append(of, r.Area)
		}
	}
	if len(i.Requirements) < 3 || len(of) < 2 {
		return nil
	}
	var gaps []string
	explored := i.ExploredAreas()
	for _, area := range spec.GapAreas() {
		if !slices.Contains(explored, area) && len(gaps) < maxGaps {
			gaps = append(gaps, area)
		}
	}
	return gaps
}
