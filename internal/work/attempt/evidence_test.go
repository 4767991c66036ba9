package attempt_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// last returns the last fact of a kind that was recorded.
func last[F nexus.Fact](j *job) F {
	j.t.Helper()
	for _, f := range slices.Backward(j.desk.facts) {
		if f, ok := f.(F); ok {
			return f
		}
	}
	var none F
	j.t.Fatalf("no %T is on record: %s", none, j.desk.told())
	return none
}

// newTest is a gate with one test, in new_test.go, that needs the file one.
func newTest() gate.QualityGate {
	const red = `--- FAIL: TestNew (0.00s)\n    new_test.go:3: no\nFAIL\nFAIL\tm\t0.1s\n`
	const green, old = `--- PASS: TestNew (0.00s)\nPASS\nok\tm\t0.1s\n`, `--- PASS: TestOld (0.00s)\nPASS\nok\tm\t0.1s\n`
	return gate.QualityGate{Name: "test", Format: "go", Tests: true, Args: []string{"sh", "-c", "test -e new_test.go || { printf -- '" + old + "'; exit; }; test -e one && printf -- '" + green + "' && exit; printf -- '" + red + "'; exit 1"}}
}

// TestTestsOfAnEarlierAttemptAreProvedWithoutItsWork, which is there already;
// those that were written first are proved on the very tree.
func TestTestsOfAnEarlierAttemptAreProvedWithoutItsWork(t *testing.T) {
	for _, earlier := range []bool{true, false} {
		j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
		a := j.view.Attempt
		a.Strategy, j.view.Task.Kind = nexus.TDDStrict, ""
		files, want, beside := map[string]string{"one": "1\n", "new_test.go": "package m\n"}, "bad go.mod new_test.go", ""
		if earlier {
			a.From, a.FromRound = "T1.0", 1
			a.Start, _ = j.tree("T1.0", j.base, files)
		} else {
			files, want, beside = map[string]string{"side": "1\n", "new_test.go": "package m\n"}, "bad go.mod new_test.go side", "side"
			commit, hash := j.tree("T1.1", j.base, files)
			j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
			a.Rounds = []*state.AttemptRound{{RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 1, Role: nexus.Tester, Session: "T1.1/tester.1"}, Base: j.base, From: j.base, Commit: commit, Prompted: true}}
			a.Snapshot = nexus.TreeSnapshotted{Attempt: a.ID, Commit: commit, Tree: hash}
		}
		if facts, err := j.work(); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || !strings.Contains(err.Error(), "coder") {
			t.Error(facts, err)
		}
		if p := last[nexus.TestsRunWithoutWork](j); p.Proof != nexus.ProofRed || j.files(p.Tree) != want || strings.Join(p.Beside, " ") != beside || !slices.Equal(p.Files, []string{"new_test.go"}) {
			t.Errorf("earlier %v: %+v on %s", earlier, p, j.files(p.Tree))
		}
	}
}

// TestNewTestsShowACriterionWhereTheyAreRedWithoutTheWork, and nothing else here
// does: work whose gates pass is not accepted while nothing shows its criterion.
func TestNewTestsShowACriterionWhereTheyAreRedWithoutTheWork(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		by    nexus.EvidenceReason
	}{
		"a test with the work": {map[string]string{"one": "1\n", "new_test.go": "package m\n"}, nexus.NewBearing},
		"no test":              {map[string]string{"one": "1\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
			j.view.Task.Criteria = []nexus.Criterion{{Text: "it adds numbers", Check: "test"}}
			j.written(1, c.files)
			j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
			facts, err := j.work()
			told := errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) && last[nexus.RoundStarted](j).Cause == repair.UnprovenCause // its author is
			if landed := len(facts) == 1 && facts[0].(nexus.AttemptEnded).Outcome == nexus.Accepted; landed != (c.by != "") || told == landed {
				t.Errorf("%+v, %v", facts, err)
			}
			f := last[nexus.CriteriaEvidenceRecorded](j)
			if f.Tree != j.view.Attempt.Snapshot.Tree || len(f.Criteria) != 1 || f.Criteria[0].By != c.by {
				t.Errorf("%+v", f)
			}
		})
	}
}

// tested is work that was green, and a round in which a tester named a check for
// its one criterion, in add_test.sh.
func tested(t *testing.T, check, file string, more map[string]string) *job {
	t.Helper()
	j := newJob(t, map[string]string{"old_test.sh": "test -e one\n"}, lint("exit 0"))
	a := j.view.Attempt
	j.Sessions.Checks, a.Strategy = "auto", nexus.TestAfter
	j.view.Task.Kind, j.view.Task.Criteria = "", []nexus.Criterion{{Text: "it adds"}}
	j.written(1, one)
	a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
	j.over(nexus.Tester, 1, nexus.Accepted, map[string]any{"summary": "Done.", "status": "done", "checks": []map[string]any{
		{"criterion": 1, "test": "adds", "file": file, "command": "sh " + file},
	}})
	files := map[string]string{"one": "1\n", "add_test.sh": check}
	for name, text := range more {
		files[name] = text
	}
	commit, hash := j.tree("T1.1", j.base, files)
	a.Rounds = append(a.Rounds, &state.AttemptRound{
		RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 2, Role: nexus.Tester, Cause: repair.CriteriaGate, Session: "T1.1/tester.1"},
		Base:         j.base, From: a.Snapshot.Commit, Commit: commit, Prompted: true,
	})
	a.Snapshot = nexus.TreeSnapshotted{Attempt: a.ID, Commit: commit, Tree: hash}
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	return j
}

// TestACheckThatATesterNamed counts where it is red without the work and green
// with it.
func TestACheckThatATesterNamed(t *testing.T) {
	for name, c := range map[string]struct {
		check, file string
		proved, red bool
		why         string
	}{
		"proves":                  {"test -e one\n", "add_test.sh", true, false, ""},
		"passes in any case":      {"true\n", "add_test.sh", false, false, "it passes without the work"},
		"fails with the work":     {"test -e two\n", "add_test.sh", false, true, "it does not pass with the work"},
		"cannot run":              {"no-such-command-at-all\n", "add_test.sh", false, false, "it does not pass with the work"},
		"was there before":        {"test -e one\n", "old_test.sh", false, false, "is not a test that came with the work"},
		"fails for its own fault": {"test -e one || no-such-command-at-all\n", "add_test.sh", false, false, "without the work it fails for an unrelated reason"},
	} {
		t.Run(name, func(t *testing.T) {
			j := tested(t, c.check, c.file, nil)
			facts, err := j.work()
			f := last[nexus.CriterionTestsFound](j)
			if len(f.Checks) != 1 || f.Tree != j.view.Attempt.Snapshot.Tree || f.Attempt != "T1.1" {
				t.Fatalf("%+v", f)
			}
			if got := f.Checks[0]; got.Number != 1 || got.Proved != c.proved || got.Red != c.red || !strings.Contains(got.Why, c.why) || (got.Why == "") != (c.why == "") {
				t.Errorf("%+v", got)
			}
			shown := slices.ContainsFunc(j.desk.facts, func(f nexus.Fact) bool {
				g, ok := f.(nexus.GateJudged)
				return ok && g.Evidence.Command == "sh "+c.file
			})
			if want := name != "cannot run" && name != "was there before"; shown != want {
				t.Errorf("what it says of the work is on record: %v, want %v", shown, want) // what says nothing is not
			}
			if c.proved == errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || c.proved && facts[0].(nexus.AttemptEnded).Outcome != nexus.Accepted {
				t.Error(facts, err) // what is red goes back to its author, who is also told what shows nothing
			}
			if !c.proved && (last[nexus.RoundStarted](j).Cause == repair.UnprovenCause) == c.red {
				t.Error(j.desk.told())
			}
		})
	}
}

// TestChecksStandInTheOrderOfTheirCriteria, with those that were settled before.
func TestChecksStandInTheOrderOfTheirCriteria(t *testing.T) {
	j := tested(t, "test -e one\n", "add_test.sh", nil)
	task := &j.view.Task
	task.Criteria = append(task.Criteria, nexus.Criterion{Text: "it feels right"})
	handin, err := json.Marshal(map[string]any{"checks": []map[string]any{{"criterion": 2, "why": "only a person can tell"}}})
	if err != nil {
		t.Fatal(err)
	}
	s := j.view.Attempt.LastSession(nexus.Tester)
	if s.Result, err = j.Site.Blobs.Put(handin); err != nil {
		t.Fatal(err)
	}
	check := nexus.CriterionTest{Number: 1, Of: state.CriterionFingerprint(task.Task, 1), Test: "adds", File: "add_test.sh", Command: "sh add_test.sh", Proved: true}
	j.view.Attempt.Checks = nexus.CriterionTestsFound{Attempt: "T1.1", Handin: "earlier", Checks: []nexus.CriterionTest{check}}
	if facts, err := j.work(); err != nil {
		t.Fatal(facts, err)
	}
	f := last[nexus.CriterionTestsFound](j)
	if len(f.Checks) != 2 || f.Checks[0].Number != 1 || !f.Checks[0].Proved || f.Checks[1].Why != "only a person can tell" {
		t.Errorf("%+v", f.Checks)
	}
}

// TestWhatATesterOfCriteriaChangedIsTakenBack, and its checks count for nothing.
func TestWhatATesterOfCriteriaChangedIsTakenBack(t *testing.T) {
	j := tested(t, "test -e one\n", "add_test.sh", map[string]string{"bad": "better\n"})
	green := j.view.Attempt.Rounds[0].Verdict.Tree
	if facts, err := j.work(); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || last[nexus.RoundStarted](j).Cause != repair.UnprovenCause {
		t.Fatal(facts, err) // its author is told what nothing shows
	}
	if snap := last[nexus.TreeSnapshotted](j); snap.Tree != green {
		t.Errorf("%s is left, want %s", j.files(snap.Tree), j.files(green))
	}
	if f := last[nexus.CriterionTestsFound](j); f.Tree != green || len(f.Checks) != 1 || f.Checks[0].Proved || !strings.Contains(f.Checks[0].Why, "a change of bad") {
		t.Errorf("%+v", f)
	}
}

// TestWhatATesterOfCriteriaFindsMissing goes to the coder, and the tests stay.
func TestWhatATesterOfCriteriaFindsMissing(t *testing.T) {
	j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
	a := j.view.Attempt
	j.Sessions.Checks, a.Strategy = "auto", nexus.TestAfter
	j.view.Task.Kind, j.view.Task.Criteria = "", []nexus.Criterion{{Text: "it adds"}}
	j.written(1, map[string]string{"two": "2\n"})
	green := a.Snapshot
	a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: green.Tree, State: nexus.Pass}
	j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
	commit, hash := j.tree("T1.1", j.base, map[string]string{"two": "2\n", "new_test.go": "package m\n"})
	a.Rounds = append(a.Rounds, &state.AttemptRound{
		RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 2, Role: nexus.Tester, Cause: repair.CriteriaGate, Session: "T1.1/tester.1"},
		Base:         j.base, From: green.Commit, Commit: commit, Prompted: true,
	})
	a.Snapshot = nexus.TreeSnapshotted{Attempt: a.ID, Commit: commit, Tree: hash}
	if facts, err := j.work(); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) {
		t.Error(facts, err)
	}
	if got, want := j.desk.told(), "gate test fail, verdict fail, round 3 coder test"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestWhatIsTakenAwayIsAgreedToByName, or a review does not approve of it.
func TestWhatIsTakenAwayIsAgreedToByName(t *testing.T) {
	for _, agreed := range []bool{false, true} {
		j := newJob(t, nil, lint("exit 0"))
		j.written(1, one)
		a := j.view.Attempt
		a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
		a.Rounds[0].Evidence = []nexus.GateEvidence{{Gate: nexus.DonePrefix + nexus.DeletionBound, State: nexus.Pass, Tree: a.Snapshot.Tree, Findings: []nexus.Finding{{Name: "old", Explained: "it is dead"}}}}
		says := approved()
		if agreed {
			says["agreed"] = []string{"old"}
		}
		j.over(nexus.Reviewer, 1, nexus.Accepted, says)
		if facts, err := j.work(); agreed != (err == nil) {
			t.Error(facts, err)
		}
		if f := last[nexus.ReviewerVerdictGiven](j); f.Approved != agreed || f.SendsBack == agreed || agreed != (len(f.Findings) == 0) {
			t.Errorf("%+v", f)
		}
	}
}

// TestACommandIsNotRunAgainWhereItWasTried on that very tree, and told anything.
func TestACommandIsNotRunAgainWhereItWasTried(t *testing.T) {
	runs := func(change func(*nexus.GateEvidence)) (int, nexus.CriterionGateEvidence) {
		j := newJob(t, nil, lint("exit 0"))
		log := filepath.Join(t.TempDir(), "log")
		line := "echo ran >> " + log + "; test -e one"
		j.view.Task.Criteria = []nexus.Criterion{{Text: "one is there", Check: line}}
		tree, err := j.Trees.PrivateRepo().TreeID(t.Context(), j.base)
		if err != nil {
			t.Fatal(err)
		}
		e := nexus.GateEvidence{Gate: nexus.AcceptGate + line, Command: line, Tree: tree, State: nexus.Fail}
		change(&e)
		j.view.Tried = []nexus.GateEvidence{e}
		j.written(1, one)
		j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
		if _, err := j.work(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(text), "ran"), last[nexus.CriteriaEvidenceRecorded](j).Criteria[0]
	}
	known, shown := runs(func(*nexus.GateEvidence) {})
	if shown.By != nexus.TurnedBearing {
		t.Errorf("%+v", shown)
	}
	for name, change := range map[string]func(*nexus.GateEvidence){
		"another tree":    func(e *nexus.GateEvidence) { e.Tree, e.State = "other", nexus.Pass },
		"another command": func(e *nexus.GateEvidence) { e.Command, e.State = "true", nexus.Pass },
		"it did not run":  func(e *nexus.GateEvidence) { e.State = nexus.NotRun },
	} {
		if n, shown := runs(change); n <= known || shown.By != nexus.TurnedBearing {
			t.Errorf("%s: %d runs, and %d where it was tried: %+v", name, n, known, shown)
		}
	}
}

// TestACheckOfWorkThatLandedBefore is tried without that work, which the base
// has.
func TestACheckOfWorkThatLandedBefore(t *testing.T) {
	for _, revised := range []bool{true, false} {
		j := newJob(t, nil, lint("exit 0"))
		a, before := j.view.Attempt, j.base
		a.Base, _ = j.tree("landed", j.base, one)
		j.Sessions.Checks, a.Strategy = "auto", nexus.TestAfter
		j.view.Task.Kind, j.view.Task.Criteria = "", []nexus.Criterion{{Text: "it adds"}}
		if revised {
			j.view.Without = before
		}
		j.base = a.Base
		j.written(1, map[string]string{"note": "1\n"})
		a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
		j.over(nexus.Tester, 1, nexus.Accepted, map[string]any{"summary": "Done.", "status": "done", "checks": []map[string]any{
			{"criterion": 1, "test": "adds", "file": "add_test.sh", "command": "sh add_test.sh"},
		}})
		commit, hash := j.tree("T1.1", j.base, map[string]string{"note": "1\n", "add_test.sh": "test -e one\n"})
		a.Rounds = append(a.Rounds, &state.AttemptRound{
			RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 2, Role: nexus.Tester, Cause: repair.CriteriaGate, Session: "T1.1/tester.1"},
			Base:         j.base, From: a.Snapshot.Commit, Commit: commit, Prompted: true,
		})
		a.Snapshot = nexus.TreeSnapshotted{Attempt: a.ID, Commit: commit, Tree: hash}
		j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
		if facts, err := j.work(); err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) {
			t.Fatal(facts, err)
		}
		if f := last[nexus.CriterionTestsFound](j); len(f.Checks) != 1 || f.Checks[0].Proved != revised || revised == (f.Checks[0].Why == "it passes without the work") {
			t.Errorf("revised %v: %+v", revised, f.Checks)
		}
	}
}
