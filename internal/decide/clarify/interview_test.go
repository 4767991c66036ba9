package clarify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

const attempt nexus.AttemptID = "interview.1"

// talk is an interview that a test has.
type talk struct {
	*testing.T
	i  InterviewState
	n  int
	by string
}

func begin(t *testing.T, goal string) *talk {
	t.Helper()
	c := &talk{T: t, by: "ada"}
	c.i.Apply(nexus.GoalAccepted{Goal: nexus.Goal{Text: goal, Mode: nexus.Interview}})
	return c
}

// hear lets the interviewer submit.
func (c *talk) hear(h InterviewSubmission) {
	c.Helper()
	step := c.i.NextStep(false)
	if step.Do != Talk {
		c.Fatalf("next is %s, not to talk", step.Do)
	}
	if p := c.i.SubmissionProblems(h); len(p) > 0 {
		c.Fatal(p)
	}
	c.i.Apply(nexus.InterviewRoundStarted{Attempt: attempt, Round: step.Round})
	for _, f := range c.i.SubmissionFacts(step.Round, h) {
		c.i.Apply(f)
	}
}

// answer takes the next question, which must hold a text, and answers it.
func (c *talk) answer(about, text string) {
	c.Helper()
	c.settle()
	step := c.i.NextStep(c.by == "fallback")
	if step.Do != Ask {
		c.Fatalf("next is %s, not a question", step.Do)
	}
	c.n++
	q := c.i.QuestionFact(step.Question, fmt.Sprintf("q%d", c.n), "interview")
	if !strings.Contains(q.Text, about) {
		c.Fatalf("it asks %q, not %q", q.Text, about)
	}
	c.i.Apply(q)
	if c.i.NextStep(false).Do != Wait {
		c.Fatal("it does not wait for the answer")
	}
	c.i.Apply(nexus.QuestionAnswered{ID: q.ID, Text: text, By: c.by})
}

// settle states what follows from answers.
func (c *talk) settle() {
	for step := c.i.NextStep(false); step.Do == State; step = c.i.NextStep(false) {
		for _, f := range step.Facts {
			c.i.Apply(f)
		}
	}
}

func query(text string, choices ...string) QuestionDraft {
	return QuestionDraft{Text: text, Choices: choices, Default: choices[0], Changes: "the plan"}
}

func sure(n float64) *float64 { return &n }

func kinds(i InterviewState) (all []string) {
	for _, e := range i.Exchanges {
		all = append(all, e.Key+" "+string(e.Kind)+" "+e.Answer)
	}
	return all
}

// TestAnswers holds what every kind of answer does.
func TestAnswers(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Questions: []QuestionDraft{query("A?", "a", "b"), query("B?", "c", "d"), query("C?", "e", "f"), query("D?", "g", "h")}})
	c.answer("A?", "BACK.")
	c.answer("There is no question before this one.\nA?", "2")
	c.answer("B?", "in my own words")
	c.answer("C?", "back")
	c.answer(`Your answer was "in my own words".`+"\nB?", "back")
	c.answer(`Your answer was "b".`+"\nA?", "A")
	c.answer("B?", "3")
	c.answer("C?", "skip")
	c.answer("D?", "end")
	if d := cmp.Diff([]string{"1.1 said a", "1.2 said 3", "1.3 skipped e", "1.4 assumed g"}, kinds(c.i)); d != "" {
		t.Error(d)
	}
	c.settle()
	if len(c.i.Assumptions) != 2 || c.i.Assumptions[0].Text != "C? e" || c.i.Assumptions[1].Text != "D? g" {
		t.Errorf("%+v", c.i.Assumptions)
	}
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: "It is.", Confidence: sure(1)}}, Questions: []QuestionDraft{query("E?", "x")}})
	if step := c.i.NextStep(false); step.Do != Over {
		t.Errorf("after the end it wants to %s", step.Do)
	}
}

// TestBackToAnEarlierRound takes back an answer that the interviewer knows: it hears of the other one.
func TestBackToAnEarlierRound(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Questions: []QuestionDraft{query("A?", "a", "b")}})
	c.answer("A?", "skip")
	c.settle()
	if step := c.i.NextStep(false); step.Do != Ask || step.Question.Key != LockKey {
		t.Errorf("%+v", step)
	}
	c.answer("A-1: A? a", "back")
	c.answer("A?", "2")
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: "b", Confidence: sure(0.9)}}, Questions: []QuestionDraft{query("B?", "c")}})
	if len(c.i.Assumptions) != 0 {
		t.Errorf("what was assumed still holds: %+v", c.i.Assumptions)
	}
	c.answer("B?", "back")
	c.answer("A?", "1")
	c.answer("B?", "1")
	if step := c.i.NextStep(false); step.Do != Talk || c.i.Exchanges[0].Before != "b" || c.i.Exchanges[0].Heard {
		t.Errorf("%+v %+v", step, c.i.Exchanges)
	}
}

// TestBackToAnyQuestion goes back to a question by its name, under whichever it was asked, and goes on where it was.
func TestBackToAnyQuestion(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Questions: []QuestionDraft{query("A?", "a", "b"), query("B?", "c", "d"), query("C?", "e", "f")}})
	c.answer("A?", "1")                                                       // q1
	c.answer("B?", "2")                                                       // q2
	c.answer("\"back q1\" goes back further: q1 (a), q2 (d).", "Back to Q1.") // q3
	c.answer("Your answer was \"a\".\nA?", "2")                               // q4
	c.answer("C?", "back q7")                                                 // q5
	c.answer("There is no answer to q7 to go back to.\nC?", "back 1")         // q6: it is q4 now
	c.answer("Your answer was \"b\".\nA?", "back the bikes up")               // q7: own words
	c.answer("C?", "1")                                                       // q8
	if d := cmp.Diff([]string{"1.2 said d", "1.1 said back the bikes up", "1.3 said e"}, kinds(c.i)); d != "" {
		t.Error(d)
	}
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: "b", Confidence: sure(0.9)}}, Assumptions: []string{"It is free"}})
	c.answer("It is free", "back q2") // q9
	c.answer("Your answer was \"d\".\nB?", "1")
	c.hear(InterviewSubmission{Done: true})
	c.answer("It is free", "yes")
	c.settle()
	if step := c.i.NextStep(false); step.Do != Over || !c.i.Assumptions[0].Locked || c.i.Exchanges[2].Answer != "c" {
		t.Errorf("%+v %+v", step, c.i.Exchanges)
	}
}

// TestCommands holds what is a command, and what is somebody's own words.
func TestCommands(t *testing.T) {
	for text, want := range map[string]string{
		"back": "back", " /Back! ": "back", "back q2": "back q2", "BACK  to Q12.": "back q12", "back 3": "back q3", "back 03": "back q3",
		"back q": "", "back q-1": "", "back q+1": "", "back 99999": "", "back to the roots": "", "backq1": "", "q1": "", "skip": "skip", "skip q1": "", "pause": "pause", "end.": "end",
	} {
		if got := strings.TrimSpace(string(ParseAnswerCommand(text)) + " " + BackTarget(text)); got != want {
			t.Errorf("%q is %q, not %q", text, got, want)
		}
	}
}

// TestLock asks once whether the assumptions hold.
func TestLock(t *testing.T) {
	for answer, want := range map[string]InterviewStepKind{"1": Over, "yes": Over, "2": Over, "skip": Over, "end": Over, "A-1 is wrong: b": Talk} {
		c := begin(t, "an app")
		c.hear(InterviewSubmission{Assumptions: []string{"It is free"}, Requirements: []RequirementDraft{{Text: "x", Confidence: sure(1)}}})
		c.answer("A-1: It is free", answer)
		c.settle()
		if step := c.i.NextStep(false); step.Do != want {
			t.Errorf("after %q: %s", answer, step.Do)
		}
		if want == Talk {
			if len(c.i.Assumptions) > 0 {
				t.Errorf("after %q it holds", answer)
			}
			continue
		}
		if locked := c.i.Assumptions[0].Locked; locked != (answer == "1" || answer == "yes") {
			t.Errorf("after %q it is locked: %v", answer, locked)
		}
	}
}

// TestNobody assumes every default, and asks about nothing more.
func TestNobody(t *testing.T) {
	c := begin(t, "an app")
	c.by = "fallback"
	c.hear(InterviewSubmission{Questions: []QuestionDraft{query("A?", "a"), query("B?", "b")}})
	c.answer("A?", "a")
	c.answer("B?", "b")
	c.settle()
	if step := c.i.NextStep(true); step.Do != Over || len(c.i.Assumptions) != 2 || c.i.CountStatistics().Answered != 0 {
		t.Errorf("%+v %+v", step, c.i.Assumptions)
	}
}

// TestPause waits for who takes the run up.
func TestPause(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Questions: []QuestionDraft{query("A?", "a")}})
	c.i.Apply(c.i.QuestionFact(c.i.NextStep(false).Question, "q1", "interview"))
	c.i.Apply(nexus.QuestionExpired{ID: "q1"})
	if c.i.NextStep(false).Do != Pause {
		t.Error("it continues")
	}
	c.i.Apply(nexus.RunReopened{})
	if c.i.NextStep(false).Do != Wait || c.i.CurrentQuestion().Text != "A?" {
		t.Error("it does not wait")
	}
	c.i.Apply(nexus.QuestionAnswered{ID: "q1", Text: "a", By: "ada"})
	if c.i.NextStep(false).Do != Talk {
		t.Error("the answer is not heard")
	}
}

// TestFailed begins anew with an interviewer whose answers were of no use, and goes on with one that lacked money.
func TestFailed(t *testing.T) {
	for outcome, want := range map[nexus.Outcome]int{"": 1, nexus.Exhausted: 1, nexus.Refused: 0} {
		c := begin(t, "an app")
		c.i.Apply(nexus.InterviewRoundStarted{Attempt: attempt, Round: 1})
		c.i.Apply(nexus.InterviewRoundFailed{Attempt: attempt, Why: "x", Outcome: outcome})
		if c.i.NextStep(false).Do != Fail || c.i.Tries != 0 {
			t.Errorf("%s: %+v", outcome, c.i)
		}
		c.i.Apply(nexus.RunReopened{})
		c.i.Apply(nexus.RunReopened{})
		if step := c.i.NextStep(false); step.Do != Talk || step.Round != 1 || c.i.Tries != want {
			t.Errorf("%s: %+v, %d tries", outcome, step, c.i.Tries)
		}
	}
}

// TestTake holds what becomes of requirements.
func TestTake(t *testing.T) {
	c := begin(t, "An app\nfor recipes")
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{
		{Text: " Recipes  are kept. ", Confidence: sure(0.7), Priority: "P0", Category: "Business", Area: "Data model", Quote: "app for recipes"},
		{Text: "Perhaps"},
		{Text: "recipes are kept", Confidence: sure(0.69)},
		{Text: "RECIPES are kept!", Confidence: sure(0.9), Priority: "could", Quote: "invented"},
		{Text: "No print", Priority: "wont", Confidence: sure(1)},
	}})
	want := []nexus.Requirement{
		{ID: "REQ-1", Text: "RECIPES are kept!", Category: nexus.ReqFunctional, Priority: nexus.Could, Confidence: 0.9, Quote: "app for recipes"},
		{ID: "REQ-3", Text: "No print", Category: nexus.ReqFunctional, Priority: nexus.Wont, Confidence: 1},
	}
	if d := cmp.Diff(want, c.i.Requirements); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]nexus.Requirement{{ID: "REQ-2", Text: "Perhaps", Category: nexus.ReqFunctional, Priority: nexus.Should, Confidence: 0.5}}, c.i.Candidates); d != "" {
		t.Error(d)
	}
	for _, f := range c.i.SubmissionFacts(2, InterviewSubmission{Withdraw: []string{"REQ-3"}, Requirements: []RequirementDraft{{ID: "REQ-2", Text: "Certainly", Confidence: sure(1)}, {Text: "New", Confidence: sure(1)}}}) {
		c.i.Apply(f)
	}
	if s := c.i.BuildSpec(); len(s.Requirements) != 3 || s.Requirements[1].Text != "Certainly" || s.Requirements[2].ID != "REQ-4" || len(c.i.Candidates) != 0 || len(s.OutOfScope) != 0 {
		t.Errorf("%+v", s)
	}
}

// TestReplaced keeps of a requirement what the interviewer does not say again: a must stays one, and it counts.
func TestReplaced(t *testing.T) {
	c := begin(t, "an app for recipes")
	yes, no := true, false
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{
		{Text: "It is kept", Confidence: sure(0.9), Priority: "must", Category: "technical", Area: "api", Quote: "for recipes", Later: &yes},
	}, Questions: []QuestionDraft{query("A?", "a")}})
	c.answer("A?", "a")
	c.hear(InterviewSubmission{Requirements: []RequirementDraft{{ID: "REQ-1", Text: "It is kept for ever"}}})
	want := nexus.Requirement{
		ID: "REQ-1", Text: "It is kept for ever", Category: nexus.ReqTechnical, Priority: nexus.Must, Confidence: 0.9, Area: "api", Quote: "for recipes", Later: true,
	}
	if d := cmp.Diff([]nexus.Requirement{want}, c.i.Requirements); d != "" || len(c.i.Candidates) > 0 {
		t.Errorf("%s %+v", d, c.i.Candidates)
	}
	for _, f := range c.i.SubmissionFacts(3, InterviewSubmission{Requirements: []RequirementDraft{{ID: "REQ-1", Text: "It is kept for ever", Confidence: sure(1), Priority: "could", Later: &no}}}) {
		c.i.Apply(f)
	}
	want.Confidence, want.Priority, want.Later = 1, nexus.Could, false
	if d := cmp.Diff([]nexus.Requirement{want}, c.i.Requirements); d != "" {
		t.Error(d)
	}
}

// TestNotTheSame keeps requirements apart that differ in a sign only.
func TestNotTheSame(t *testing.T) {
	c := begin(t, "an app")
	var all []RequirementDraft
	for _, text := range []string{"It reads C", "It reads C++", "It returns 1", "It returns -1", "x < y holds", "x > y holds"} {
		all = append(all, RequirementDraft{Text: text, Confidence: sure(1)})
	}
	c.hear(InterviewSubmission{Requirements: all})
	if len(c.i.Requirements) != len(all) {
		t.Errorf("%+v", c.i.Requirements)
	}
}

// TestUnseen makes a spec that can be used of a goal and of answers with characters that nobody sees, as they come with a copied text.
func TestUnseen(t *testing.T) {
	for _, goal := range []string{"an app\u200b for\u00ad recipes", "an app for recipes\r\nwith\x07 sound", "\ufeffan app for\u2028recipes", "\u200b\nan app"} {
		c := begin(t, goal)
		c.hear(InterviewSubmission{Clear: true, Title: "Reci\u00adpes", Problem: "a\u200b\nb", Notes: []string{"n\u2060"}, Requirements: []RequirementDraft{{
			Text: "It\u200b is kept", Confidence: sure(1), Quote: "an app", Area: "u\u00adi",
		}}})
		s := c.i.BuildSpec()
		text := spec.FormatMarkdown(s)
		if _, p := spec.ReadSpec(text); len(p) > 0 || s.Requirements[0].Quote != "an app" || s.Title != "Recipes" || s.Problem != "a\nb" {
			t.Errorf("%q: %v\n%s", goal, p, text)
		}
		c.i.Draft = nexus.InterviewSpecDraft{}
		if _, p := spec.ReadSpec(spec.FormatMarkdown(c.i.BuildSpec())); len(p) > 0 || !strings.HasPrefix(c.i.BuildSpec().Title, "an app") {
			t.Errorf("%q: %v, %q", goal, p, c.i.BuildSpec().Title)
		}
	}
}

// TestWords holds the words that interviewers use.
func TestWords(t *testing.T) {
	for text, want := range map[string]nexus.RequirementPriority{"": "should", "Must have": "must", "P1": "should", "high": "should", "critical": "must", "low": "could", "won't": "wont", "?": "should"} {
		if got := parsePriority(text); got != want {
			t.Errorf("%q is %s, not %s", text, got, want)
		}
	}
	for text, want := range map[string]nexus.RequirementCategory{"": "functional", "non_functional": "non-functional", "UI/UX": "ui-ux", "integrations": "integration", "odd": "functional", "Business Logic": "business-logic"} {
		if got := parseCategory(text); got != want {
			t.Errorf("%q is %s, not %s", text, got, want)
		}
	}
}

// TestQuestionsAreFew asks no more than changes the plan, and nothing twice.
func TestQuestionsAreFew(t *testing.T) {
	c := begin(t, "an app")
	var many []QuestionDraft
	for n := range 9 {
		many = append(many, query(fmt.Sprintf("Question %d?", n), "a"))
	}
	many[0].Changes = " "
	c.hear(InterviewSubmission{Questions: many})
	asked := 0
	for round := 1; ; round++ {
		for range MaxPerRound {
			if c.i.NextStep(false).Do != Ask {
				break
			}
			c.answer("Question", "a")
			asked++
		}
		c.settle()
		if c.i.NextStep(false).Do != Talk {
			break
		}
		c.hear(InterviewSubmission{Requirements: []RequirementDraft{{Text: fmt.Sprint("r", round), Confidence: sure(1)}}, Questions: []QuestionDraft{query("question 1", "a"), query(fmt.Sprint("Question more ", round), "a"), query(fmt.Sprint("Question again ", round), "a"), query(fmt.Sprint("Question then ", round), "a")}})
	}
	if asked != MaxQuestions {
		t.Errorf("%d questions were asked", asked)
	}
	for _, e := range c.i.Exchanges {
		if e.Text == "Question 0?" {
			t.Error("it asked what changes nothing")
		}
	}
}

// TestDepth holds when questions become clarifying and detailed, and when gaps are named.
func TestDepth(t *testing.T) {
	i := InterviewState{}
	for n, want := range []string{"broad", "broad", "broad", "clarifying"} {
		if got := i.QuestionDepth(); got != want {
			t.Errorf("after %d answers: %s", n, got)
		}
		i.Exchanges = append(i.Exchanges, InterviewExchange{Kind: Said})
	}
	i.Requirements = []nexus.Requirement{{Area: "api"}, {Area: "api"}, {Area: "api"}}
	if i.UnexploredAreas() != nil {
		t.Error("gaps of one area")
	}
	i.Requirements[1].Area = "authentication"
	if d := cmp.Diff([]string{"authorization", "data_model", "ui_ux"}, i.UnexploredAreas()); d != "" {
		t.Error(d)
	}
	if i.Requirements = i.Requirements[:2]; i.UnexploredAreas() != nil {
		t.Error("gaps of two requirements")
	}
	for i.QuestionDepth() != "detailed" {
		i.Requirements = append(i.Requirements, nexus.Requirement{})
	}
	if len(i.Requirements) != 6 {
		t.Errorf("detailed from %d requirements on", len(i.Requirements))
	}
}

// TestVague holds which goals are asked about before they are planned.
func TestVague(t *testing.T) {
	for goal, want := range map[string]bool{
		"an app for recipes":                         true,
		"make it better":                             true,
		"I don't like the look, can't we improve it": true,
		"something like a shop":                      true,
		"fix it":                                     true,
		"Build me a website":                         true,
		"texts":                                      true,
		"":                                           false,
		"fix the failing test":                       false,
		"Add a --json flag to list":                  false,
		"Read and write durations in parse.go":       false,
		"Sort the list by name, then by date of birth":        false,
		"Make `list` faster":                                  false,
		"improve the speed of startup to 50 ms":               false,
		"An app:\n- customers can register\n- they can order": false,
		strings.Repeat("words about an app ", 10):             false,
		"# An app\n\n## Requirements\n\n- REQ-1: it works\n":  false,
	} {
		if why, got := IsVague(goal); got != want || got != (why != "") {
			t.Errorf("%q is vague: %v (%s)", goal, got, why)
		}
	}
}

// TestClearAsksNothing ends an interview in which nothing is open, also where something is assumed.
func TestClearAsksNothing(t *testing.T) {
	c := begin(t, "an app")
	c.hear(InterviewSubmission{Clear: true, Assumptions: []string{"It is free"}, Requirements: []RequirementDraft{{Text: "x", Confidence: sure(1)}}, Questions: []QuestionDraft{query("A?", "a")}})
	if step := c.i.NextStep(false); step.Do != Over {
		t.Error(step.Do)
	}
}
