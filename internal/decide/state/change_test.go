package state_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// commented returns a run with an accepted change that a person commented on.
func commented(t *testing.T, l nexus.Limits, comments ...nexus.ReviewComment) (*state.State, *state.TaskState, *state.AttemptState) {
	t.Helper()
	s := fold(t, planned(l, nexus.Task{ID: "T1"}, nexus.Task{ID: "T2"})...)
	folds(t, s, accepted("T1", "T1.1", "c0", "w1")...)
	reviews(t, s, nexus.ChangeReview{Base: "c0", Commit: "w1", Comments: comments}, "ada")
	return s, s.TaskByID("T1"), s.AttemptByID("T1.1")
}

func reviews(t *testing.T, s *state.State, r nexus.ChangeReview, by string) {
	t.Helper()
	next(t, s, nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbReview, Task: "T1", By: by, Review: &r}})
	next(t, s, nexus.RequestSettled{Seq: s.Seq, Granted: true})
}

func prompts(session nexus.SessionID, all ...nexus.ReviewComment) nexus.PromptSent {
	return nexus.PromptSent{Session: session, Message: "b", Why: "review", Comments: all}
}

// TestWorkIsSentBack: what a person wants of accepted work takes it off the train, its
// author is told, asked once more where it does not answer, and its answers are kept.
func TestWorkIsSentBack(t *testing.T) {
	must := nexus.ReviewComment{Kind: nexus.MustComment, Body: "a"}
	should := nexus.ReviewComment{Kind: nexus.ShouldComment, File: "a.go", Start: 1, Replace: &nexus.SuggestedReplacement{Text: "x", Apply: true}}
	praise := nexus.ReviewComment{Kind: nexus.PraiseComment, Body: "good"}
	s, t1, a := commented(t, nexus.Limits{}, must, should, praise)
	f, ok := t1.WorkToReturn(a)
	if !ok || !f.Tell || len(f.Apply) != 1 || f.Apply[0].ID != "c2" || f.Why != "a person reviewed it: c1, c2" || s.LandingHoldReason(t1, a) != "unresolved: c1" {
		t.Fatalf("%+v, held: %q", f, s.LandingHoldReason(t1, a))
	}
	if len(s.Queue) != 1 {
		t.Fatal(s.Queue)
	}
	next(t, s, f)
	if len(s.Queue) != 0 || t1.Status != nexus.Running || a.Stage != state.Waiting || a.Outcome != "" || a.Sent == nil || a.Why != f.Why {
		t.Errorf("%+v, %d wait for the train", a, len(s.Queue))
	}
	next(t, s, nexus.AttemptResumed{Attempt: "T1.1", Base: "c0"})
	next(t, s, nexus.SuggestionsApplied{Task: "T1", Attempt: "T1.1", Commit: "w2", Applied: []string{"c2"}})
	if c, ok := t1.CommentByID("c2"); !ok || c.Applied != "w2" || c.Resolved == "" || a.Applied == nil || a.Sent == nil {
		t.Errorf("%+v, %+v", c, a.Sent)
	}
	next(t, s, nexus.SessionStarted{Attempt: "T1.1", Session: "T1.1/coder.1", Role: nexus.Coder})
	next(t, s, nexus.RoundStarted{Attempt: "T1.1", Round: 1, Role: nexus.Coder, Cause: nexus.PersonCause, Session: "T1.1/coder.1"})
	if a.Sent != nil {
		t.Error("it is still to be sent back")
	}
	one, _ := t1.CommentByID("c1")
	three, _ := t1.CommentByID("c3")
	next(t, s, prompts("T1.1/coder.1", one.ReviewComment, three.ReviewComment))
	if open := a.UnansweredComments(); !slices.Equal(open, []string{"c1"}) || len(t1.UndeliveredComments("T1.1")) > 0 {
		t.Errorf("open are %q", open)
	}
	claim := nexus.FindingAnswer{Comment: "c1", Status: "fixed"}
	next(t, s, nexus.SessionEnded{Session: "T1.1/coder.1", Outcome: nexus.Accepted, Answers: []nexus.FindingAnswer{claim, {Finding: 1, Status: nexus.Fixed}}})
	if !cmp.Equal(a.Claims, []nexus.FindingAnswer{claim}) {
		t.Errorf("it claims %+v", a.Claims)
	}
	next(t, s, nexus.RoundStarted{Attempt: "T1.1", Round: 2, Role: nexus.Coder, Cause: nexus.AnswerCause, Session: "T1.1/coder.1"})
	if len(a.UnansweredComments()) > 0 || !slices.Equal(a.Reminded, []string{"c1"}) || a.SessionByID("T1.1/coder.1").Over {
		t.Errorf("it is reminded of %q again", a.UnansweredComments())
	}
	next(t, s, nexus.CommentsAnswered{Task: "T1", Attempt: "T1.1", Round: 2, Commit: "w3", Answers: []nexus.CommentAnswer{{Comment: "c1", Reply: nexus.CommentFixed, Changed: true}}})
	c, _ := t1.CommentByID("c1")
	if last, ok := c.LastAnswer(); !ok || last.Commit != "w3" || last.Round != 2 || last.Attempt != "T1.1" || len(a.Open) > 0 || a.Claims != nil {
		t.Errorf("%+v, open %v, claims %v", last, a.Open, a.Claims)
	}
	if _, ok := three.LastAnswer(); ok {
		t.Error("praise is answered")
	}
	next(t, s, nexus.ChangeRiskRated{Attempt: "T1.1", Tree: "t"})
	if a.Risky == nil || a.Risky.Tree != "t" {
		t.Errorf("%+v", a.Risky)
	}
}

// TestSuggestionsAlone are done, and nobody is told.
func TestSuggestionsAlone(t *testing.T) {
	s, t1, a := commented(t, nexus.Limits{}, nexus.ReviewComment{Kind: nexus.ShouldComment, File: "a.go", Start: 1, Replace: &nexus.SuggestedReplacement{Text: "x", Apply: true}})
	f, _ := t1.WorkToReturn(a)
	folds(t, s, f, nexus.SuggestionsApplied{Task: "T1", Attempt: "T1.1", Commit: "w2", Applied: []string{"c1"}})
	if f.Tell || a.Sent != nil || a.Applied == nil {
		t.Errorf("%+v, %+v", f, a.Sent)
	}
	if again, ok := t1.WorkToReturn(a); ok {
		t.Errorf("%+v", again)
	}
}

// TestAcceptedFixSettles a must where people leave that to the gates, and only the one that
// was fixed in that attempt with a change.
func TestAcceptedFixSettles(t *testing.T) {
	must := nexus.ReviewComment{Kind: nexus.MustComment, Body: "a"}
	for _, left := range []bool{true, false} {
		s, t1, _ := commented(t, nexus.Limits{Review: nexus.PersonReviewRules{Fixed: left}}, must, must, must, must, nexus.ReviewComment{Kind: nexus.ShouldComment, Body: "b"})
		f, _ := t1.WorkToReturn(s.AttemptByID("T1.1"))
		folds(t, s, f, nexus.AttemptResumed{Attempt: "T1.1", Base: "c0"}, nexus.CommentsAnswered{Task: "T1", Attempt: "T1.1", Answers: []nexus.CommentAnswer{
			{Comment: "c1", Reply: nexus.CommentFixed, Changed: true},
			{Comment: "c2", Reply: nexus.CommentFixed},
			{Comment: "c3", Reply: nexus.CommentDeclined, Changed: true},
			{Comment: "c5", Reply: nexus.CommentFixed, Changed: true},
		}}, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "w2", Tree: "t2"})
		var open []string
		for _, c := range t1.Comments {
			if c.Resolved == "" {
				open = append(open, c.ID)
			}
		}
		want := []string{"c1", "c2", "c3", "c4", "c5"}
		if left {
			want = want[1:]
		}
		if !slices.Equal(open, want) {
			t.Errorf("left to the gates: %v, open are %q", left, open)
		}
	}
}

// TestQuestionAboutAChange: who is asked whether a change may land, and what a no says.
func TestQuestionAboutAChange(t *testing.T) {
	s, t1, a := commented(t, nexus.Limits{Review: nexus.PersonReviewRules{People: nexus.ReviewAll}})
	if s.LandingQuestion(a) != nil || s.HasOpenLandingQuestion() {
		t.Error("nobody was asked")
	}
	folds(t, s, nexus.QuestionAsked{ID: "q0", Trigger: nexus.StepTrigger, Mark: state.LandingQuestionMark(a)}, nexus.QuestionAsked{ID: "q1", Trigger: nexus.ChangeTrigger, Mark: state.LandingQuestionMark(a), Text: "land?"})
	q := s.QuestionByID("q1")
	if s.LandingQuestion(a) != q || s.TaskOfLandingQuestion(q) != t1 || s.TaskOfLandingQuestion(s.QuestionByID("q0")) != nil || !s.HasOpenLandingQuestion() || q.AsksToPublish() || len(s.OpenQuestions()) != 1 {
		t.Errorf("%+v", s.LandingQuestion(a))
	}
	other := *a
	other.Commit = "w9"
	if s.LandingQuestion(&other) != nil {
		t.Error("it was asked about another commit")
	}
	next(t, s, nexus.QuestionExpired{ID: "q1"})
	if s.HasOpenLandingQuestion() || len(s.OpenQuestions()) != 1 {
		t.Error("nobody answers in time, and the run still waits")
	}
	next(t, s, nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbAnswer, ID: "q1", Text: "no: rename it", By: "ada"}})
	folds(t, s, nexus.RequestSettled{Seq: s.Seq, Granted: true}, nexus.QuestionAnswered{ID: "q1", Text: "no: rename it", By: "ada"})
	c, ok := t1.CommentByID("c1")
	if !ok || c.Kind != nexus.MustComment || c.Body != "rename it" || c.Commit != "w1" || c.Base != "c0" || s.LandingApprover(t1, a) != "" || s.HasOpenLandingQuestion() || len(s.OpenQuestions()) != 0 {
		t.Errorf("%+v, approved by %q", c, s.LandingApprover(t1, a))
	}
	reviews(t, s, nexus.ChangeReview{Commit: "w1", Resolve: []string{"c1"}}, "bob")
	if c, _ := t1.CommentByID("c1"); c.Resolved != "bob" || s.LandingHoldReason(t1, a) != "every change waits for a person" {
		t.Errorf("%+v, held: %s", c, s.LandingHoldReason(t1, a))
	}
	folds(t, s, nexus.QuestionAsked{ID: "q2", Trigger: nexus.ChangeTrigger, Mark: state.LandingQuestionMark(a), Text: "land?"})
	next(t, s, nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbAnswer, ID: "q2", Text: "yes", By: "ada"}})
	folds(t, s, nexus.RequestSettled{Seq: s.Seq, Granted: true}, nexus.QuestionAnswered{ID: "q2", Text: "yes", By: "ada"})
	if s.LandingApprover(t1, a) != "ada" || s.LandingHoldReason(t1, a) != "" || len(t1.Comments) != 1 {
		t.Errorf("approved by %q, held: %q", s.LandingApprover(t1, a), s.LandingHoldReason(t1, a))
	}
	folds(t, s, nexus.QuestionAsked{ID: "q3", Trigger: nexus.ChangeTrigger, Mark: state.LandingQuestionMark(a), Text: "land?"}, nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Parent: "c0"})
	if s.HasOpenLandingQuestion() || len(s.OpenQuestions()) != 0 {
		t.Error("it landed, and somebody is asked")
	}
}
