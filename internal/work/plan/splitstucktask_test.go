package plan_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// whole is a task that is to be split.
func whole() prompt.SplitRequest {
	return prompt.SplitRequest{Session: "plan.1/planner.1", Parts: 3, Why: "the same failure 3 times", Task: nexus.Task{
		ID: "T1", Title: "Do it", Brief: "Do all of it.", Group: "shop", Needs: []nexus.TaskID{"T0"}, Files: []string{"a.go", "b.go"}, Tags: []string{"ui"},
		Tier: nexus.Balanced, Strategy: nexus.TestAfter, Keep: []string{"keep.go"}, Depth: 1,
		Criteria: []nexus.Criterion{{Text: "It works.", Check: "test"}, {Text: "It is Fast  enough"}, {Text: "It says so", Check: "./says"}},
	}}
}

func parts(t *testing.T, q prompt.SplitRequest, tasks ...map[string]any) ([]nexus.Task, error) {
	t.Helper()
	data, err := json.Marshal(hand(tasks...).Calls[0].Input)
	if err != nil {
		t.Fatal(err)
	}
	return plan.ParseParts(data, q, []nexus.TaskID{"T0", "T1", "t1-2"})
}

func TestParts(t *testing.T) {
	got, err := parts(
		t, whole(),
		task("A", map[string]any{"needs": []any{"T0", "T1"}, "files": []any{"a.go"}}),
		task("Z", map[string]any{"needs": []any{"B"}, "files": []any{"c.go"}}),
		task("B", map[string]any{"needs": []any{"A"}, "files": []any{"b.go"}, "criteria": []any{map[string]any{"text": "it is fast enough"}, map[string]any{"text": "x", "check": "test"}}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	part := func(id, title string, files []string, needs []nexus.TaskID, criteria ...nexus.Criterion) nexus.Task {
		return nexus.Task{
			ID: nexus.TaskID(id), Title: title, Brief: "Do it.", Group: "shop", Needs: needs, Files: files, Criteria: criteria,
			Tier: nexus.Balanced, Strategy: nexus.TestAfter, Tags: []string{"ui"}, Keep: []string{"keep.go"}, Depth: 2,
		}
	}
	works := nexus.Criterion{Text: "It works.", Check: "test"}
	want := []nexus.Task{
		part("T1-1", "Do A", []string{"a.go"}, []nexus.TaskID{"T0"}, works),
		part("T1-3", "Do Z", []string{"c.go"}, []nexus.TaskID{"T1-4", "T1-1"}, works, nexus.Criterion{Text: "It says so", Check: "./says"}),
		part("T1-4", "Do B", []string{"b.go"}, []nexus.TaskID{"T1-1"}, nexus.Criterion{Text: "it is fast enough"}, nexus.Criterion{Text: "x", Check: "test"}),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

func TestPartsRefused(t *testing.T) {
	long := whole()
	long.Task.ID = nexus.TaskID("T" + strings.Repeat("1", 31))
	rescope := whole()
	rescope.Rescope = true
	full := task("B", nil)
	var many []any
	for i := range 6 {
		many = append(many, map[string]any{"text": fmt.Sprint(i), "check": "test"})
	}
	full["criteria"] = many
	for _, c := range []struct {
		name  string
		q     prompt.SplitRequest
		tasks []map[string]any
		want  string
	}{
		{"one", whole(), []map[string]any{task("A", nil)}, "it has 1 tasks, not 2 to 3"},
		{"one of another plan", rescope, []map[string]any{task("A", nil)}, ""},
		{"the same again", rescope, []map[string]any{task("A", map[string]any{"brief": "Do all of it.", "files": []any{"a.go", "b.go"}})}, "the same task again"},
		{"too many", whole(), []map[string]any{task("A", nil), task("B", nil), task("C", nil), task("D", nil)}, "it has 4 tasks"},
		{"none", whole(), nil, "proposed no task"},
		{"too large", whole(), []map[string]any{task("A", nil), task("B", map[string]any{"minutes": 45})}, "B is too large: 45 minutes"},
		{"too much is left over", whole(), []map[string]any{task("A", nil), full}, "T1-3 is too large: 8 criteria"},
		{"a circle", whole(), []map[string]any{task("A", map[string]any{"needs": []any{"B"}}), task("B", map[string]any{"needs": []any{"A"}})}, "A"},
		{"a stranger", whole(), []map[string]any{task("A", map[string]any{"needs": []any{"T9"}}), task("B", nil)}, "A needs \"T9\""},
		{"a long name", long, []map[string]any{task("A", nil), task("B", nil)}, ""},
	} {
		got, err := parts(t, c.q, c.tasks...)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if (err == nil) != (len(got) > 0) {
			t.Errorf("%s: %d parts and %v", c.name, len(got), err)
		}
	}
}

func TestSplit(t *testing.T) {
	two := []map[string]any{task("A", nil), task("B", nil)}
	for _, c := range []struct {
		name  string
		turns []llmtest.ScriptTurn
		code  nexus.ErrorCode
		parts int
	}{
		{"at once", []llmtest.ScriptTurn{hand(two...)}, "", 2},
		{"mended", []llmtest.ScriptTurn{hand(two[0]), expecting(hand(two...), "it has 1 tasks", "submit all parts again")}, "", 2},
		{"never mended", []llmtest.ScriptTurn{hand(two[0]), hand(two[0]), hand(two[0])}, nexus.CodeInvalidPlan, 0},
		{"no cut helps", []llmtest.ScriptTurn{{Calls: []llmtest.ScriptCall{{Tool: "finish", Input: map[string]any{"tasks": []any{}, "reason": "one line"}}}}}, nexus.CodeNothingProposed, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlanner(t, c.turns...)
			got, err := plan.SplitStuckTask(t.Context(), whole(), []nexus.TaskID{"T0", "T1"}, false, p.talk)
			if len(got) != c.parts || (err == nil) != (c.code == "") || c.code != "" && !errors.Is(err, &nexus.Error{Code: c.code}) {
				t.Errorf("%d parts, %v", len(got), err)
			}
		})
	}
}

// FuzzParts lets no submission lose a criterion, or make a plan that cannot be
// worked on.
func FuzzParts(f *testing.F) {
	for _, tasks := range [][]map[string]any{
		{task("A", nil), task("B", map[string]any{"needs": []any{"A"}})},
		{task("A", nil)},
		{task("A", map[string]any{"needs": []any{"T1", "T0"}}), task("T1", nil), task("T0", nil)},
	} {
		data, _ := json.Marshal(hand(tasks...).Calls[0].Input)
		f.Add(data, true)
		f.Add(data, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, rescope bool) {
		q := whole()
		q.Rescope = rescope
		got, err := plan.ParseParts(data, q, []nexus.TaskID{"T0", "T1"})
		if err != nil {
			if got != nil {
				t.Error("an error, and parts")
			}
			return
		}
		var checks, all []string
		for i := range got {
			for _, c := range got[i].Criteria {
				checks, all = append(checks, c.Check), append(all, strings.ToLower(strings.Join(strings.Fields(c.Text), " ")))
			}
			got[i].Needs = slices.DeleteFunc(got[i].Needs, func(id nexus.TaskID) bool { return id == "T0" })
		}
		if !slices.Contains(checks, "test") || !slices.Contains(checks, "./says") || !slices.Contains(all, "it is fast enough") {
			t.Errorf("a criterion is lost: %q %q", checks, all)
		}
		if err := plan.CheckPlan(nexus.Plan{Version: plan.Version, Tasks: got}, nexus.TaskSizeLimits{}); err != nil || len(got) > 3 {
			t.Errorf("%d parts: %v", len(got), err)
		}
	})
}

// TestPartsOfWants renames soft needs and ties with the tasks that they name, and drops those to what has landed.
func TestPartsOfWants(t *testing.T) {
	q := whole()
	q.Task.Wants, q.Task.Ties = []nexus.TaskID{"W0"}, nexus.DependencyReasons{"W0": nexus.TieFile}
	got, err := parts(
		t, q,
		task("A", map[string]any{"needs": []any{"T0"}, "wants": []any{"W0"}, "ties": map[string]any{"T0": "api", "W0": "file"}, "files": []any{"a.go"}}),
		task("B", map[string]any{"wants": []any{"A"}, "ties": map[string]any{"A": "schema"}, "files": []any{"b.go"}}),
		task("C", map[string]any{"needs": []any{"A"}, "ties": map[string]any{"A": "api"}, "files": []any{"c.go"}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := got[0], got[1], got[2]
	if !slices.Equal(a.Needs, []nexus.TaskID{"T0"}) || !slices.Equal(a.Wants, []nexus.TaskID{"W0"}) || a.Ties["W0"] != nexus.TieFile || len(a.Ties) != 1 {
		t.Errorf("%+v", a)
	}
	if len(b.Needs) > 0 || !slices.Equal(b.Wants, []nexus.TaskID{a.ID}) || b.Ties[a.ID] != nexus.TieSchema {
		t.Errorf("%+v", b)
	}
	if !slices.Equal(c.Needs, []nexus.TaskID{a.ID, b.ID}) || c.Ties[a.ID] != nexus.TieAPI {
		t.Errorf("%+v", c)
	}

	// The last in the list is wanted: what is left over goes to the one that wants it, which then needs it.
	got, err = parts(t, q, task("A", map[string]any{"wants": []any{"B"}}), task("B", nil))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got[0], got[1]; !slices.Equal(a.Needs, []nexus.TaskID{b.ID}) || len(a.Wants) > 0 || len(a.Criteria) < len(b.Criteria) || !slices.Equal(b.Wants, []nexus.TaskID{"W0"}) {
		t.Errorf("%+v\n%+v", a, b)
	}
}
