package attempt

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func task() nexus.Task {
	return nexus.Task{ID: "T1", Title: "Do it", Criteria: []nexus.Criterion{{Text: "it builds", Check: "build"}, {Text: "it adds"}, {Text: "it is nice"}, {Text: "it is fast"}}}
}

func TestRead(t *testing.T) {
	of := func(n int) string { return state.CriterionFingerprint(task(), n) }
	for handin, want := range map[string][]nexus.CriterionTest{
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
		`{"checks":[{"criterion":4,"file":"a_test.go","command":"sh 'a_test.go"},{"criterion":4,"why":"said twice"}]}`: {
			{Number: 4, Of: of(4), File: "a_test.go", Command: "sh 'a_test.go", Why: "its command cannot be read by sh: "},
		},
		`{"checks":[{"criterion":4,"file":"a_test.go","test":"t","command":" ","why":" nobody\ncan "},{"criterion":3,"file":"a_test.go","command":"sh ` + strings.Repeat("a", maxCheckText-3) + `"},{"criterion":2,"file":"a_test.go","command":"sh ` + strings.Repeat("a", maxCheckText-2) + `"}]}`: {
			{Number: 2, Of: of(2), File: "a_test.go", Command: "sh " + strings.Repeat("a", maxCheckText-2), Why: "its command is not one line of at most 500 characters"},
			{Number: 3, Of: of(3), File: "a_test.go", Command: "sh " + strings.Repeat("a", maxCheckText-3)},
			{Number: 4, Of: of(4), Why: "nobody can"},
		},
		`{"checks":[{"criterion":2,"why":"x"}]}` + strings.Repeat(" ", maxHandin-38): {{Number: 2, Of: of(2), Why: "x"}},
		`{"checks":[{"criterion":2,"why":"x"}]}` + strings.Repeat(" ", maxHandin-37): nil,
		`{"checks":[{"criterion":4,"file":"a_test.go","command":"sh a_test.go\nrm -rf ."}]}`: {
			{Number: 4, Of: of(4), File: "a_test.go", Command: "sh a_test.go\nrm -rf .", Why: "its command is not one line of at most 500 characters"},
		},
	} {
		got := readCriterionChecks([]byte(handin), task(), criteriaWithoutCheck(task()))
		for i := range got {
			got[i].Why, _, _ = strings.Cut(got[i].Why, "at character") // where that is, is not ours to say
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.200s: %s", handin, diff)
		}
	}
}

func TestAsk(t *testing.T) {
	if text := requestCriterionChecks(task(), criteriaWithoutCheck(task()), nil, false); !strings.Contains(text, "criterion 2, 3, 4 yet") {
		t.Error(text)
	}
	if text := requestCriterionChecks(nexus.Task{Criteria: []nexus.Criterion{{Text: "x", Check: "test"}}}, nil, nil, true); text != "" {
		t.Error(text)
	}
	tried := []nexus.CriterionTest{{Number: 3, Command: "sh a_test.sh", Why: "it passes without the work"}, {Number: 1, Command: "sh b_test.sh", Why: "x"}}
	if text := requestCriterionChecks(task(), criteriaWithoutCheck(task()), tried, false); !strings.Contains(text, "criterion 3 before, sh a_test.sh, does not count: it passes without the work") || strings.Contains(text, "b_test.sh") {
		t.Errorf("asked %q", text)
	}
	gone := nexus.Task{Criteria: []nexus.Criterion{{Text: "it adds", Was: "sh add.sh", Tried: "nobody\nknows"}}}
	if text := requestCriterionChecks(gone, []int{1}, []nexus.CriterionTest{{Number: 1, Why: "a person has to look"}}, false); !strings.Contains(text, "The check of criterion 1 was sh add.sh, which gives no result: nobody knows. Name one that does.") || strings.Contains(text, "does not count") || strings.Contains(text, "new files") {
		t.Error(text)
	}
	if text := requestCriterionChecks(nexus.Task{Criteria: []nexus.Criterion{{Text: "it adds", Check: "test"}}}, []int{1}, nil, true); !strings.Contains(text, "Gate test does not show criterion 1 (it adds)") {
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
		if got := isWorthCheckSession(some); got != want {
			t.Errorf("%s: %v", text, got)
		}
		some.Criteria = append(some.Criteria, nexus.Criterion{Text: "it runs", Check: "sh run.sh"})
		if isWorthCheckSession(some) {
			t.Errorf("%s: a command shows the task", text)
		}
	}
	if !isWorthCheckSession(nexus.Task{Criteria: []nexus.Criterion{{Text: "it runs", Check: "sh run.sh"}, {Text: "it adds", Was: "sh add.sh"}}}) {
		t.Error("nobody is asked for a check in the place of one that cannot tell")
	}
	if isWorthCheckSession(nexus.Task{Criteria: []nexus.Criterion{{Text: "x", Check: "test"}}}) {
		t.Error("nothing is open")
	}
}

// FuzzRead lets nothing through that is of no open criterion, or has neither a
// command nor a reason.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"checks":[{"criterion":2,"test":"TestAdd","file":"add_test.go","command":"go test -run TestAdd ."}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		seen := map[int]bool{}
		for _, c := range readCriterionChecks(data, task(), criteriaWithoutCheck(task())) {
			if c.Number < 2 || c.Number > 4 || seen[c.Number] || c.Proved || c.Command == "" && c.Why == "" {
				t.Errorf("%+v", c)
			}
			seen[c.Number] = true
		}
	})
}

// TestLinesThatWereFixed are named as ranges, and not all of them where there are many.
func TestLinesThatWereFixed(t *testing.T) {
	added := func(numbers ...int) (all []definitionofdone.AddedPatchLine) {
		for _, n := range numbers {
			all = append(all, definitionofdone.AddedPatchLine{Number: n})
		}
		return all
	}
	even := func(n int) (all []int) {
		for i := range n {
			all = append(all, 2*i+2)
		}
		return all
	}
	for want, f := range map[string]definitionofdone.FileChange{
		"f:3":            {Path: "f", Added: added(3)},
		"f:3-4":          {Path: "f", Added: added(3, 4)},
		"f:1, 3-5, 7":    {Path: "f", Added: added(1, 3, 4, 5, 7)},
		"f:7 lines gone": {Path: "f", Removed: 7},
		"f:2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24":                   {Path: "f", Added: added(even(12)...)},
		"f:2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24 and 1 more places": {Path: "f", Added: added(even(13)...)},
	} {
		if got := describeAddedLines([]definitionofdone.FileChange{f, {Path: "g", Added: added(1)}}); len(got) != 2 || got[0] != want || got[1] != "g:1" {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
