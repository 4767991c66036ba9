package escalationreport_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/escalationreport"
)

func round(n int, cause string, findings ...nexus.Finding) *state.AttemptRound {
	return &state.AttemptRound{
		RoundStarted: nexus.RoundStarted{Round: n, Role: nexus.Coder, Cause: cause},
		Evidence:     []nexus.GateEvidence{{Gate: "build", State: nexus.Pass, Tree: "t"}, {Gate: "test", State: nexus.Fail, Tree: "t", Exit: 1, Findings: findings}},
	}
}

// left returns a run with a task that two attempts came to nothing at.
func left(status nexus.TaskStatus, outcome nexus.Outcome) (*state.State, *state.TaskState) {
	s := state.NewState("r")
	same := nexus.Finding{Gate: "test", File: "a_test.go", Line: 7, Test: "m.TestA", Message: "want 3, have 2\nmore"}
	t := &state.TaskState{
		Task: nexus.Task{ID: "T1", Title: "Add"}, Status: status, Why: "the same failure 3 times", Tier: nexus.Fast,
		Attempts: []*state.AttemptState{
			{ID: "T1.1", Tier: nexus.Fast, Strategy: nexus.TestAfter, Outcome: nexus.Exhausted, Why: "60 turns"},
			{
				ID: "T1.2", Tier: nexus.Fast, Strategy: nexus.TestAfter, Outcome: outcome, Why: "the same failure 3 times", Commit: "c9",
				Sessions: []*state.AgentSessionState{{SessionStarted: nexus.SessionStarted{Model: "p/m"}}, {SessionStarted: nexus.SessionStarted{Model: "p/m"}}},
				Rounds: []*state.AttemptRound{
					round(1, "", nexus.Finding{Message: "old"}, same), round(2, "test", same), round(3, "test", same),
				},
			},
		},
	}
	s.Tasks = append(s.Tasks, t)
	return s, t
}

// TestReport holds every report against its schema.
func TestReport(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(escalationreport.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, status := range []nexus.TaskStatus{nexus.Parked, nexus.Failed} {
		for _, outcome := range []nexus.Outcome{
			nexus.NoProgress, nexus.Exhausted, nexus.Unverified, nexus.Conflicted, nexus.GaveUp, nexus.Inapplicable, nexus.Accepted, "",
		} {
			r := escalationreport.EscalationReportFor(left(status, outcome))
			data, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			var any map[string]any
			if err := json.Unmarshal(data, &any); err != nil {
				t.Fatal(err)
			}
			if err := resolved.Validate(any); err != nil {
				t.Errorf("%s, %s: %v\n%s", status, outcome, err, data)
			}
			any["version"] = 2
			if err := resolved.Validate(any); err == nil {
				t.Fatal("the schema takes anything")
			}
		}
	}
}

func TestOf(t *testing.T) {
	s, task := left(nexus.Parked, nexus.NoProgress)
	r := escalationreport.EscalationReportFor(s, task)
	if f := r.Errors[0]; f.Seen != 3 || f.Round != 3 || f.Test != "m.TestA" || f.File != "a_test.go" || f.Line != 7 || f.Attempt != "T1.2" {
		t.Errorf("newest: %+v", f)
	}
	if len(r.Errors) != 2 || r.Errors[1].Message != "old" {
		t.Errorf("%+v", r.Errors)
	}
	if len(r.Tried) != 2 || r.Tried[1].Commit != "c9" || len(r.Tried[1].Models) != 1 || len(r.Tried[1].Rounds) != 3 {
		t.Errorf("%+v", r.Tried)
	}
	want := `T1 is parked: the same failure 3 times
last errors
  test: a_test.go:7: m.TestA: want 3, have 2
    seen 3 times
  test: old
tried
  T1.1 fast test-after: exhausted: 60 turns
  T1.2 fast test-after: no-progress: the same failure 3 times
    coder: test: old
    coder because of test: test: want 3, have 2
    coder because of test: test: want 3, have 2
what you can do
  the same failure came back several times: tell the agent what it overlooks with nexus tell T1 TEXT, or split the task
  nexus retry T1, then nexus resume, continues it
  nexus stop --skip T1 skips it
`
	if got := r.FormatText(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for _, status := range []nexus.TaskStatus{nexus.Pending, nexus.Running, nexus.Landed, nexus.Skipped} {
		if r := escalationreport.EscalationReportFor(left(status, nexus.Accepted)); r != nil {
			t.Errorf("%s: %+v", status, r)
		}
	}
}

// TestMost names the last ten faults, however many there were.
func TestMost(t *testing.T) {
	s, task := left(nexus.Failed, nexus.NoProgress)
	var many []nexus.Finding
	for i := range 30 {
		many = append(many, nexus.Finding{Message: fmt.Sprintf("fault %d", i)})
	}
	task.Attempts[1].Rounds = append(task.Attempts[1].Rounds, round(4, "test", many...))
	r := escalationreport.EscalationReportFor(s, task)
	if len(r.Errors) != 10 || r.Errors[0].Message != "fault 29" || !strings.Contains(r.FormatText(), "stronger tier: balanced") {
		t.Errorf("%s", r.FormatText())
	}
}

// TestFaults names what a round ended with, from whom: what passed, what never
// ran and what is as it should be went not wrong.
func TestFaults(t *testing.T) {
	f := func(text string) []nexus.Finding { return []nexus.Finding{{Message: text}} }
	for name, c := range map[string]struct {
		round state.AttemptRound
		want  string
	}{
		"nothing":             {state.AttemptRound{}, ""},
		"gates":               {state.AttemptRound{Evidence: []nexus.GateEvidence{{Gate: "build", State: nexus.Pass, Tree: "t", Findings: f("fine")}, {Gate: "lint", State: nexus.NotRun, Why: "no tool"}, {Gate: "test", State: nexus.Fail, Exit: 2}, {Gate: "e2e", State: nexus.Timeout, Why: "1m is over"}, {Gate: "hangs", State: nexus.Fail, Hangs: true, Why: "x"}}}, "e2e: 1m is over; test: fail, exit 2"},
		"a proof":             {state.AttemptRound{Proof: &nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Why: "red"}}, ""},
		"no proof":            {state.AttemptRound{Proof: &nexus.TestsRunWithoutWork{Proof: nexus.ProofGreen, Why: "green"}}, "proof: green"},
		"a verdict":           {state.AttemptRound{Verified: &nexus.VerifierVerdictGiven{Read: true, Why: "good"}}, ""},
		"a bad verdict":       {state.AttemptRound{Verified: &nexus.VerifierVerdictGiven{Read: true, Category: nexus.VerifierRejected, Why: "bad"}}, "verify: bad"},
		"an unread verdict":   {state.AttemptRound{Verified: &nexus.VerifierVerdictGiven{Why: "odd"}}, "verify: odd"},
		"reviews":             {state.AttemptRound{Reviews: []nexus.ReviewerVerdictGiven{{Approved: true, Summary: "good"}, {Summary: "bad", Findings: f("worse")}, {Approved: true, SendsBack: true, Summary: "but"}}}, "review: but; review: worse"},
		"handed back":         {state.AttemptRound{Handed: f("red when merged")}, "train: red when merged"},
		"handed back for why": {state.AttemptRound{HandedWhy: "conflict"}, "train: conflict"},
	} {
		s, task := left(nexus.Failed, nexus.NoProgress)
		task.Attempts = []*state.AttemptState{{ID: "T1.1", Rounds: []*state.AttemptRound{&c.round}}}
		var got []string
		for _, f := range escalationreport.EscalationReportFor(s, task).Errors {
			got = append(got, f.From+": "+f.Message)
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}

// TestOneFaultIsOne tells faults apart by where they are and what they say.
func TestOneFaultIsOne(t *testing.T) {
	s, task := left(nexus.Failed, nexus.NoProgress)
	a := nexus.Finding{File: "a", Line: 1, Test: "T", Message: "x"}
	same, file, test, text := a, a, a, a
	same.Line, file.File, test.Test, text.Message = 9, "b", "U", "y"
	task.Attempts = []*state.AttemptState{{ID: "T1.1", Rounds: []*state.AttemptRound{round(1, "", a, file, test, text), round(2, "", same)}}}
	errors := escalationreport.EscalationReportFor(s, task).Errors
	if len(errors) != 4 || errors[0].Seen != 2 || errors[0].Line != 9 || errors[1].Seen != 1 {
		t.Errorf("%+v", errors)
	}
}

// TestWhatCouldNotTell names the criterion whose check gave no answer, where it
// is one.
func TestWhatCouldNotTell(t *testing.T) {
	const other = "give the task a criterion with a command that shows it, or look at nexus diff T1 yourself"
	for name, c := range map[string]struct {
		round *state.AttemptRound
		want  string
	}{
		"the check of the second": {&state.AttemptRound{Verdict: &nexus.GatesVerdictGiven{Gate: nexus.AcceptGate + "./b.sh x", State: nexus.Unverifiable}}, "replace the check that gave no answer: nexus revise T1/AC-2 TEXT --check COMMAND, or look at nexus diff T1 yourself"},
		"another gate":            {&state.AttemptRound{Verdict: &nexus.GatesVerdictGiven{Gate: "test", State: nexus.Unverifiable}}, other},
		"no gate":                 {&state.AttemptRound{Verdict: &nexus.GatesVerdictGiven{State: nexus.Unverifiable}}, other},
		"no verdict":              {&state.AttemptRound{}, other},
	} {
		s, task := left(nexus.Parked, nexus.Unverified)
		task.Criteria = []nexus.Criterion{{Text: "seen"}, {Text: "shown", Check: "./b.sh x"}}
		task.Attempts[1].Rounds = []*state.AttemptRound{c.round}
		if got := escalationreport.EscalationReportFor(s, task).Suggestions[0]; got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
