package attempt_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// prints is a gate with tests, which fails where a file is not there.
func prints(format, file, green, red string) gate.QualityGate {
	quote := func(text string) string { return "'" + strings.ReplaceAll(text, "\n", `\n`) + "'" }
	return gate.QualityGate{Name: "test", Format: format, Tests: true, Args: []string{"sh", "-c", "test -e " + file + " && { printf '%b' " + quote(green) + "; exit; }; printf '%b' " + quote(red) + "; exit 1"}}
}

// shown works, and returns what the criterion of a task is shown by.
func (j *job) shown(criterion string, files map[string]string) nexus.CriterionGateEvidence {
	j.t.Helper()
	j.view.Task.Criteria = []nexus.Criterion{{Text: criterion, Check: "test"}}
	j.written(1, files)
	j.over(nexus.Verifier, 1, nexus.Accepted, agrees("old_test.py", 1))
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	facts, err := j.work()
	w := last[nexus.CriteriaEvidenceRecorded](j)
	if len(w.Criteria) != 1 {
		j.t.Fatalf("%+v: %+v, %v", w, facts, err)
	}
	return w.Criteria[0]
}

// TestMorePassAndNobodySaysWhich: what failed before passes now, unless a test was
// taken away, which may have been that one.
func TestMorePassAndNobodySaysWhich(t *testing.T) {
	for by, files := range map[nexus.EvidenceReason]map[string]string{
		nexus.TurnedBearing: {"one": "1\n"},
		"":                  {"one": "1\n", "old_test.py": "x = 1\n"},
	} {
		g := prints("pytest", "one", "==== 3 passed in 0.12s ====\n", "FAILED old_test.py::test_twins - assert 1 == 2\n==== 1 failed, 1 passed in 0.12s ====\n")
		j := newJob(t, map[string]string{"old_test.py": "def test_twins():\n    assert twins() == 2\n\n\ndef test_y():\n    assert twins() == 1\n"}, g)
		if s := j.shown("twins are two", files); s.By != by {
			t.Errorf("want %q: %+v", by, s)
		}
	}
}

// TestATestThatWasThereIsExtended, which is what was asked for: that shows it, and
// a new file in which no test runs does not.
func TestATestThatWasThereIsExtended(t *testing.T) {
	for by, files := range map[nexus.EvidenceReason]map[string]string{
		nexus.AskedBearing: {"old_test.sh": "test -e bad && test -e bad\n"},
		"":                 {"new_test.sh": "test -e bad\n"},
	} {
		j := newJob(t, map[string]string{"old_test.sh": "test -e bad\n"}, prints("go", "bad", "--- PASS: TestOld (0.00s)\nPASS\nok\tm\t0.1s\n", ""))
		if s := j.shown("more tests of it", files); s.By != by {
			t.Errorf("want %q: %+v", by, s)
		}
	}
}

// TestTestsThatLookAtNothing show nothing where they could only not be loaded
// without the work.
func TestTestsThatLookAtNothing(t *testing.T) {
	for by, body := range map[nexus.EvidenceReason]string{"": "Add()", nexus.NewBearing: "if Add() != 1 { t.Error() }"} {
		g := prints("go", "one", "--- PASS: TestNew (0.00s)\nPASS\nok\tm\t0.1s\n", "# m [m.test]\n./new_test.go:5:29: undefined: Add\nFAIL\tm [build failed]\nFAIL\n")
		g.Args[2] = "test -e new_test.go || { printf -- '--- PASS: TestOld (0.00s)\\nPASS\\nok\\tm\\t0.1s\\n'; exit; }; " + g.Args[2]
		j := newJob(t, map[string]string{"go.mod": "module m\n"}, g)
		files := map[string]string{"one": "1\n", "add.go": "package m\n\nfunc Add() int { return 1 }\n", "new_test.go": "package m\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) { " + body + " }\n"}
		if s := j.shown("it adds numbers", files); s.By != by {
			t.Errorf("%s: %+v", body, s)
		}
	}
}

// TestTheBaseOfARunIsJudgedBeforeAnybodyWorks, and no later one.
func TestTheBaseOfARunIsJudgedBeforeAnybodyWorks(t *testing.T) {
	for _, first := range []bool{true, false} {
		j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
		if !first {
			j.view.Goal.Base = strings.Repeat("0", 40)
		}
		if facts, err := j.work(); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || len(facts) > 0 {
			t.Fatal(facts, err)
		}
		if judged := len(facts[nexus.GateJudged](j)) > 0; judged != first {
			t.Errorf("the first: %v, judged: %v", first, judged)
		}
	}
}
