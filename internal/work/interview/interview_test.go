package interview

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// TestParse holds what is sent back to the interviewer.
func TestParse(t *testing.T) {
	known := &clarify.InterviewState{Requirements: []nexus.Requirement{{ID: "REQ-1", Text: "x"}}}
	for data, want := range map[string]string{
		`{"done":true}`: "",
		`{"requirements":[{"id":"REQ-1","text":"y"}]}`:              "",
		`{"requirements":[{"text":" "}]}`:                           "has no text",
		`{"requirements":[{"id":"REQ-2","text":"y"}]}`:              `there is no requirement "REQ-2"`,
		`{"requirements":[{"text":"y","confidence":1.5}]}`:          "not between 0 and 1",
		`{"questions":[{"text":"a?","default":"","changes":"it"}]}`: "needs a text and a default",
		`{"questions":[{"text":"","default":"","changes":""}]}`:     "",
		`{"withdraw":["REQ-9"]}`:                                    "REQ-9",
		`{"done":true,"criteria":[{"text":"x","check":"a\nb"}]}`:    "several lines",
		`{"done":true,"criteria":[{"text":"x","check":"a\n"}]}`:     "",
		`{"question":[]}`:                "question",
		`[]`:                             "",
		strings.Repeat(" ", maxHandin+1): "maximum",
		`{"requirements":[{"text":"y","confidence":1}],"done":true} {}`: "after the end",
	} {
		_, problems := ParseSubmission([]byte(data), known)
		if got := strings.Join(problems, "; "); want != "" && !strings.Contains(got, want) || want == "" && data != "[]" && got != "" || data == "[]" && got == "" {
			t.Errorf("%.60q: %q, want %q", data, got, want)
		}
	}
	if _, problems := ParseSubmission([]byte(`{"done":true}`), &clarify.InterviewState{}); len(problems) == 0 {
		t.Error("an interviewer that says nothing is heard")
	}
}

// TestMessage tells the interviewer all that is known.
func TestMessage(t *testing.T) {
	i := &clarify.InterviewState{
		Goal: "an app", Requirements: []nexus.Requirement{{ID: "REQ-1", Text: "It is kept", Area: "api", Later: true}, {Area: "ui_ux"}, {}},
		Candidates: []nexus.Requirement{{ID: "REQ-2", Text: "It is shown"}},
	}
	i.Assumptions = append(i.Assumptions, clarify.InterviewAssumption{})
	i.Assumptions[0].Text, i.Assumptions[0].Locked = "It is free", true
	text := RoundMessage(i, "interview.1/interviewer.2", 2, true)
	for _, want := range []string{"Conversation: interview.1/interviewer.2", "an app", "REQ-1", "api, later", "REQ-2", "It is free (the person agreed)", spec.GapAreas()[0], "No person can be asked"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	if text := RoundMessage(i, "s", clarify.MaxRounds, false); !strings.Contains(text, "last round") {
		t.Error(text)
	}
}

// TestHear says what came of a round that came to nothing: what the desk refused is its error, and the rest is recorded.
func TestHear(t *testing.T) {
	refused := errors.New("no money")
	known := &clarify.InterviewState{Attempt: "interview.1"}
	for _, c := range []struct {
		out  agent.SessionStretchResult
		err  error
		want []nexus.Fact
	}{
		{agent.SessionStretchResult{Outcome: nexus.Refused, Refusal: refused}, refused, nil},
		{agent.SessionStretchResult{Outcome: nexus.Exhausted, Why: "no turns"}, nil, []nexus.Fact{nexus.InterviewRoundFailed{Attempt: "interview.1", Why: "no turns", Outcome: nexus.Exhausted}}},
	} {
		for _, begun := range []bool{false, true} {
			got, err := RunInterviewRound(t.Context(), known, 1, "the brief", begun, func(_ context.Context, message, why string) (agent.SessionStretchResult, error) {
				if begun != (message == "") || begun != (why == "") {
					t.Errorf("begun %v: it says %q, %q", begun, message, why)
				}
				return c.out, nil
			})
			if !errors.Is(err, c.err) || !cmp.Equal(got, c.want) {
				t.Errorf("%+v: %+v, %v", c.out, got, err)
			}
		}
	}
}

// FuzzParse holds that whatever is submitted leads to facts that can be folded,
// to an interview that ends, and to a spec that can be read.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"requirements":[{"text":"a","confidence":0.9,"quote":"app"}],"questions":[{"text":"b?","default":"c","changes":"d","choices":["c","1"]}]}`), "2")
	f.Add([]byte(`{"clear":true,"title":"# x\n- REQ-1","criteria":[{"text":"x","of":["a"]}],"requirements":[{"text":"(must): - x","area":"_","confidence":1,"priority":"wont"}]}`), "back")
	f.Add([]byte(`{"assumptions":["A-1","a"],"requirements":[{"text":"\u0000\u2028","confidence":0}],"notes":["<!--"]}`), "end")
	f.Add([]byte(`{"title":"\u00ad","requirements":[{"text":"a\u200bb","confidence":1,"area":"\u2060"}],"criteria":[{"text":"\u0007","check":"a\u2028b"}]}`), "1")
	f.Fuzz(func(t *testing.T, data []byte, answer string) {
		i := &clarify.InterviewState{}
		i.Apply(nexus.GoalAccepted{Goal: nexus.Goal{Text: "an app", Mode: nexus.Interview}})
		for n := range 200 {
			switch step := i.NextStep(false); step.Do {
			case clarify.Talk:
				h, problems := ParseSubmission(data, i)
				if len(problems) > 0 {
					return
				}
				i.Apply(nexus.InterviewRoundStarted{Attempt: "interview.1", Round: step.Round})
				for _, f := range i.SubmissionFacts(step.Round, h) {
					i.Apply(f)
				}
			case clarify.Ask:
				q := i.QuestionFact(step.Question, "q", "interview")
				i.Apply(q)
				if n > 100 || answer == "back" && n > 50 {
					answer = "1"
				}
				i.Apply(nexus.QuestionAnswered{ID: "q", Text: answer, By: "ada"})
			case clarify.State:
				for _, f := range step.Facts {
					i.Apply(f)
				}
			case clarify.Over:
				s := i.BuildSpec()
				if _, problems := spec.ReadSpec(spec.FormatMarkdown(s)); len(problems) > 0 && len(s.Requirements) > 0 {
					t.Fatalf("%v\n%s", problems, spec.FormatMarkdown(s))
				}
				return
			default:
				t.Fatal(step.Do)
			}
		}
		t.Fatal("it does not end")
	})
}
