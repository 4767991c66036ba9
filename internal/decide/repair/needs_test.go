package repair_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestARenameNeedsNoTest where people or the plan say so; where only its title does, the change
// has to be one, and every criterion shown.
func TestARenameNeedsNoTest(t *testing.T) {
	const title = "Rename oldName to newName"
	for name, c := range map[string]struct {
		task  nexus.Task
		facts repair.AttemptTreeFacts
		role  nexus.Role
		move  repair.RepairMove
	}{
		"it renames":             {nexus.Task{Title: title}, repair.AttemptTreeFacts{Renamed: true}, "", repair.Review},
		"and does more":          {nexus.Task{Title: title}, repair.AttemptTreeFacts{}, nexus.Tester, repair.Write},
		"and a criterion is not": {nexus.Task{Title: title}, repair.AttemptTreeFacts{Renamed: true, Unshown: "criterion 1 is open"}, nexus.Tester, repair.Write},
		"the plan says so":       {nexus.Task{Title: title, Strategy: nexus.NoTest}, repair.AttemptTreeFacts{}, "", repair.Review},
		"people say so":          {nexus.Task{Title: "Draw"}, repair.AttemptTreeFacts{}, "", repair.Review},
		"of docs":                {nexus.Task{Title: title, Kind: nexus.DocsTask}, repair.AttemptTreeFacts{}, "", repair.Review},
	} {
		a := strict(join(wroteWith(1, nexus.Coder, nexus.Accepted), []nexus.Fact{nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t"}})...)
		a.Strategy = nexus.NoTest
		c.task.ID = "T1"
		if s := repair.NextRepairStep(&state.TaskState{Task: c.task}, a, limits(), c.facts); s.Move != c.move || s.Role != c.role {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestBlockedByTests lets a tester look once at tests that keep the coder from continuing.
func TestBlockedByTests(t *testing.T) {
	task := &state.TaskState{Task: nexus.Task{ID: "T1", Strategy: nexus.TDDStrict}}
	gave := func(n int, cause, why string) []nexus.Fact {
		all := wroteWith(n, nexus.Coder, nexus.GaveUp)
		r, end := all[0].(nexus.RoundStarted), all[2].(nexus.SessionEnded)
		r.Cause, end.Why = cause, why
		return []nexus.Fact{r, all[1], end}
	}
	tester := wroteWith(2, nexus.Tester, nexus.Accepted)
	r := tester[0].(nexus.RoundStarted)
	r.Cause = repair.BlockedCause
	tester[0] = r
	for name, c := range map[string]struct {
		facts []nexus.Fact
		cause string // of the tester's round; empty: there is none
	}{
		"by a test":       {gave(1, "", "The TEST of zero is wrong"), repair.BlockedCause},
		"by anything":     {gave(1, "", "there is no key"), ""},
		"for a second":    {join(gave(1, "", "a test is wrong"), tester, []nexus.Fact{nexus.GatesVerdictGiven{State: nexus.Fail, Gate: "test", Tree: "t"}}, gave(3, "test", "a test is wrong")), ""},
		"after it judged": {append(gave(1, "", "a test is wrong"), nexus.GatesVerdictGiven{State: nexus.Fail, Gate: "test", Tree: "t"}), ""},
	} {
		s := repair.NextRepairStep(task, strict(c.facts...), limits(), repair.AttemptTreeFacts{Tested: true})
		if got := s.Cause; got != c.cause || (s.Role == nexus.Tester) != (c.cause != "") || c.cause != "" && !strings.Contains(s.Why, "TEST") {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestUnansweredComments are asked about once more before the work is judged.
func TestUnansweredComments(t *testing.T) {
	task := &state.TaskState{Task: nexus.Task{ID: "T1"}}
	told := nexus.PromptSent{Session: "coder", Comments: []nexus.ReviewComment{{ID: "c1", Kind: nexus.MustComment}}}
	play := func(facts ...nexus.Fact) repair.RepairStep {
		a := strict(facts...)
		a.Strategy = nexus.TestAfter
		return repair.NextRepairStep(task, a, limits(), repair.AttemptTreeFacts{Tested: true})
	}
	first := wroteWith(1, nexus.Coder, nexus.Accepted)
	heard := []nexus.Fact{first[0], first[1], told, first[2]}
	if s := play(heard...); s.Move != repair.Write || s.Role != nexus.Coder || s.Cause != nexus.AnswerCause {
		t.Errorf("not answered: %+v", s)
	}
	if s := play(first...); s.Move != repair.Judge {
		t.Errorf("there was no statement: %+v", s)
	}
	if s := play(append(heard, nexus.CommentsAnswered{Answers: []nexus.CommentAnswer{{Comment: "c1"}}})...); s.Move != repair.Judge {
		t.Errorf("answered: %+v", s)
	}
	if s := play(append(heard, nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t"})...); s.Move != repair.Review {
		t.Errorf("judged: %+v", s)
	}
	tester := wroteWith(1, nexus.Tester, nexus.Accepted)
	told.Session = "tester"
	if s := play(tester[0], tester[1], told, tester[2]); s.Move != repair.Judge {
		t.Errorf("another role was told: %+v", s)
	}
}

// TestWhatGrows: findings of one gate that are more each time, and not as many.
func TestWhatGrows(t *testing.T) {
	unjudged := &state.AttemptRound{}
	for name, c := range map[string]struct {
		rounds []*state.AttemptRound
		want   string
	}{
		"more and more":        {[]*state.AttemptRound{hasVerdict("a", "test", "k"), hasVerdict("b", "test", "a", "b"), hasVerdict("c", "test", "d", "e", "f")}, "findings of test grew 2 times in a row"},
		"as many between":      {[]*state.AttemptRound{hasVerdict("a", "test", "k"), hasVerdict("b", "test", "a", "b"), hasVerdict("c", "test", "y", "z"), hasVerdict("d", "test", "u", "v", "w")}, ""},
		"another gate between": {[]*state.AttemptRound{hasVerdict("a", "test", "k"), hasVerdict("b", "test", "a", "b"), hasVerdict("c", "lint", "c", "d", "e"), hasVerdict("d", "lint", "f", "g", "h", "i")}, ""},
		"green between":        {[]*state.AttemptRound{hasVerdict("a", "test", "k"), hasVerdict("b", "test", "a", "b"), hasVerdict("c", ""), hasVerdict("d", "test", "d", "e", "f"), hasVerdict("e", "test", "g", "h", "i", "j")}, ""},
		"not judged between":   {[]*state.AttemptRound{hasVerdict("a", "test", "k"), hasVerdict("b", "test", "a", "b"), unjudged, hasVerdict("d", "test", "d", "e", "f"), hasVerdict("e", "test", "g", "h", "i", "j")}, ""},
	} {
		if got := repair.StuckReason(&state.AttemptState{Rounds: c.rounds}, 2); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
	}
	// Reviews that said nothing turn nothing down, and what was not judged is no course.
	unread := func(tree string) *state.AttemptRound {
		r := hasVerdict(tree, "")
		r.Reviews = []nexus.ReviewerVerdictGiven{{Tree: tree, SendsBack: true}}
		return r
	}
	for want, rounds := range map[repair.RepairTrend][]*state.AttemptRound{
		repair.CourseWorking: {unread("a"), unread("b")}, repair.CourseWrong: {turnedDown("a"), turnedDown("b")},
	} {
		if got, why := repair.TrendOf(&state.AttemptState{Rounds: rounds}); got != want {
			t.Errorf("%s, as %s, want %s", got, why, want)
		}
	}
	if _, why := repair.TrendOf(&state.AttemptState{Rounds: []*state.AttemptRound{hasVerdict("a", "test", "x"), {}}}); why != "it has just started" {
		t.Error(why)
	}
}

// TestRejectionsThatCount against the rounds of reviews: those that say something.
func TestRejectionsThatCount(t *testing.T) {
	f := []nexus.Finding{{File: "a.go", Severity: nexus.Major, Message: "it leaks"}}
	a := &state.AttemptState{ID: "T1.1", Strategy: nexus.TestAfter}
	for _, fact := range join(
		wroteWith(1, nexus.Coder, nexus.Accepted),
		[]nexus.Fact{nexus.GatesVerdictGiven{State: nexus.Pass, Tree: "t"}, nexus.ReviewerVerdictGiven{Findings: f}, nexus.ReviewerVerdictGiven{Reviewed: true, Findings: f, Summary: "no"}},
	) {
		a.Apply(fact, time.Time{})
	}
	l := limits()
	l.ReviewRounds = 2
	if s := repair.NextRepairStep(&state.TaskState{Task: nexus.Task{ID: "T1"}}, a, l, repair.AttemptTreeFacts{Tested: true}); s.Move != repair.Write || s.Cause != repair.ReviewCause {
		t.Errorf("rejected once, and once not read: %+v", s)
	}
	a.Apply(nexus.ReviewerVerdictGiven{Reviewed: true, Findings: f, Summary: "no"}, time.Time{})
	if s := repair.NextRepairStep(&state.TaskState{Task: nexus.Task{ID: "T1"}}, a, l, repair.AttemptTreeFacts{Tested: true}); s.Outcome != nexus.Exhausted || s.Why != "rejected by review 2 times: no" {
		t.Errorf("rejected twice: %+v", s)
	}
}
