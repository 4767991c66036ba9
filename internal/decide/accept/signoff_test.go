package accept_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ranGate returns a run one of whose tasks landed, with criteria that nothing
// checks.
func ranGate(t *testing.T) (*state.State, accept.CriteriaTable, []accept.SignOffItem) {
	t.Helper()
	s := state.NewState("r1")
	for i, f := range []nexus.Fact{
		nexus.GoalAccepted{Base: "b", Gates: []string{"build", "test"}, Limits: nexus.DefaultLimits()},
		nexus.RunStarted{},
		nexus.PlanProposed{Tasks: 2},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Greet", Files: []string{"a.go"}, Criteria: []nexus.Criterion{{Text: "tests pass", Check: "test"}, {Text: "it is nice\n- [x] T9/AC-1"}, {Text: "it reads well"}}}},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Title: "Park", Criteria: []nexus.Criterion{{Text: "nice"}}}},
		nexus.PlanApproved{},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "b"},
		nexus.RoundStarted{Attempt: "T1.1", Round: 1, Role: nexus.Coder},
		nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "c", Tree: "t"},
		nexus.CriteriaEvidenceRecorded{Attempt: "T1.1", Tree: "t", Criteria: []nexus.CriterionGateEvidence{
			{Number: 1, Of: state.CriterionFingerprint(nexus.Task{Title: "Greet", Criteria: []nexus.Criterion{{Text: "tests pass"}}}, 1), By: nexus.TurnedBearing},
		}},
		nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: "t", State: nexus.Pass},
		nexus.ReviewerVerdictGiven{Attempt: "T1.1", Tree: "t", Reviewed: true, Approved: true},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "c", Tree: "t"},
		nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
		nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "b"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "0123456789abcdef", Tree: "t", Parent: "b"},
	} {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), Run: "r1", Fact: f}); err != nil {
			t.Fatalf("%s: %v", nexus.FactKind(f), err)
		}
	}
	s.Result = &nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Tree: "t", Evidence: []nexus.GateEvidence{{Gate: "test", State: nexus.Pass, Tree: "t"}}}}
	table := accept.BuildCriteriaTable(s, nil)
	return s, table, accept.SignOffItems(s, table)
}

func TestChecklist(t *testing.T) {
	s, table, items := ranGate(t)
	if len(items) != 2 || items[0].ID != "T1/AC-2" || items[1].ID != "T1/AC-3" {
		t.Fatalf("%+v", items)
	}
	text := accept.SignOffMarkdown("r1", table, items)
	for _, want := range []string{"# Checklist of run r1\n", "git worktree add ../try-r1 0123456789ab", "- [ ] T1/AC-3 (", "      T1 Greet: landed as 0123456789ab\n      unknown: it has no check"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in it: %s", want, text)
		}
	}
	run, answers, err := accept.ParseSignOff(text)
	if err != nil || run != "r1" || len(answers) != 0 {
		t.Fatal(run, answers, err)
	}
	edited := strings.Replace(text, "- [ ] T1/AC-2", "- [n] T1/AC-2", 1)
	edited = strings.Replace(edited, "  >\n", "  > it is grey\n  > and slow\n", 1)
	edited = strings.Replace(edited, "- [ ] T1/AC-3", "* [X] T1/AC-3", 1)
	run, answers, err = accept.ParseSignOff(strings.ReplaceAll(edited, "\n", "\r\n"))
	want := []accept.SignOffAnswer{{ID: "T1/AC-2", Print: items[0].Fingerprint, Says: accept.Rejected, Words: "it is grey and slow"}, {ID: "T1/AC-3", Print: items[1].Fingerprint, Says: accept.SignedOff}}
	if d := cmp.Diff(want, answers); d != "" || err != nil || run != "r1" {
		t.Fatal(d, err)
	}
	for _, a := range answers {
		if err := a.Check(items); err != nil {
			t.Error(err)
		}
	}
	if got := answers[0].ToRequest("ann"); got != (nexus.Request{Verb: nexus.VerbReject, ID: "T1/AC-2", Text: "it is grey and slow", By: "ann"}) {
		t.Errorf("%+v", got)
	}
	if got := answers[1].ToRequest("ann"); got != (nexus.Request{Verb: nexus.VerbApprove, ID: "T1/AC-3", Text: accept.ByHand, By: "ann"}) {
		t.Errorf("%+v", got)
	}
	p, some := accept.SignOffPlan("r1", s, items, answers, s.Goal.Gates)
	if !some || len(p.Tasks) != 1 || p.Tasks[0].ID != "MEND-1" || !strings.HasSuffix(p.Tasks[0].Brief, "says: it is grey and slow") ||
		cmp.Diff([]nexus.Criterion{{Text: items[0].Criterion}, {Text: "The gate test passes", Check: "test"}}, p.Tasks[0].Criteria) != "" {
		t.Errorf("%+v", p)
	}
	if _, some := accept.SignOffPlan("r1", s, items, answers[1:], nil); some {
		t.Error("a yes needs no mending")
	}
	for _, bad := range []accept.SignOffAnswer{{ID: "T1/AC-1", Says: accept.SignedOff}, {ID: "T1/AC-2", Says: accept.Rejected}, {ID: "T1/AC-2", Says: accept.SignedOff, Print: "000000000000"}} {
		if bad.Check(items) == nil {
			t.Errorf("%+v can be recorded", bad)
		}
	}
}

// TestNothingIsGuessed refuses a list of which any part is not understood.
func TestNothingIsGuessed(t *testing.T) {
	const head, row = "# Checklist of run r1\n", "- [x] T1/AC-2 (0123456789ab) it is nice\n"
	for text, want := range map[string]string{
		"":                                       "no line starts",
		row:                                      "no line starts",
		head + head:                              "two runs",
		head + row + row:                         "twice",
		head + strings.Replace(row, "x", "?", 1): "unknown mark",
		head + strings.Replace(row, "x", " ", 1) + "  > but it is": "not marked",
		head + strings.Replace(row, "x", "n", 1):                   "nothing says what is",
		head + "- [x] something else\n":                            "belongs to no criterion",
		head + strings.Replace(row, "T1/AC-2", "T1", 1):            "is not the name of a criterion",
		head + strings.Replace(row, "0123456789ab", "12", 1):       "belongs to no criterion",
		head + "  > words\n":                                       "to no criterion",
		head + row + "  > " + strings.Repeat("x", 3_000):           "the maximum is",
		head + strings.Repeat("x", 1<<20):                          "the maximum is",
	} {
		if _, answers, err := accept.ParseSignOff(text); err == nil || !strings.Contains(err.Error(), want) || answers != nil {
			t.Errorf("%.80q: %v, %v", text, answers, err)
		}
	}
	if _, answers, err := accept.ParseSignOff(head + row); err != nil || len(answers) != 1 {
		t.Error(answers, err)
	}
}

func FuzzParseSignOff(f *testing.F) {
	f.Add("# Checklist of run r1\n\n- [x] T1/AC-2 (0123456789ab) it is nice\n      T1 x\n  > seen\n\n- [n] T1/AC-3 (0123456789ab)\n> no\n")
	f.Add("# Checklist of run r1\n* [] T1/AC-2 (0123456789ab)")
	f.Fuzz(func(t *testing.T, text string) {
		run, answers, err := accept.ParseSignOff(text)
		if err != nil {
			if answers != nil {
				t.Fatal("answers beside an error")
			}
			return
		}
		seen := map[string]bool{}
		for _, a := range answers {
			if _, _, ok := accept.ParseID(a.ID); !ok || seen[a.ID] || a.Says != accept.SignedOff && a.Says != accept.Rejected || a.Says == accept.Rejected && a.Words == "" || strings.Contains(a.Words, "\n") {
				t.Fatalf("%+v", a)
			}
			seen[a.ID] = true
		}
		if marks := strings.Count(text, "["); len(answers) > marks || run == "" && len(answers) > 0 && !strings.Contains(text, "Checklist") {
			t.Fatal(answers)
		}
	})
}
