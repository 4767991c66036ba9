package plan_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// divideOne divides a plan of one task.
func divideOne(t *testing.T, k nexus.Task) []nexus.Task {
	t.Helper()
	k.ID, k.Title = "T", "Do it"
	got, _, err := plan.DivideLargeTasks(nexus.Plan{Version: plan.Version, Run: "251126-000000-abc", Goal: "x", Cover: &nexus.PlanCoverage{}, Tasks: []nexus.Task{k}}, nexus.TaskSizeLimits{}, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	if got.Run != "251126-000000-abc" || got.Cover == nil {
		t.Errorf("it is no longer the plan that it was: %+v", got)
	}
	return got.Tasks
}

// TestDivideShowsLate gives a criterion to the last part that has a file that it names, whatever else it names.
func TestDivideShowsLate(t *testing.T) {
	late, other := nexus.Criterion{Text: "handler.go answers GET /users with what db/store.go and db/schema.sql hold", Check: "test"}, nexus.Criterion{Text: "domain.go has names", Check: "test"}
	path := nexus.Criterion{Text: "db/users.go keeps them", Check: "test"}
	parts := divideOne(t, nexus.Task{
		Files:    []string{"db/schema.sql", "db/store.go", "db/users.go", "domain.go", "api/handler.go", "api/main.go", "api/users.go"},
		Criteria: []nexus.Criterion{late, other, path},
	})
	if len(parts) != 2 || !slices.Contains(parts[1].Criteria, late) || !slices.Contains(parts[0].Criteria, other) || !slices.Contains(parts[0].Criteria, path) {
		t.Errorf("%+v", parts)
	}
}

// TestDivideTellsAll what constrains the work, and cuts no code in two.
func TestDivideTellsAll(t *testing.T) {
	long, code := strings.Repeat("word ", 100), "```go\nfunc a() {}\n\n\nfunc b() {}\n```"
	parts := divideOne(t, nexus.Task{
		Minutes: 70, Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}, Files: []string{"a.go"},
		Brief: strings.Join([]string{"Now.", "Begin with a.go.", long + "1.", long + "2.", code, long + "3.", long + "4.", "Do not change the public API."}, "\n\n"),
	})
	if len(parts) != 3 {
		t.Fatalf("%+v", parts)
	}
	for text, want := range map[string]int{"Now.": 3, "Do not change the public API.": 3, code: 3, "Begin with a.go.": 1, long + "1.": 1} {
		n := 0
		for _, p := range parts {
			n += strings.Count(p.Brief, text)
		}
		if n != want {
			t.Errorf("%d parts are told %q, not %d", n, text, want)
		}
	}
}

// TestDivideGivesUp soon where no number of parts helps, whatever the settings allow.
func TestDivideGivesUp(t *testing.T) {
	for name, k := range map[string]nexus.Task{
		"a paragraph":              {Brief: strings.Repeat("x", 2500)},
		"a paragraph of many":      {Brief: strings.Repeat("a b\n\n", 300) + strings.Repeat("x", 2500), Minutes: 300},
		"a paragraph of long work": {Brief: strings.Repeat("x", 2500), Minutes: 3000},
	} {
		t.Run(name, func(t *testing.T) {
			k.ID, k.Title, k.Criteria = "T", "Do it", []nexus.Criterion{{Text: "done", Check: "test"}}
			p := nexus.Plan{Version: plan.Version, Tasks: []nexus.Task{k}}
			n := testing.AllocsPerRun(1, func() {
				if _, _, err := plan.DivideLargeTasks(p, nexus.TaskSizeLimits{}, 100, 100); !errors.Is(err, &nexus.Error{Code: nexus.CodeOversize}) {
					t.Error(err)
				}
			})
			if n > 5000 {
				t.Errorf("it takes %.0f allocations", n)
			}
		})
	}
	if _, d, err := plan.DivideLargeTasks(nexus.Plan{Version: plan.Version, Tasks: []nexus.Task{{
		ID: "T", Title: "Do it", Brief: strings.Repeat(strings.Repeat("word ", 80)+"\n\n", 40), Criteria: []nexus.Criterion{{Text: "done", Check: "test"}},
	}}}, nexus.TaskSizeLimits{}, 100, 100); err != nil || len(d[0].Parts) < 8 {
		t.Error(d, err)
	}
}
