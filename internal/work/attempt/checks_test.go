package attempt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func task() nexus.Task {
	return nexus.Task{ID: "T1", Title: "Do it", Criteria: []nexus.Criterion{{Text: "it builds", Check: "build"}, {Text: "it adds"}, {Text: "it is nice"}, {Text: "it is fast"}}}
}

func TestRead(t *testing.T) {
	of := func(n int) string { return state.Fingerprint(task(), n) }
	for handin, want := range map[string][]nexus.CriterionCheck{
		`{"summary":"x","status":"done"}`: nil,
		`not json`:                        nil,
		`{"checks":"no"}`:                 nil,
		`{"checks":[{"criterion":2,"test":"TestAdd","file":"./add_test.go","command":"go test -run TestAdd ."},{"criterion":3,"why":"taste"},{"criterion":1,"command":"true ."},{"criterion":9,"why":"x"}]}`: {
			{Number: 2, Of: of(2), Test: "TestAdd", File: "add_test.go", Command: "go test -run TestAdd ."}, {Number: 3, Of: of(3), Why: "taste"},
		},
		`{"checks":[{"criterion":2},{"criterion":3,"file":"a.go","command":"sh a.go"},{"criterion":4,"file":"a_test.go","command":"test"}]}`: {
			{Number: 3, Of: of(3), File: "a.go", Command: "sh a.go", Why: `"a.go" is not a test file`},
			{Number: 4, Of: of(4), File: "a_test.go", Command: "test", Why: "its command names a gate, which judges all of the work"},
		},
		`{"checks":[{"criterion":4,"file":"a_test.go","command":"sh a_test.go\nrm -rf ."}]}`: {
			{Number: 4, Of: of(4), File: "a_test.go", Command: "sh a_test.go\nrm -rf .", Why: "its command is not one line of at most 500 characters"},
		},
	} {
		if diff := cmp.Diff(want, readChecks([]byte(handin), task(), unshown(task()))); diff != "" {
			t.Errorf("%s: %s", handin, diff)
		}
	}
}

func TestAsk(t *testing.T) {
	if text := askChecks(task(), unshown(task()), nil, false); !strings.Contains(text, "criterion 2, 3, 4 yet") {
		t.Error(text)
	}
	if text := askChecks(nexus.Task{Criteria: []nexus.Criterion{{Text: "x", Check: "test"}}}, nil, nil, true); text != "" {
		t.Error(text)
	}
	tried := []nexus.CriterionCheck{{Number: 3, Command: "sh a_test.sh", Why: "it passes without the work"}, {Number: 1, Command: "sh b_test.sh", Why: "x"}}
	if text := askChecks(task(), unshown(task()), tried, false); !strings.Contains(text, "criterion 3 before, sh a_test.sh, does not count: it passes without the work") || strings.Contains(text, "b_test.sh") {
		t.Errorf("asked %q", text)
	}
	if text := askChecks(nexus.Task{Criteria: []nexus.Criterion{{Text: "it adds", Check: "test"}}}, []int{1}, nil, true); !strings.Contains(text, "Gate test passes, but that does not show criterion 1 (it adds)") {
		t.Error(text)
	}
}

// TestWorth has a session only where nothing of the task's own shows it, and a
// machine may.
func TestWorth(t *testing.T) {
	for text, want := range map[string]bool{
		"it adds":                               true,
		"it is readable":                        false,
		"The page looks right, and feels quick": false,
		"it prints what it overlooks":           true,
		"":                                      true,
	} {
		some := nexus.Task{Criteria: []nexus.Criterion{{Text: "it builds", Check: "build"}, {Text: text}}}
		if got := worthChecks(some); got != want {
			t.Errorf("%s: %v", text, got)
		}
		some.Criteria = append(some.Criteria, nexus.Criterion{Text: "it runs", Check: "sh run.sh"})
		if worthChecks(some) {
			t.Errorf("%s: a command shows the task", text)
		}
	}
	if !worthChecks(nexus.Task{Criteria: []nexus.Criterion{{Text: "it runs", Check: "sh run.sh"}, {Text: "it adds", Was: "sh add.sh"}}}) {
		t.Error("nobody is asked for a check in the place of one that cannot tell")
	}
	if worthChecks(nexus.Task{Criteria: []nexus.Criterion{{Text: "x", Check: "test"}}}) {
		t.Error("nothing is open")
	}
}

// FuzzRead lets nothing through that is of no open criterion, or has neither a
// command nor a reason.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"checks":[{"criterion":2,"test":"TestAdd","file":"add_test.go","command":"go test -run TestAdd ."}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := map[int]bool{}
		for _, c := range readChecks(data, task(), unshown(task())) {
			if c.Number < 2 || c.Number > 4 || seen[c.Number] || c.Proved || c.Command == "" && c.Why == "" {
				t.Errorf("%+v", c)
			}
			seen[c.Number] = true
		}
	})
}
