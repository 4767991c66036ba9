package attempt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// TestAReview that says no sends the work back, one that cannot be read is asked
// for once more, and without any the work is not accepted.
func TestAReview(t *testing.T) {
	no := map[string]any{"approved": false, "summary": "no", "findings": []map[string]string{{"severity": "critical", "message": "no"}}}
	j := newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	j.over(nexus.Reviewer, 1, nexus.Accepted, no)
	facts, err := j.work()
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || len(facts) > 0 {
		t.Error(facts, err)
	}
	if got, want := j.desk.told(), "gate lint pass, verdict pass, review false, round 2 coder review"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if i := slices.IndexFunc(j.desk.facts, func(f nexus.Fact) bool { r, ok := f.(nexus.ReviewerVerdictGiven); return ok && r.SendsBack }); i < 0 {
		t.Error("no review says that it sends the work back")
	}

	j = newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	j.over(nexus.Reviewer, 1, nexus.Accepted, "nonsense")
	j.over(nexus.Reviewer, 2, nexus.Accepted, approved())
	if f := j.ended(); f.Outcome != nexus.Accepted || j.desk.told() != "gate lint pass, verdict pass, review false, review true" {
		t.Errorf("%+v: %s", f, j.desk.told())
	}

	j = newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	j.over(nexus.Reviewer, 1, nexus.Exhausted, nil)
	j.over(nexus.Reviewer, 2, nexus.Exhausted, nil)
	if f := j.ended(); f.Outcome != nexus.Unverified || !strings.HasPrefix(f.Why, "not reviewed: ") {
		t.Errorf("%+v", f)
	}

	j = newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	j.over(nexus.Reviewer, 1, nexus.Refused, nil)
	if facts, err := j.work(); !errors.Is(err, &nexus.Error{Code: nexus.CodeBudget}) || len(facts) > 0 {
		t.Error(facts, err)
	}
}

// TestWhatTakesTestsAwayIsSuspected before the verdict is on record, and then a
// verifier is asked about it.
func TestWhatTakesTestsAwayIsSuspected(t *testing.T) {
	test := "package m\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Error() }\n"
	j := newJob(t, map[string]string{"old_test.go": test}, lint("exit 0"))
	j.written(1, map[string]string{"one": "", "old_test.go": "package m\n"})
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	facts, err := j.work()
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || !strings.Contains(err.Error(), "verifier") || len(facts) > 0 {
		t.Error(facts, err)
	}
	if got, want := j.desk.told(), "gate lint pass, tamper, verdict pass"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestWhatTakesTheTestersTestsAwayIsSuspected where they came first and were red,
// though the base never had them.
func TestWhatTakesTheTestersTestsAwayIsSuspected(t *testing.T) {
	test := "package m\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) { t.Error() }\n"
	for _, c := range []struct {
		name   string
		proof  nexus.TestProofResult
		coder  string // what is left of the tests
		tamper bool
	}{
		{"taken away", nexus.ProofRed, "package m\n", true},
		{"left", nexus.ProofRed, test, false},
		{"taken away, and they were never red", nexus.ProofGreen, "package m\n", false},
	} {
		j := newJob(t, nil, lint("exit 0"))
		a := j.view.Attempt
		a.Strategy, j.view.Task.Kind = nexus.TDDStrict, ""
		j.written(1, map[string]string{"new_test.go": test})
		j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
		p := &nexus.TestsRunWithoutWork{Attempt: a.ID, Proof: c.proof, Tree: a.Snapshot.Tree, Tests: []string{"new_test.go"}}
		a.Rounds[0].Role, a.Rounds[0].Session, a.Rounds[0].Proof, a.Proof = nexus.Tester, "T1.1/tester.1", p, p
		j.written(2, map[string]string{"one": "1\n", "new_test.go": c.coder})
		_, err := j.work()
		if told := j.desk.told(); strings.Contains(told, "tamper") != c.tamper {
			t.Errorf("%s: %s, %v", c.name, told, err)
		}
	}
}

// TestAVerifier says whether what the work does to its judges is right: what it
// says is about the tree that was judged, and without a word from it the work is
// not accepted.
func TestAVerifier(t *testing.T) {
	test := "package m\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Error() }\n"
	says := func(legitimate bool) map[string]any {
		return map[string]any{"approved": legitimate, "criteria": []any{}, "quality": map[string]any{"rating": "good"}, "reasoning": "so", "testModifications": map[string]any{"files": []string{"old_test.go"}, "legitimate": legitimate, "reasoning": "so"}}
	}
	for _, c := range []struct {
		name    string
		outcome nexus.Outcome
		handin  any
		want    nexus.Outcome // empty: it does not end
		code    nexus.ErrorCode
	}{
		{"right", nexus.Accepted, says(true), nexus.Accepted, ""},
		{"wrong", nexus.Accepted, says(false), "", nexus.CodeNoKey}, // the coder's next round
		{"not read", nexus.Accepted, "nonsense", nexus.Unverified, ""},
		{"not finished", nexus.Exhausted, nil, nexus.Unverified, ""},
		{"no money", nexus.Refused, nil, "", nexus.CodeBudget},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, map[string]string{"old_test.go": test}, lint("exit 0"))
			j.written(1, map[string]string{"one": "", "old_test.go": "package m\n"})
			j.over(nexus.Verifier, 1, c.outcome, c.handin)
			j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
			facts, err := j.work()
			if c.want == "" {
				if !errors.Is(err, &nexus.Error{Code: c.code}) || len(facts) > 0 {
					t.Error(facts, err)
				}
			} else if err != nil || len(facts) != 1 || facts[0].(nexus.AttemptEnded).Outcome != c.want {
				t.Errorf("%+v, %v: %s", facts, err, j.desk.told())
			}
			i := slices.IndexFunc(j.desk.facts, func(f nexus.Fact) bool { _, ok := f.(nexus.VerifierVerdictGiven); return ok })
			if c.code == nexus.CodeBudget {
				if i >= 0 {
					t.Error("a verifier without money gave a verdict")
				}
				return
			}
			if i < 0 || j.desk.facts[i].(nexus.VerifierVerdictGiven).Tree != j.view.Attempt.Snapshot.Tree || j.desk.facts[i].(nexus.VerifierVerdictGiven).Attempt != "T1.1" {
				t.Errorf("%+v", j.desk.facts)
			}
		})
	}
}

// TestAReaderIsPickedForWhatItReads: who made that is said.
func TestAReaderIsPickedForWhatItReads(t *testing.T) {
	for _, role := range []nexus.Role{nexus.Verifier, nexus.Reviewer} {
		j := newJob(t, nil, lint("exit 0"))
		j.written(1, one)
		j.view.Attempt.Sessions[0].Model = "toy/author"
		c, by := j.plays(nil), ""
		j.Sessions.PickReader = func(role nexus.Role, _, _ nexus.Tier, author, _ string) (worker.PricedModel, string, error) {
			by = author
			return c.model(role, "toy/one"), "the only one", nil
		}
		if j.next(role); by != "toy/author" {
			t.Errorf("the %s reads the work of %q", role, by)
		}
	}
}
