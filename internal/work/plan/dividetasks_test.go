package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// large is a plan with a task of eight files, 45 minutes and eight criteria, and one that waits for it.
func large() nexus.Plan {
	return nexus.Plan{Version: plan.Version, Goal: "Sizes", Tasks: []nexus.Task{
		{ID: "A", Title: "Start", Criteria: []nexus.Criterion{{Text: "it builds", Check: "build"}}},
		{
			ID: "T", Title: "Store and show sizes", Minutes: 45, Needs: []nexus.TaskID{"A"}, Ties: nexus.DependencyReasons{"A": nexus.TieAPI}, Priority: nexus.PriorityHigh, Group: "sizes", Covers: []string{"S1"},
			Brief: "Sizes are kept and shown.\n\nTable sizes has a name and a number of bytes, in schema.sql.\n\nThe handler answers in JSON.\n\nThe page lists them.",
			Files: []string{"web/page.tsx", "api/handler.go", "api/handler_test.go", "size.go", "size_test.go", "db/schema.sql", "db/store.go", "db/store_test.go"},
			Criteria: []nexus.Criterion{
				{Text: "Size(1536) is 1.5 KiB", Check: "go test -run Size ./size"},
				{Text: "store.go keeps sizes", Check: "test"},
				{Text: "schema.sql is read by sqlite3"},
				{Text: "the handler says 404 for unknown names", Check: "go test ./api"},
				{Text: "page.tsx lists sizes"},
				{Text: "all of it works together", Check: "./e2e.sh"},
				{Text: "the README tells how"},
			},
		},
		{ID: "Z", Title: "Release", Needs: []nexus.TaskID{"T"}, Wants: []nexus.TaskID{"A"}, Ties: nexus.DependencyReasons{"T": nexus.TieSchema}, Criteria: []nexus.Criterion{{Text: "it is there", Check: "test"}}},
	}}
}

// TestDivide divides what is too large by layers: each part has its files with their tests, what is said about them,
// and the criteria that name them.
func TestDivide(t *testing.T) {
	got, divisions, err := plan.DivideLargeTasks(large(), nexus.TaskSizeLimits{}, 5, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(divisions) != 1 || divisions[0].By != plan.ByLayers || nexus.JoinWords(divisions[0].Parts) != "T-1, T-2" ||
		!strings.Contains(divisions[0].Why, "8 files, the maximum is 5") || !strings.Contains(divisions[0].Why, "45 minutes") {
		t.Errorf("%+v", divisions)
	}
	parts := got.Tasks[1:3]
	for i, want := range []struct {
		files  string
		says   string
		quiet  string
		checks []string
	}{
		{
			"db/schema.sql db/store.go db/store_test.go size.go size_test.go", "part 1 of 2 of: Store and show sizes", "The handler",
			[]string{"go test -run Size ./size", "test", ""},
		},
		{"api/handler.go api/handler_test.go web/page.tsx", "The page lists", "Table sizes", []string{"go test ./api", "", "./e2e.sh", ""}},
	} {
		p := parts[i]
		var checks []string
		for _, c := range p.Criteria {
			checks = append(checks, c.Check)
		}
		if strings.Join(p.Files, " ") != want.files || !strings.Contains(p.Brief, want.says) || strings.Contains(p.Brief, want.quiet) || !slices.Equal(checks, want.checks) {
			t.Errorf("part %d: %+v", i+1, p)
		}
		if !strings.Contains(p.Brief, "Sizes are kept and shown.") || p.Priority != nexus.PriorityHigh || p.Group != "sizes" || p.Depth != 1 || p.Covers[0] != "S1" {
			t.Errorf("part %d: %+v", i+1, p)
		}
	}
	if first, last := parts[0], got.Tasks[3]; first.Needs[0] != "A" || first.Ties["A"] != nexus.TieAPI || last.Needs[0] != "T-2" || last.Ties["T-2"] != nexus.TieSchema || last.Wants[0] != "A" {
		t.Errorf("%+v, %+v", first, last)
	}
}

// TestDivideNames names the parts of tasks apart whose long ids begin alike, and keeps why what was divided depends on others.
func TestDivideNames(t *testing.T) {
	p := large()
	one, two := p.Tasks[1], p.Tasks[1]
	one.ID, two.ID = nexus.TaskID(strings.Repeat("a", 28)+"-one"), nexus.TaskID(strings.Repeat("a", 28)+"-two")
	two.Needs = []nexus.TaskID{"A", one.ID}
	two.Ties = nexus.DependencyReasons{"A": nexus.TieAPI, one.ID: nexus.TieSchema}
	p.Tasks[2].Needs = []nexus.TaskID{two.ID}
	p.Tasks[2].Ties = nil
	p.Tasks = []nexus.Task{p.Tasks[0], one, two, p.Tasks[2]}
	got, divisions, err := plan.DivideLargeTasks(p, nexus.TaskSizeLimits{}, 5, 3)
	if err != nil || len(divisions) != 2 || len(got.Tasks) != 6 {
		t.Fatalf("%+v, %v", divisions, err)
	}
	seen := map[nexus.TaskID]bool{}
	for _, one := range got.Tasks {
		if seen[one.ID] {
			t.Errorf("%s twice", one.ID)
		}
		seen[one.ID] = true
	}
	last := divisions[0].Parts[1]
	if second := got.Tasks[3]; !slices.Equal(second.Needs, []nexus.TaskID{"A", last}) || len(second.Ties) != 2 || second.Ties["A"] != nexus.TieAPI || second.Ties[last] != nexus.TieSchema {
		t.Errorf("%+v, %+v", second.Needs, second.Ties)
	}
}

// TestDivideInOtherWays where files say nothing, and tells what cannot be divided.
func TestDivideInOtherWays(t *testing.T) {
	one := func(change func(*nexus.Task)) nexus.Plan {
		k := nexus.Task{ID: "T", Title: "Do it", Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}}
		change(&k)
		return nexus.Plan{Version: plan.Version, Tasks: []nexus.Task{k}}
	}
	files := func(n int) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("pkg%d/x%d.go", i, i))
		}
		return all
	}
	for name, c := range map[string]struct {
		plan  nexus.Plan
		by    plan.DivisionCriterion
		parts int
		depth int
	}{
		"files":   {one(func(k *nexus.Task) { k.Files = files(12) }), plan.ByFiles, 3, 1},
		"minutes": {one(func(k *nexus.Task) { k.Minutes = 70 }), plan.ByTime, 3, 1},
		"twice":   {one(func(k *nexus.Task) { k.Files = files(28) }), plan.ByFiles, 6, 2},
		"text": {one(func(k *nexus.Task) {
			k.Brief = strings.Repeat(strings.Repeat("word ", 100)+"\n\n", 6)
		}), plan.ByTime, 3, 1},
		"a paragraph": {one(func(k *nexus.Task) { k.Brief = strings.Repeat("word ", 500) }), "", 0, 0},
		"a criterion": {one(func(k *nexus.Task) { k.Criteria[0].Text = strings.Repeat("word ", 500) }), "", 0, 0},
		"too deep":    {one(func(k *nexus.Task) { k.Minutes, k.Depth = 70, 3 }), "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, divisions, err := plan.DivideLargeTasks(c.plan, nexus.TaskSizeLimits{}, 5, 3)
			if c.by == "" {
				if !errors.Is(err, &nexus.Error{Code: nexus.CodeOversize}) || len(got.Tasks) != 1 || !strings.Contains(err.Error(), "cannot be divided") {
					t.Errorf("%v, %+v", err, got)
				}
				return
			}
			if err != nil || divisions[0].By != c.by || len(got.Tasks) != c.parts || got.Tasks[0].Depth != c.depth {
				t.Errorf("%v, %+v, %+v", err, divisions, got.Tasks)
			}
		})
	}
	bad := one(func(k *nexus.Task) { k.Minutes, k.Title = 70, "" })
	if _, _, err := plan.DivideLargeTasks(bad, nexus.TaskSizeLimits{}, 5, 3); !errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidPlan}) {
		t.Errorf("what is wrong beside sizes: %v", err)
	}
	if _, divisions, err := plan.DivideLargeTasks(one(func(*nexus.Task) {}), nexus.TaskSizeLimits{}, 5, 3); err != nil || divisions != nil {
		t.Errorf("what is small enough: %v, %+v", err, divisions)
	}
	if _, _, err := plan.DivideLargeTasks(large(), nexus.TaskSizeLimits{}, 0, 3); !errors.Is(err, &nexus.Error{Code: nexus.CodeOversize}) {
		t.Errorf("where nothing may be divided: %v", err)
	}
}

// TestDivideLosesNothing of any plan: every file and criterion is in the parts, parts with a file in common land one after
// another, and what waited waits for all of them.
func TestDivideLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		file := rapid.SampledFrom([]string{
			"a.go", "a_test.go", "b/b.go", "b/b_test.go", "c/model.py", "tests/test_model.py", "ui/page.tsx", "ui/page.test.tsx", "docs/x.md", "cmd/main.go",
			"d.go", "e.go", "f/f.go", "g/schema.sql",
		})
		whole := nexus.Task{
			ID: "T", Title: "Do it", Files: rapid.SliceOfNDistinct(file, 0, 14, rapid.ID).Draw(t, "files"), Minutes: rapid.IntRange(0, 200).Draw(t, "minutes"),
			Brief: strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"Do a.", "model has a name", strings.Repeat("x ", 200), "page.tsx and b.go"}), 0, 9).Draw(t, "brief"), "\n\n"),
			Depth: rapid.IntRange(0, 3).Draw(t, "depth"), Kind: rapid.SampledFrom([]nexus.TaskKind{"", nexus.DocsTask}).Draw(t, "kind"),
		}
		for i := range rapid.IntRange(1, 20).Draw(t, "criteria") {
			c := nexus.Criterion{Text: fmt.Sprintf("%s holds %d", file.Draw(t, "of"), i)}
			if i == 0 || rapid.Bool().Draw(t, "checked") {
				c.Check = "test"
			}
			whole.Criteria = append(whole.Criteria, c)
		}
		p := nexus.Plan{Version: plan.Version, Tasks: []nexus.Task{whole, {ID: "Z", Title: "Z", Needs: []nexus.TaskID{"T"}, Criteria: []nexus.Criterion{{Text: "done", Check: "test"}}}}}
		got, divisions, err := plan.DivideLargeTasks(p, nexus.TaskSizeLimits{}, 5, 3)
		if err != nil {
			if len(got.Tasks) != 2 || !errors.Is(err, &nexus.Error{Code: nexus.CodeOversize}) {
				t.Fatalf("%v: %+v", err, got)
			}
			return
		}
		if err := plan.CheckPlan(got, nexus.TaskSizeLimits{}); err != nil || len(divisions) > 1 {
			t.Fatalf("%v, %+v", err, divisions)
		}
		if _, err := taskgraph.NewTaskGraph(got.Tasks); err != nil {
			t.Fatal(err)
		}
		parts := got.Tasks[:len(got.Tasks)-1]
		for _, f := range whole.Files {
			n := 0
			for _, part := range parts {
				if slices.Contains(part.Files, f) {
					n++
				}
			}
			if n == 0 || n > 1 && divisions[0].By != plan.ByTime {
				t.Fatalf("%s is in %d parts", f, n)
			}
		}
		for _, c := range whole.Criteria {
			n := 0
			for _, part := range parts {
				if slices.Contains(part.Criteria, c) {
					n++
				}
			}
			if n != 1 {
				t.Fatalf("%q is in %d parts", c.Text, n)
			}
		}
		for i, part := range parts[1:] {
			if !slices.Equal(part.Needs, []nexus.TaskID{parts[i].ID}) {
				t.Fatalf("%s needs %v", part.ID, part.Needs)
			}
		}
		for text := range strings.SplitSeq(whole.Brief, "\n\n") {
			if !slices.ContainsFunc(parts, func(p nexus.Task) bool { return strings.Contains(p.Brief, strings.TrimSpace(text)) }) {
				t.Fatalf("nobody is told %q", text)
			}
		}
		if z := got.Tasks[len(got.Tasks)-1]; z.Needs[0] != parts[len(parts)-1].ID {
			t.Fatalf("%+v", z)
		}
	})
}
