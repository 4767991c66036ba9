package accept_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestMendBrief holds what a task that fixes a criterion is told: what is not true, what its check says, of that the first
// five, and which tasks that landed touched the same files or broke it.
func TestMendBrief(t *testing.T) {
	e := red("")
	e.Command, e.Findings = "sh greet.sh", nil
	for n := range 7 {
		e.Findings = append(e.Findings, nexus.Finding{File: "a.go", Line: n, Test: strings.Repeat("T", n%2), Message: fmt.Sprint("wrong ", n)})
	}
	e.Findings[2].Message = strings.Repeat("x", 299) + "\u00e9 and more"
	e.Findings[3].File = ""
	s := state.NewState("r")
	plan(t, s, nexus.Task{ID: "T1", Files: []string{"b.go", "a.go"}, Criteria: []nexus.Criterion{
		{Text: "tests pass", Check: "test"}, {Text: "it greets", Check: "sh greet.sh"},
	}})
	for id, file := range map[nexus.TaskID]string{"T2": "b.go", "T3": "c.go", "T4": "d.go", "T5": "a.go"} {
		plan(t, s, nexus.Task{ID: id, Files: []string{file}})
	}
	s.Result = &nexus.FinalGatesJudged{Verdict: nexus.GatesVerdict{Tree: "t", Evidence: []nexus.GateEvidence{e}}}
	for _, id := range []nexus.TaskID{"T2", "T1", "T3", "T4", "T2", "T9"} {
		s.Landings = append(s.Landings, &state.CompletedLanding{LandingCompleted: nexus.LandingCompleted{Task: id}})
	}
	got := accept.FixTask(s, nexus.CriterionFault{Criterion: "T1/AC-2", Task: "FIX-1", Kind: nexus.FaultInBoth, Of: "T4", Why: "Red from c2 on."})
	want := []string{
		"T1 has landed, but this is not true of the result of all tasks: it greets",
		"Its check: sh greet.sh",
		"It says: a.go: wrong 0",
		"It says: a.go:1: T: wrong 1",
		"It says: a.go:2: " + strings.Repeat("x", 299),
		"It says: :3: T: wrong 3",
		"It says: a.go:4: wrong 4",
		"Red from c2 on.",
		"Tasks that touched it: T1, T2, T4",
		"The work is wrong, and so is its check. Change both. The new check must test all that the criterion says. A verifier reads your reason.",
	}
	if diff := cmp.Diff(want, strings.Split(got.Brief, "\n")); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	diff := cmp.Diff([]string{"a.go", "b.go", "d.go"}, got.Files)
	if diff != "" || got.Title != "Make T1/AC-2 true again" || got.Minutes != 15 {
		t.Errorf("%+v\n%s", got, diff)
	}
	fault := nexus.CriterionFault{Criterion: "T1/AC-2", Task: "FIX-1", Kind: nexus.FaultStale, Of: "T1", Judges: []string{"x_test.sh", "y_test.sh"}}
	stale := accept.FixTask(s, fault)
	diff = cmp.Diff([]string{"a.go", "b.go", "x_test.sh", "y_test.sh"}, stale.Files)
	if diff != "" || stale.Title != "Make T1/AC-2 true as it reads now" ||
		stale.Reason != "" || !strings.Contains(stale.Brief, "It now says: it greets\nIts old check is in x_test.sh, y_test.sh, and") {
		t.Errorf("%+v\n%s", stale, diff)
	}
	fault.Kind, fault.Judges = nexus.FaultInTest, []string{"a_test.go", "a.go"}
	if test := accept.FixTask(s, fault); test.Kind != nexus.CodeTask || test.Title != "Fix the check of T1/AC-2" {
		t.Errorf("%+v", test)
	}
}

// TestStaleIsOfWhatLanded looks at no criterion of what did not land, of what fixes one, or with a check of its own.
func TestStaleIsOfWhatLanded(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(s *state.State, task *state.TaskState)
		n    int
	}{
		"it landed":      {func(*state.State, *state.TaskState) {}, 1},
		"parked":         {func(_ *state.State, task *state.TaskState) { task.Status = nexus.Parked }, 0},
		"not yet there":  {func(_ *state.State, task *state.TaskState) { task.Landed = nil }, 0},
		"its own check":  {func(_ *state.State, task *state.TaskState) { task.Criteria[0].Check = "sh x.sh" }, 0},
		"it fixes one":   {func(s *state.State, _ *state.TaskState) { sought(s, "T1", "T9/AC-1") }, 0},
		"never reviewed": {func(_ *state.State, task *state.TaskState) { task.Attempts[0].Checks.Checks = nil }, 0},
	} {
		s := state.NewState("r")
		task := &state.TaskState{Task: nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "it sings"}}}, Status: nexus.Landed}
		a := &state.AttemptState{ID: "T1.1"}
		a.Checks.Checks = []nexus.CriterionTest{{Number: 1, Of: "another", File: "old_test.sh", Command: "sh old_test.sh", Proved: true}}
		task.Attempts, task.Landed = []*state.AttemptState{a}, &nexus.LandingCompleted{Attempt: "T1.1", Parent: "p"}
		s.Tasks = append(s.Tasks, task)
		c.edit(s, task)
		if all := accept.UnmetCriteria(s); len(all) != c.n {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

// plan plans a task.
func plan(t *testing.T, s *state.State, task nexus.Task) *state.TaskState {
	t.Helper()
	if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Fact: nexus.TaskPlanned{Task: task}}); err != nil {
		t.Fatal(err)
	}
	return s.TaskByID(task.ID)
}

// sought records that a task was to fix a criterion.
func sought(s *state.State, task, criterion string) {
	fault := nexus.CriterionFault{Criterion: criterion, Task: task, Signature: task}
	s.Fixes.Apply(nexus.CriterionDiagnosisStarted{Attempt: nexus.AttemptID("fix." + task), Faults: []nexus.CriterionFault{fault}})
}

// TestFaultsOnce looks at a check once that several criteria have.
func TestFaultsOnce(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"), red("hello"))
	s.Tasks[0].Criteria[2] = nexus.Criterion{Text: "it is loud", Check: "sh greet.sh"}
	if all := accept.UnmetCriteria(s); len(all) != 1 || all[0].Criterion != "T1/AC-2" {
		t.Errorf("%+v", all)
	}
}

// TestShown holds that a criterion which a gate shows is told with what bears on it, also where it asks for no more than
// that the gate passes.
func TestShown(t *testing.T) {
	for _, by := range []nexus.EvidenceReason{nexus.NewBearing, nexus.LiteralBearing} {
		s := ran(nexus.Landed, "t", green("test"))
		s.Tasks[0].Attempts[0].Weighed.Criteria[0].By = by
		if r := accept.BuildCriteriaTable(s, nil).Rows[0]; r.State != accept.Met || r.Shown == nil || r.Shown.By != by || r.Shown.Why != "so" {
			t.Errorf("%s: %+v", by, r)
		}
	}
}

// TestVerifierSaid tells beside a criterion what the last verifier said about it, and not about another.
func TestVerifierSaid(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"))
	round := func(met bool) *state.AttemptRound {
		return &state.AttemptRound{Verified: &nexus.VerifierVerdictGiven{Criteria: []nexus.CriterionJudgement{{Criterion: " tests pass", Met: met}, {Criterion: "more", Met: true}}}}
	}
	s.Tasks[0].Attempts[0].Rounds = []*state.AttemptRound{round(true), {}, round(false)}
	rows := accept.BuildCriteriaTable(s, nil).Rows
	if v := rows[0].Verifier; v == nil || v.Met || rows[1].Verifier != nil {
		t.Errorf("%+v, %+v", v, rows[1].Verifier)
	}
}

// TestLongGate cuts the name of the gate of a long command.
func TestLongGate(t *testing.T) {
	for n, want := range map[int]string{57: strings.Repeat("x", 57), 58: strings.Repeat("x", 57) + "..."} {
		if got, _ := accept.GateOfCriterion(nexus.Criterion{Check: "sh  " + strings.Repeat("x", n)}); got != nexus.AcceptGate+"sh "+want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// TestLongestWords reads the longest text that may be given for a criterion.
func TestLongestWords(t *testing.T) {
	const list = "# Checklist of run r1\n- [n] T1/AC-2 (0123456789ab) it is nice\n  > "
	for n, want := range map[int]bool{2000: true, 2001: false} {
		if _, answers, err := accept.ParseSignOff(list + strings.Repeat("x", n)); (err == nil) != want || (len(answers) == 1) != want {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

// TestOpen holds which faults are still there.
func TestOpen(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"), red("hello"))
	s.Requests = []state.PendingRequest{{Seq: 9, Request: nexus.Request{Verb: nexus.VerbRevise, ID: "T1/AC-3", Text: "it sings"}}}
	for _, c := range []struct {
		id   string
		kind nexus.CriterionFaultLocation
		want bool
	}{
		{"T1/AC-1", nexus.FaultInSource, false},
		{"T1/AC-2", nexus.FaultInSource, true},
		{"T1/AC-2", nexus.FaultStale, true},
		{"T1/AC-3", nexus.FaultInSource, false},
		{"T1/AC-3", nexus.FaultStale, true},
		{"T1/AC-4", nexus.FaultStale, false},
		{"T9/AC-2", nexus.FaultInSource, false},
	} {
		if got := accept.IsFaultOpen(s, nexus.CriterionFault{Criterion: c.id, Kind: c.kind}); got != c.want {
			t.Errorf("%s, %s: %v", c.id, c.kind, got)
		}
	}
}

// TestInVain says of what is still unmet which tasks were to fix it, and how they ended; a request to revise one criterion
// is of no other.
func TestInVain(t *testing.T) {
	s := ran(nexus.Landed, "t", green("test"), red("hello"))
	if got := accept.FailedFixes(s); got != "" {
		t.Error(got)
	}
	sought(s, "FIX-1", "T1/AC-2")
	if got := accept.FailedFixes(s); got != "" {
		t.Errorf("it was not planned: %s", got)
	}
	sought(s, "FIX-2", "T1/AC-2")
	sought(s, "FIX-3", "T1/AC-4")
	sought(s, "FIX-4", "T1/AC-1")
	for id, status := range map[nexus.TaskID]nexus.TaskStatus{
		"FIX-1": nexus.Parked, "FIX-2": nexus.Landed, "FIX-3": nexus.Parked, "FIX-4": nexus.Landed,
	} {
		plan(t, s, nexus.Task{ID: id}).Status = status
	}
	const want = "T1/AC-2 was to be fixed by FIX-1, which is parked and FIX-2, which is landed; " +
		"T1/AC-4 was to be fixed by FIX-3, which is parked"
	if got := accept.FailedFixes(s); got != want {
		t.Error(got)
	}
	s.Requests = []state.PendingRequest{
		{Seq: 8, Request: nexus.Request{Verb: nexus.VerbApprove, ID: "T1/AC-1", Text: "fine"}},
		{Seq: 9, Request: nexus.Request{Verb: nexus.VerbRevise, ID: "T1/AC-2", Text: "it sings"}},
	}
	table := accept.BuildCriteriaTable(s, nil)
	if states(table) != "met unknown unknown unknown" || table.Rows[0].Stale || !table.Rows[1].Stale || table.Rows[2].Stale {
		t.Errorf("%+v", table.Rows)
	}
}

// TestRowsInWords holds why a criterion is unmet, which files its evidence names, and that a gate which did not end, and may
// do so of itself, shows nothing.
func TestRowsInWords(t *testing.T) {
	plain := red("")
	plain.Findings, plain.Exit = nil, 3
	why := plain
	why.Why = "it was refused"
	named := red("got 1\nwant 2")
	named.Findings[0].Test = "TestA"
	named.Findings = append(named.Findings, nexus.Finding{Message: "nowhere"}, nexus.Finding{File: "b.go"})
	hangs, late := plain, plain
	hangs.State, hangs.Hangs, hangs.Why = nexus.Timeout, true, "it hangs"
	late.State, late.Why = nexus.Timeout, "it took long"
	for name, c := range map[string]struct {
		e     nexus.GateEvidence
		state accept.CriterionState
		why   string
		files []string
	}{
		"an exit code":    {plain, accept.Unmet, "exit 3", nil},
		"a reason":        {why, accept.Unmet, "it was refused", nil},
		"a finding":       {named, accept.Unmet, "TestA: got 1", []string{"a.go:3", "b.go:0"}},
		"without a test":  {red("hello"), accept.Unmet, "hello", []string{"a.go:3"}},
		"it hangs itself": {hangs, accept.Unknown, "timeout: it hangs", nil},
		"it took long":    {late, accept.Unmet, "it took long", nil},
	} {
		table := accept.BuildCriteriaTable(ran(nexus.Landed, "t", green("test"), c.e), nil)
		r := table.Rows[1]
		if r.State != c.state || r.Why != c.why || r.Evidence == nil || cmp.Diff(c.files, r.Evidence.Files) != "" {
			t.Errorf("%s: %s, %s, %+v", name, r.State, r.Why, r.Evidence)
		}
		if unmet := map[bool]int{true: 1}[c.state == accept.Unmet]; table.Unmet != unmet || table.Met != 1 || table.Unknown != 3-unmet {
			t.Errorf("%s: %+v", name, table)
		}
	}
	group := ran(nexus.Landed, "t", green("test"), red("hello"))
	group.Tasks[0].Group = "greet"
	want := []accept.FeatureProgress{{Name: "greet", Tasks: 1, Landed: 1, Met: 1, Unmet: 1, Unknown: 2, Why: "T1/AC-2 is unmet"}}
	if diff := cmp.Diff(want, accept.BuildCriteriaTable(group, nil).Groups); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestWaiversRead holds that a no is not signed, however it reads, and that what is not a word on a criterion is none.
func TestWaiversRead(t *testing.T) {
	ask := func(verb nexus.RequestKind, id, text string) nexus.Event {
		return nexus.Event{Fact: nexus.RequestMade{Request: nexus.Request{Verb: verb, ID: id, Text: text}}}
	}
	got := accept.WaiversFrom([]nexus.Event{
		ask(nexus.VerbReject, "T1/AC-1", accept.ByHand+": no"), ask(nexus.VerbApprove, "T1/AC-2", accept.ByHand),
		ask(nexus.VerbApprove, "T1/AC-3", "fine"),
		ask(nexus.VerbApprove, "T1", "the plan"), ask(nexus.VerbStop, "T1/AC-4", ""),
		{Fact: nexus.RunStarted{}},
		ask(nexus.VerbStop, "T1/AC-2", ""),
	})
	want := map[string]accept.CriterionWaiver{
		"T1/AC-1": {By: "a person", Reason: accept.ByHand + ": no", Rejected: true},
		"T1/AC-2": {By: "a person", Reason: accept.ByHand, Signed: true},
		"T1/AC-3": {By: "a person", Reason: "fine"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestMendPlan holds the bounds of what is taken over from who looked into a task, and which gate judges it.
func TestMendPlan(t *testing.T) {
	s, _, items := ranGate(t)
	s.Tasks[0].Minutes = 20
	items[0].Criterion = strings.Repeat("a ", 100)
	answer := []accept.SignOffAnswer{
		{ID: "T1/AC-2", Says: accept.Rejected, Words: strings.Repeat("w", 2000)}, {ID: "T9/AC-1", Says: accept.Rejected, Words: "no"},
	}
	for want, gates := range map[string][]string{
		"test": {"build", "lint", "test"}, "build": {"lint", "build"}, "lint": {"lint", "vet"}, "": nil,
	} {
		p, some := accept.SignOffPlan("r1", s, items, answer, gates)
		if !some || len(p.Tasks) != 1 || p.Goal != "Fix what people found wrong in what run r1 landed" {
			t.Fatalf("%+v", p)
		}
		task := p.Tasks[0]
		if !strings.HasSuffix(task.Brief, "says: "+strings.Repeat("w", 1400)+"...") {
			t.Errorf("what is taken over of its words: %s", task.Brief)
		}
		if task.Title != "Fix T1/AC-2: "+strings.Repeat("a ", 43)+"a..." || task.Minutes != 20 {
			t.Errorf("%d: %q", task.Minutes, task.Title)
		}
		if got := task.Criteria[len(task.Criteria)-1].Check; got != want || (want == "") != (len(task.Criteria) == 1) {
			t.Errorf("of %v, %q judges it", gates, got)
		}
	}
	items[0].Criterion = strings.Repeat("a", 1590)
	p, _ := accept.SignOffPlan("r1", s, items, answer, nil)
	if !strings.HasSuffix(p.Tasks[0].Brief, "says: "+strings.Repeat("w", 100)+"...") {
		t.Error(p.Tasks[0].Brief)
	}
}

// TestNotesInOrder holds that a note names gates in the order of their names, and that what else is at a commit is told apart
// from notes, with nothing of it lost.
func TestNotesInOrder(t *testing.T) {
	n := accept.EvidenceNoteOf("r", state.LandingEvidence{
		LandingCompleted: nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Tree: "t"},
		Evidence:         []nexus.GateEvidence{green("test"), green("build"), green("lint")},
		Review:           &nexus.ReviewerVerdictGiven{Tree: "t", Reviewed: true, Approved: true, SendsBack: true},
	})
	var gates []string
	for _, g := range n.Gates {
		gates = append(gates, g.Gate)
	}
	if got := strings.Join(gates, " "); got != "build lint test" || n.Review.Approved || n.Gates[0].Counts != nil {
		t.Errorf("%s, %+v", got, n)
	}
	text, err := n.InsertInto([]byte("Mine\n\nof old"))
	if err != nil {
		t.Fatal(err)
	}
	all, rest := accept.ParseNotes(append(text, "{\"nexus_evidence\":1}\nhers\n"...))
	if len(all) != 1 || all[0].Attempt != "T1.1" || rest != "Mine\n\nof old\n{\"nexus_evidence\":1}\nhers" {
		t.Errorf("%+v, %q", all, rest)
	}
}
