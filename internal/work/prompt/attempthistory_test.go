package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// TestWhatWasTriedIsBounded gives it its own part of the brief, however much there
// is: the diff is left out first, then what is older, and people's words last.
func TestWhatWasTriedIsBounded(t *testing.T) {
	long := strings.Repeat("word ", 2_000)
	var a attempthistory.AttemptsSummary
	for i := range 50 {
		id := nexus.AttemptID(fmt.Sprint("T3.", 50-i))
		f := nexus.Finding{File: fmt.Sprintf("dur/%d.go", 50-i), Message: long}
		a.Attempts = append(a.Attempts, attempthistory.EarlierAttempt{ID: id, Why: fmt.Sprint(i, long), Idea: long, Files: strings.Fields(long)})
		a.DeadEnds = append(a.DeadEnds, attempthistory.PersistentFailure{Gate: "test", Finding: f, Tries: []attempthistory.FailedRound{{Attempt: id, Round: 1, Idea: long}, {Attempt: id, Round: 2}}})
		a.OpenFindings = append(a.OpenFindings, attempthistory.OpenReviewFinding{Attempt: id, Finding: f, Objection: long})
		a.Last.Findings = append(a.Last.Findings, f)
	}
	a.Last.From, a.Closest.At, a.Closest.Diff = "test", "c", strings.Repeat("+"+long+"\n", 50)
	a.Said = []state.DeliveredGuidance{{Text: "A week has 7 days. " + long}}
	base := prompt.TaskBrief{Session: "T3.51/coder.1", Task: task()}
	with := base
	with.Tried = a
	text := with.Text()
	if n := prompt.EstimateTokens(text) - prompt.EstimateTokens(base.Text()); n > 10_100 || n < 6_000 {
		t.Errorf("%d tokens are said of what was tried", n)
	}
	for _, want := range []string{"- T3.50: ", "## Said by people", "A week has 7 days.", "## Found last", "Left out for length: ", "Closest so far"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q", want)
		}
	}
	if strings.Contains(text, "## Closest so far") || strings.Contains(text, "T3.1:") {
		t.Error("what is worth less is there")
	}
	of := map[string]int64{}
	for _, p := range with.Parts() {
		of[p.Title] = p.Of
	}
	for _, title := range []string{"Closest so far", "Findings that were not fixed"} {
		if of[title] == 0 {
			t.Errorf("nothing says that %s was cut: %v", title, of)
		}
	}
}

// TestSameIsSaidOnce holds that rounds in a row of which the same is said are told
// in one line, and others are not.
func TestSameIsSaidOnce(t *testing.T) {
	end := attempthistory.PersistentFailure{Gate: "build", Finding: nexus.Finding{Message: "undefined"}}
	for i := range 3 {
		end.Tries = append(end.Tries, attempthistory.FailedRound{Attempt: "T3.2", Round: 3 - i, Idea: "a scanner"})
	}
	end.Tries = append(end.Tries, attempthistory.FailedRound{Attempt: "T3.1", Round: 2, Idea: "a scanner"}, attempthistory.FailedRound{Attempt: "T3.1", Round: 1})
	for i := range 9 {
		end.Tries = append(end.Tries, attempthistory.FailedRound{Attempt: "T3.0", Round: 9 - i, Idea: fmt.Sprint(i)})
	}
	text := prompt.TaskBrief{Session: "T3.3/coder.1", Task: task(), Tried: attempthistory.AttemptsSummary{DeadEnds: []attempthistory.PersistentFailure{end}}}.Text()
	want := "- build: undefined\n  - after round 1, 2, 3 of T3.2: a scanner\n  - after round 2 of T3.1: a scanner\n  - after round 1 of T3.1: there was no statement\n" +
		"  - after round 9 of T3.0: 0\n  - after round 8 of T3.0: 1\n  - after round 7 of T3.0: 2\n  - after 6 older changes\n"
	if !strings.Contains(text, want) {
		t.Error(text)
	}
}
