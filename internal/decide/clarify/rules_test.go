package clarify

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestSure counts a requirement from 0.7 on, and one that is said again with no more confidence is no news.
func TestSure(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: "It is kept", Confidence: sure(0.7)}, {Text: "It is shown", Confidence: sure(0.69)}}})
	if len(c.i.Requirements) != 1 || len(c.i.Candidates) != 1 {
		t.Errorf("%+v, %+v", c.i.Requirements, c.i.Candidates)
	}
	again := c.i.SubmissionFacts(2, InterviewSubmission{Requirements: []RequirementDraft{{Text: "it is KEPT.", Confidence: sure(0.7), Priority: "must"}}})
	if len(again) != 1 { // that it was heard
		t.Errorf("%+v", again)
	}
}

// TestDone asks nothing more once the interviewer is done or the person wants no more.
func TestDone(t *testing.T) {
	for name, end := range map[string]func(*talk) InterviewSubmission{
		"done": func(*talk) InterviewSubmission { return InterviewSubmission{Done: true} },
		"ended": func(c *talk) InterviewSubmission {
			c.i.Ended = true
			return InterviewSubmission{}
		},
	} {
		c := begin(t, "an app")
		h := end(c)
		h.Requirements, h.Questions = []RequirementDraft{{Text: "x", Confidence: sure(1)}}, []QuestionDraft{query("A?", "a")}
		c.hear(h)
		if step := c.i.NextStep(false); step.Do != Over {
			t.Errorf("%s: %+v", name, step)
		}
	}
}

// TestClearLater is no word about the goal: whatever was assumed in the end, people are asked whether it holds.
func TestClearLater(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Questions: []QuestionDraft{query("A?", "a")}})
	c.answer("A?", "a")
	c.hear(InterviewSubmission{Clear: true, Requirements: []RequirementDraft{{Text: "x", Confidence: sure(1)}}, Assumptions: []string{"It is free"}})
	if step := c.i.NextStep(false); step.Do != Ask || step.Question.Key != LockKey {
		t.Errorf("%+v", step)
	}
}

// TestQuotes are words of a person: not those that were offered, and that nobody chose.
func TestQuotes(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Questions: []QuestionDraft{query("A?", "blue sky", "red sky"), query("B?", "grass", "stone")}})
	c.answer("A?", "skip")
	c.answer("B?", "green  grass")
	c.settle()
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: "a", Quote: "blue sky"}, {Text: "b", Quote: "green grass"}, {Text: "c", Quote: "stone"}}})
	var quotes []string
	for _, r := range c.i.Candidates {
		quotes = append(quotes, r.Quote)
	}
	if !slices.Equal(quotes, []string{"", "green grass", ""}) {
		t.Errorf("%q", quotes)
	}
}

// TestDefault may be the number of a choice.
func TestDefault(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Questions: []QuestionDraft{{Text: "A?", Choices: []string{"red", "blue"}, Default: "2", Changes: "it"}}})
	c.answer("2  blue (default)", "skip")
	c.settle()
	if got := c.i.Assumptions[0].Text; got != "A? blue" {
		t.Error(got)
	}
}

// TestOthers of the run ask questions and are answered, and no question of the interview is.
func TestOthers(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Questions: []QuestionDraft{query("A?", "a", "b")}})
	c.i.Apply(nexus.QuestionAsked{ID: "q1", Attempt: "T1.1", Mark: "1.1"})
	if step := c.i.NextStep(false); step.Do != Ask {
		t.Errorf("it waits for the answer to another: %+v", step)
	}
	c.i.Apply(c.i.QuestionFact(c.i.NextStep(false).Question, "q2", "interview"))
	c.i.Apply(nexus.QuestionAnswered{ID: "q1", Text: "b", By: "ada"})
	c.i.Apply(nexus.QuestionExpired{ID: "q1"})
	if step := c.i.NextStep(false); step.Do != Wait || len(c.i.Exchanges) > 0 {
		t.Errorf("another answer counts: %+v, %+v", step, c.i.Exchanges)
	}
}

// TestLockAgain asks once more whether the assumptions hold where somebody went back from that to a question.
func TestLockAgain(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: "x", Confidence: sure(1)}}, Questions: []QuestionDraft{query("A?", "a", "b")}})
	c.answer("A?", "skip")
	c.answer("A-1: A? a", "back")
	c.answer("A?", "skip")
	c.answer("A-1: A? a", "1")
	c.settle()
	if step := c.i.NextStep(false); step.Do != Over || !c.i.Assumptions[0].Locked {
		t.Errorf("%+v, %+v", step, c.i.Assumptions)
	}
}

// TestRounds are no more than eight, and the last one asks nothing: nobody would hear the answer.
func TestRounds(t *testing.T) {
	c := begin(t, "an app")
	for round := range MaxRounds {
		c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: fmt.Sprint("r", round), Confidence: sure(1)}}, Questions: []QuestionDraft{query(fmt.Sprint("Question ", round), "a")}})
		if round < MaxRounds-1 {
			c.answer("Question", "a")
		}
	}
	if step := c.i.NextStep(false); step.Do != Over {
		t.Errorf("%+v", step)
	}
	c.i.Exchanges[0].Heard = false
	if step := c.i.NextStep(false); step.Do != Over {
		t.Errorf("after the last round it wants to %s", step.Do)
	}
}

// TestSpec puts what is not wanted out of scope, and lets a criterion show what counts.
func TestSpec(t *testing.T) {
	c := begin(t, "an app")
	h := InterviewSubmission{Requirements: []RequirementDraft{{Text: "It is kept", Confidence: sure(1)}, {Text: "It prints", Confidence: sure(1), Priority: "wont"}, {Text: "It is shown"}}}
	for _, of := range [][]string{{"REQ-3"}, {"It prints", "REQ-9"}, {"REQ-3", "it prints", "it is kept", "REQ-1", "REQ-9"}, {"REQ-9"}, nil} {
		h.Criteria = append(h.Criteria, CriterionDraft{Text: "shown", Of: of})
	}
	c.hear(h)
	s := c.i.BuildSpec()
	if len(s.Requirements) != 1 || !slices.Equal(s.OutOfScope, []string{"It prints"}) || len(s.Criteria) != 3 || s.Criteria[0].ID != "AC-3" || !slices.Equal(s.Criteria[0].Of, []string{"REQ-1"}) || len(s.Criteria[2].Of) > 0 ||
		!slices.Equal(s.Notes, []string{"Perhaps also wanted, but not certain: It is shown"}) {
		t.Errorf("%+v", s)
	}
}
