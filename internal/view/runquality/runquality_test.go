package runquality_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
)

// qualityOf returns the quality of a run without criteria.
func qualityOf(s *state.State) runquality.RunQuality {
	return runquality.NewRunQuality(s, view.NewRunView(s, nil, time.Time{}), accept.CriteriaTable{})
}

// attempt returns a task's attempt with rounds of build evidence, the causes
// of the rounds after the first, and a review of the last.
func attempt(tier nexus.Tier, states []nexus.GateState, causes []string, reviews ...nexus.ReviewerVerdictGiven) *state.AttemptState {
	a := &state.AttemptState{Tier: tier}
	for i, s := range states {
		r := &state.AttemptRound{Evidence: []nexus.GateEvidence{{Gate: "build", State: s, Tree: "t"}}}
		if i > 0 {
			r.Cause = causes[i-1]
		}
		a.Rounds = append(a.Rounds, r)
	}
	a.LastRound().Reviews = reviews
	return a
}

func TestFigures(t *testing.T) {
	approved := nexus.ReviewerVerdictGiven{Reviewed: true, Approved: true, Findings: []nexus.Finding{{Severity: nexus.Major, Unverified: "there is no such file", Message: "m"}}}
	rejected := nexus.ReviewerVerdictGiven{Reviewed: true, Findings: []nexus.Finding{{Severity: nexus.Major, Message: "m"}}}
	s := state.NewState("r")
	s.Tasks = []*state.TaskState{
		{Task: nexus.Task{ID: "A"}, Status: nexus.Landed, Rounds: 1, Attempts: []*state.AttemptState{attempt(nexus.Fast, []nexus.GateState{nexus.Pass}, nil, approved)}},
		{Task: nexus.Task{ID: "B"}, Status: nexus.Landed, Rounds: 4, Attempts: []*state.AttemptState{
			attempt(nexus.Fast, []nexus.GateState{nexus.Fail, nexus.Fail}, []string{"build"}),
			attempt(nexus.Strong, []nexus.GateState{nexus.Fail, nexus.Pass}, []string{"build"}, rejected, approved),
		}},
		{Task: nexus.Task{ID: "C"}, Status: nexus.Parked, Rounds: 1, Attempts: []*state.AttemptState{attempt(nexus.Fast, []nexus.GateState{nexus.Unverifiable}, nil)}},
		{Task: nexus.Task{ID: "D"}, Status: nexus.Pending},
	}
	q := qualityOf(s)
	want := runquality.RunMetrics{
		Tasks: 4, Begun: 3, Landed: 2, Parked: 1, Attempts: 4. / 3, Rounds: 2, MostRounds: 4, FirstAttempt: 1. / 3, FirstRound: 1. / 3,
		Escalated: 1. / 3, Person: 1. / 3, Reviews: 3, Rejected: 1. / 3, Unverified: 2,
	}
	if d := cmp.Diff(want, q.Metrics); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]runquality.GateAttemptStatistics{{Name: "build", Judged: 6, Red: 3, Unsure: 1, Tries: 1.5}}, q.Gates); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"build", "build"}, q.Tasks[1].Sent); d != "" {
		t.Error(d)
	}
	var states []nexus.GateState
	for _, e := range q.TaskEvidence() {
		states = append(states, e.State)
	}
	if d := cmp.Diff([]nexus.GateState{nexus.Pass, nexus.Pass, nexus.Fail, nexus.NotRun}, states); d != "" {
		t.Error(d)
	}
}

func TestNothingYet(t *testing.T) {
	q := qualityOf(state.NewState("r"))
	data, err := json.Marshal(q)
	if err != nil || !strings.Contains(string(data), `"gates":[],"tasks":[]`) {
		t.Errorf("%s %v", data, err)
	}
	if text := runquality.HeadText(q) + runquality.FiguresText(q); !strings.Contains(text, "| tasks landed | 0 of 0 |") {
		t.Error(text)
	}
}

func TestNobodyWritesMarkdownOfTheirOwn(t *testing.T) {
	s := state.NewState("r")
	s.Goal.Goal.Text = "x\n# Done | **all** <img src=x> @everyone [a](http://x)"
	s.Tasks = []*state.TaskState{{Task: nexus.Task{ID: "A", Title: "a | b\n| c"}, Status: nexus.Parked, Why: "`x`\n## y"}}
	text := markdown(qualityOf(s))
	for _, bad := range []string{"\n# Done", "<img", "@everyone", " **all", " [a](", "\n| c", "\n## y"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands in it: %s", bad, text)
		}
	}
}

// TestDecisions lists how a task was to continue that reached a threshold, in a line.
func TestDecisions(t *testing.T) {
	s := state.NewState("r")
	s.Tasks = []*state.TaskState{{Task: nexus.Task{ID: "T1"}, Replans: []nexus.ReplanDecided{{
		Task: "T1", Attempt: "T1.2", Course: nexus.CourseRescope, Why: "nothing\nimproves",
		Crossed: []nexus.CrossedThreshold{{Threshold: nexus.OverRounds, Why: "8 of its 20 rounds are used"}},
	}}}}
	q := qualityOf(s)
	want := "\n## Thresholds\n\n- T1.2: 8 of its 20 rounds are used: it is planned again, as nothing improves\n"
	if text := runquality.HeadText(q) + runquality.FiguresText(q); !strings.Contains(text, want) {
		t.Errorf("%q is not in it: %s", want, text)
	}
	if data, err := json.Marshal(q); err != nil || !strings.Contains(string(data), `"decisions":[{"task":"T1","attempt":"T1.2"`) {
		t.Errorf("%s %v", data, err)
	}
}

func markdown(q runquality.RunQuality) string {
	return runquality.HeadText(q) + runquality.FiguresText(q)
}
