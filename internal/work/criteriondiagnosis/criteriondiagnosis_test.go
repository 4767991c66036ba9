package criteriondiagnosis

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestNamed tells the check from what it looks at.
func TestNamed(t *testing.T) {
	files := []string{"a.txt", "a_test.go", "check.sh", "pkg/b_test.go", "pkg/b.go", "pkg/c/c_test.go", "tests/test_x.py", "web/sum.test.ts", "main.go"}
	for command, want := range map[string]struct{ named, under string }{
		"grep -q one a.txt":                        {"", "a_test.go pkg/b_test.go pkg/c/c_test.go tests/test_x.py web/sum.test.ts"},
		"sh check.sh":                              {"check.sh", ""},
		"./check.sh && test -e a.txt":              {"check.sh", ""},
		"pytest tests/test_x.py::test_y -q":        {"tests/test_x.py", ""},
		"npx vitest run 'web/sum.test.ts'":         {"web/sum.test.ts", ""},
		"go test -run TestB ./pkg":                 {"", "pkg/b_test.go pkg/c/c_test.go"},
		"go test ./pkg/c/...":                      {"", "pkg/c/c_test.go"},
		"go test ./...":                            {"", "a_test.go pkg/b_test.go pkg/c/c_test.go tests/test_x.py web/sum.test.ts"},
		"go run main.go":                           {"", ""},
		"sh missing.sh; cat ../../etc/passwd `id`": {"", ""},
	} {
		if got := strings.Join(filesOfCheckCommand(command, files), " "); got != want.named {
			t.Errorf("%s: named %q, want %q", command, got, want.named)
		}
		if got := strings.Join(testsBelowNamedDirs(command, files), " "); want.under != "" && got != want.under {
			t.Errorf("%s: under %q, want %q", command, got, want.under)
		}
	}
}

func TestParse(t *testing.T) {
	good := `{"faults":[{"criterion":"T1/AC-1","kind":"both","reason":"a.go:3"},{"criterion":"T2/AC-1","kind":"test","reason":"so"}]}`
	got, err := parseOpinions([]byte(good))
	want := []criterionOpinion{{"T1/AC-1", nexus.FaultInBoth, "a.go:3"}, {"T2/AC-1", nexus.FaultInTest, "so"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, bad := range []string{"", "{}", `{"faults":[{"criterion":"T1/AC-1","kind":"work","reason":"x"}]}`, `{"faults":[{"criterion":"T1/AC-1","reason":"x"}]}`, `{"faults":{},"x":1}`, "[" + good + "]"} {
		if all, err := parseOpinions([]byte(bad)); err == nil {
			t.Errorf("%s is read as %v", bad, all)
		}
	}
	if !json.Valid(opinionSchema()) {
		t.Error("the schema is no JSON")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"faults":[{"criterion":"T1/AC-1","kind":"source","reason":"x"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := parseOpinions(data)
		for _, o := range all {
			if err == nil && o.Kind != nexus.FaultInSource && o.Kind != nexus.FaultInTest && o.Kind != nexus.FaultInBoth {
				t.Errorf("%q is a kind", o.Kind)
			}
		}
	})
}

func FuzzNamed(f *testing.F) {
	f.Add("sh check.sh 'a b' ::x")
	f.Fuzz(func(t *testing.T, command string) {
		files := []string{"check.sh", "a_test.go", "dir/x_test.py"}
		for _, name := range append(filesOfCheckCommand(command, files), testsBelowNamedDirs(command, files)...) {
			if name == "" {
				t.Error("an empty name")
			}
		}
	})
}
