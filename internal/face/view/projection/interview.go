package projection

import (
	"cmp"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AnsweredQuestion is a question that somebody answered.
type AnsweredQuestion struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
	By       string `json:"by"`
}

// Interview is what people were asked, one question at a time, and what came of it.
type Interview struct {
	Next     *Item                `json:"next,omitempty"` // the question to answer now; nil: none waits
	Open     int                  `json:"open"`           // questions that wait, with that one
	Answered []AnsweredQuestion   `json:"answered"`
	Wanted   []nexus.Requirement  `json:"requirements"` // that an interview found
	Assumed  []clarify.Assumption `json:"assumptions"`

	Corrections []clarify.Correction `json:"corrections"` // what people's words did to the spec
}

// Interview returns what people were asked about the goal, and what they answered.
func (p *Projection) Interview(now time.Time) Interview {
	about := p.state.Interview
	t := Interview{
		Answered: []AnsweredQuestion{}, Wanted: append([]nexus.Requirement{}, about.Requirements...),
		Assumed: append([]clarify.Assumption{}, about.Assumptions...), Corrections: append([]clarify.Correction{}, about.Corrections...),
	}
	for _, i := range p.Inbox(now) {
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
