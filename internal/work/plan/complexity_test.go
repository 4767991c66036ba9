package plan_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

func TestParseComplexity(t *testing.T) {
	asked := []nexus.TaskID{"T1", "T2"}
	long := strings.Repeat("x", 400)
	for _, c := range []struct {
		name, in string
		want     []nexus.ComplexityRating
		err      string
	}{
		{
			"all", `{"routes":[{"task":"T1","complexity":"simple","why":" short \n one "},{"task":"T2","complexity":"expert","why":"x"}]}`,
			[]nexus.ComplexityRating{{Task: "T1", Complexity: nexus.Simple, Why: "short one"}, {Task: "T2", Complexity: nexus.Expert, Why: "x"}},
			"",
		},
		{"another task", `{"routes":[{"task":"T9","complexity":"simple","why":"x"}]}`, nil, ""},
		{
			"twice", `{"routes":[{"task":"T1","complexity":"simple","why":"x"},{"task":"T1","complexity":"expert","why":"y"}]}`,
			[]nexus.ComplexityRating{{Task: "T1", Complexity: nexus.Simple, Why: "x"}},
			"",
		},
		{
			"long", `{"routes":[{"task":"T1","complexity":"simple","why":"` + long + `"}]}`,
			[]nexus.ComplexityRating{{Task: "T1", Complexity: nexus.Simple, Why: long[:300] + "..."}},
			"",
		},
		{"none", `{"routes":[]}`, nil, ""},
		{"odd", `{"routes":[{"task":"T1","complexity":"odd","why":"x"}]}`, nil, "complexity"},
		{"no complexity", `{"routes":[{"task":"T1"}]}`, nil, "complexity"},
		{"no reason", `{"routes":[{"task":"T1","complexity":"simple"}]}`, []nexus.ComplexityRating{{Task: "T1", Complexity: nexus.Simple}}, ""},
		{"unknown field", `{"routes":[],"more":1}`, nil, "more"},
		{"no JSON", `simple`, nil, "invalid character"},
		{"too long", `{"routes":[]}` + strings.Repeat(" ", 1<<20), nil, "bytes"},
	} {
		got, err := plan.ParseComplexity([]byte(c.in), asked)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", c.name, err, c.err)
		}
	}
	if !json.Valid(plan.ComplexitySchema()) || strings.Contains(string(plan.ComplexitySchema()), "\n") {
		t.Errorf("the schema: %s", plan.ComplexitySchema())
	}
}

func FuzzParseComplexity(f *testing.F) {
	f.Add([]byte(`{"routes":[{"task":"T1","complexity":"simple","why":"x"}]}`))
	f.Add([]byte(`{"routes":null}`))
	f.Add([]byte("{\"routes\":[{\"task\":\"T2\",\"complexity\":\"expert\",\"why\":\"\xff\"}]}"))
	asked := []nexus.TaskID{"T1", "T2"}
	f.Fuzz(func(t *testing.T, data []byte) {
		routes, err := plan.ParseComplexity(data, asked)
		if err != nil && routes != nil {
			t.Error("an error, and an answer")
		}
		for _, r := range routes {
			if !r.Complexity.IsKnown() || !slices.Contains(asked, r.Task) || !utf8.ValidString(r.Why) {
				t.Errorf("%+v", r)
			}
		}
	})
}
