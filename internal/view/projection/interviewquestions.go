package projection

import (
	"cmp"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AnsweredQuestion is a question with its answer.
type AnsweredQuestion struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	By       string `json:"by"`
}

// InterviewQuestions holds the questions to people, one at a time, and the results.
type InterviewQuestions struct {
	Next     *InboxItem                    `json:"next,omitempty"` // the question to answer now; nil: none
	Open     int                           `json:"open"`           // open questions, including that one
	Answered []AnsweredQuestion            `json:"answered"`
	Wanted   []nexus.Requirement           `json:"requirements"` // requirements that an interview found
	Assumed  []clarify.InterviewAssumption `json:"assumptions"`

	Corrections []clarify.SpecCorrection `json:"corrections"` // effects of people's corrections on the spec
}

// InterviewQuestions returns the questions about the goal, and the answers.
func (p *RunProjection) InterviewQuestions(now time.Time) InterviewQuestions {
	about := p.state.Interview
	t := InterviewQuestions{
		Answered: []AnsweredQuestion{}, Wanted: append([]nexus.Requirement{}, about.Requirements...),
		Assumed: append([]clarify.InterviewAssumption{}, about.Assumptions...), Corrections: append([]clarify.SpecCorrection{}, about.Corrections...),
	}
	for _, i := range p.InboxItems(now) {
		if i.Kind != KindQuestion {
			continue
		}
		if t.Open++; t.Open == 1 {
			t.Next = &i
		}
	}
	for _, e := range about.Exchanges {
		t.Answered = append(t.Answered, AnsweredQuestion{e.Text, cmp.Or(e.Answer, "left open"), e.By})
	}
	if len(t.Answered) > 0 {
		return t
	}
	for _, q := range p.state.Questions {
		if q.By != "" && (q.Trigger == humaninput.AmbiguityTrigger || q.Trigger == humaninput.InterviewTrigger) {
			t.Answered = append(t.Answered, AnsweredQuestion{q.Text, q.Answer, q.By})
		}
	}
	return t
}
