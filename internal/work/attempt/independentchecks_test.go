package attempt

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestReadTests holds what is taken of a reproducer's submission.
func TestReadTests(t *testing.T) {
	of := state.CriterionFingerprint(task(), 2)
	check := func(file, why string) nexus.CriterionTest {
		return nexus.CriterionTest{Number: 2, Of: of, File: file, Command: "sh " + file, Why: why}
	}
	for handin, want := range map[string][]independentCheckTest{
		`no json`: nil,
		`{}`:      {},
		`{"checks":[{"criterion":2,"file":"./a_test.sh","command":"sh a_test.sh","text":"grep -q one a\n"}]}`:                          {{CriterionTest: check("a_test.sh", ""), Text: "grep -q one a\n"}},
		`{"checks":[{"criterion":2,"why":" it is\n taste ","text":"x"}]}`:                                                              {{CriterionTest: nexus.CriterionTest{Number: 2, Of: of, Why: "it is taste"}}},
		`{"checks":[{"criterion":2,"file":"a_test.sh","command":"sh a_test.sh","text":" "}]}`:                                          {{CriterionTest: check("a_test.sh", "its file has no text"), Text: " "}},
		`{"checks":[{"criterion":2,"file":"../a_test.sh","command":"sh ../a_test.sh","text":"true"}]}`:                                 {{CriterionTest: check("../a_test.sh", `"../a_test.sh" is no path in the repository`), Text: "true"}},
		`{"checks":[{"criterion":2,"file":".GIT/a_test.sh","command":"sh .GIT/a_test.sh","text":"true"}]}`:                             {{CriterionTest: check(".GIT/a_test.sh", `".GIT/a_test.sh" is no path in the repository`), Text: "true"}},
		`{"checks":[{"criterion":2,"file":"a.sh","command":"sh a.sh","text":"true"}]}`:                                                 {{CriterionTest: check("a.sh", `"a.sh" is not a test file`)}},
		`{"checks":[{"criterion":3,"file":"a_test.sh","command":"sh a_test.sh","text":"true"}]}`:                                       {},
		`{"checks":[{"criterion":2,"file":"a_test.sh","command":"sh a_test.sh","text":"` + strings.Repeat("x", maxTestText+1) + `"}]}`: {{CriterionTest: check("a_test.sh", "its file has 65537 bytes, the maximum is 65536")}},
	} {
		if diff := cmp.Diff(want, readIndependentTests([]byte(handin), task(), []int{2})); diff != "" {
			t.Errorf("%.200s: %s", handin, diff)
		}
	}
}

// FuzzReadTests holds that nothing of a submission leaves the repository, and that
// what can be run has all that it takes.
func FuzzReadTests(f *testing.F) {
	f.Add([]byte(`{"checks":[{"criterion":2,"file":"a_test.sh","command":"sh a_test.sh","text":"true"},{"criterion":4,"why":"x"}]}`))
	f.Add([]byte(`{"checks":[{"criterion":2,"file":"/etc/a_test.sh","command":"sh a_test.sh","text":"true"}]}`))
	f.Fuzz(func(t *testing.T, handin []byte) {
		for _, one := range readIndependentTests(handin, task(), []int{2, 4}) {
			if one.Number != 2 && one.Number != 4 {
				t.Errorf("criterion %d was not asked about", one.Number)
			}
			if one.Why == "" && (one.Command == "" || !filepath.IsLocal(one.File) || strings.TrimSpace(one.Text) == "" || len(one.Text) > maxTestText) {
				t.Errorf("it could not be run: %+v", one)
			}
		}
	})
}

// TestReproduceOrder holds that what did not count is said, and nothing else.
func TestReproduceOrder(t *testing.T) {
	tests := []independentCheckTest{
		{CriterionTest: nexus.CriterionTest{Number: 2, Command: "sh a_test.sh", Why: "it passes without the change"}},
		{CriterionTest: nexus.CriterionTest{Number: 4, Command: "sh b_test.sh", Why: "x"}},
	}
	want := "Write a test for criterion 2, 3. The test before for criterion 2, sh a_test.sh, does not count: it passes without the change."
	if got := requestIndependentTests([]int{2, 3}, tests); got != want {
		t.Errorf("got %q", got)
	}
	all := addMissingTestReasons(task(), []int{2, 3}, tests, "its author named none")
	if got := slices.IndexFunc(all, func(one independentCheckTest) bool { return one.Number == 3 && one.Why == "its author named none" }); len(all) != 3 || got < 0 {
		t.Errorf("got %+v", all)
	}
	if !json.Valid(independentTestsSchema()) {
		t.Error("the schema is no JSON")
	}
}
