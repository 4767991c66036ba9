package plandiff_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/plandiff"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestBetween says in lines what is different in a plan.
func TestBetween(t *testing.T) {
	before := []nexus.Task{
		{ID: "T1", Title: "Read sizes", Files: []string{"a.go"}, Criteria: []nexus.Criterion{{Text: "It reads", Check: "test"}}, Minutes: 10},
		{ID: "T2", Title: "Write sizes", Needs: []nexus.TaskID{"T1"}},
		{ID: "T3", Title: "Add the command", Needs: []nexus.TaskID{"T2"}, Brief: "Do it."},
		{ID: "T4", Title: "Document it"},
	}
	for name, c := range map[string]struct {
		after []nexus.Task
		want  string
	}{
		"the same": {before, ""},
		"a task is gone, and the others moved up": {
			[]nexus.Task{before[0], {ID: "T2", Title: "Add the command", Needs: []nexus.TaskID{"T1"}, Brief: "Do it."}, {ID: "T3", Title: "Document it"}},
			"~ T2 Add the command: id was T3; needs +T1 -T2 (gone)\n~ T3 Document it: id was T4\n- T2 Write sizes",
		},
		"what it needs has another name": {
			[]nexus.Task{{ID: "A", Title: "read  Sizes", Files: []string{"a.go"}, Criteria: before[0].Criteria, Minutes: 10}, {ID: "T2", Title: "Write sizes", Needs: []nexus.TaskID{"A"}}, before[2], before[3]},
			"~ A read  Sizes: id was T1; title was Read sizes",
		},
		"what it needs is gone, and another task has its name": {
			[]nexus.Task{before[0], {ID: "T2", Title: "Document it"}, before[2]},
			"~ T2 Document it: id was T4\n~ T3 Add the command: needs +T2 -T2 (gone)\n- T2 Write sizes",
		},
		"much is different": {
			[]nexus.Task{
				{ID: "T1", Title: "Read sizes of all kinds", Files: []string{"b.go", "a.go"}, Criteria: []nexus.Criterion{{Text: "It reads all", Check: "go test ./..."}}, Minutes: 20, Tier: nexus.Strong},
				before[1],
				{ID: "T3", Title: "Add the command", Needs: []nexus.TaskID{"T2"}, Brief: "Do it well."},
				before[3],
				{ID: "T5", Title: "Publish it"},
			},
			"~ T1 Read sizes of all kinds: title was Read sizes; files +b.go; criteria +It reads all (check: go test ./...) -It reads (check: test); minutes 20, was 10; tier strong\n" +
				"~ T3 Add the command: another brief\n+ T5 Publish it",
		},
	} {
		var lines []string
		for _, change := range plandiff.DiffTasks(before, c.after) {
			lines = append(lines, change.String())
		}
		if d := cmp.Diff(c.want, strings.Join(lines, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// TestEverything of a task that a person may want to know shows where it is another.
func TestEverything(t *testing.T) {
	silent := []string{"Depth"} // of Nexus itself
	for _, f := range reflect.VisibleFields(reflect.TypeFor[nexus.Task]()) {
		is, was := nexus.Task{ID: "T1"}, nexus.Task{ID: "T1"}
		switch v := reflect.ValueOf(&is).Elem().FieldByIndex(f.Index); v.Kind() {
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			if v.Index(0).Kind() == reflect.Struct {
				v.Index(0).Field(0).SetString("x")
			} else {
				v.Index(0).SetString("x")
			}
		case reflect.Map:
			v.Set(reflect.ValueOf(nexus.DependencyReasons{"x": nexus.TieAPI}))
		case reflect.String:
			v.SetString("x")
		default:
			v.SetInt(7)
		}
		for _, change := range [][]plandiff.TaskChange{plandiff.DiffTasks([]nexus.Task{was}, []nexus.Task{is}), plandiff.DiffTasks([]nexus.Task{is}, []nexus.Task{was})} {
			if (len(change) == 0) != slices.Contains(silent, f.Name) {
				t.Errorf("another %s: %v", f.Name, change)
			}
		}
	}
}

// TestBrief says the same in few words.
func TestBrief(t *testing.T) {
	before := []nexus.Task{{ID: "T1", Title: "Read"}, {ID: "T2", Title: "Write"}}
	after := []nexus.Task{{ID: "T1", Title: "Read", Files: []string{"a.go"}, Minutes: 3}, {ID: "T3", Title: "Print"}}
	if got, want := plandiff.SummaryText(plandiff.DiffTasks(before, after)), "~ T1 (files, minutes); + T3 Print; - T2 Write"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := plandiff.SummaryText(nil); got != "the tasks are the same" {
		t.Errorf("%q", got)
	}
}

// TestBetweenAddsUp holds for any two plans: nothing differs from itself, and
// each task of either is there once.
func TestBetweenAddsUp(t *testing.T) {
	task := rapid.Custom(func(t *rapid.T) nexus.Task {
		return nexus.Task{
			ID:    nexus.TaskID(rapid.SampledFrom([]string{"T1", "T2", "T3", "T4", "T5"}).Draw(t, "id")),
			Title: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "title"),
			Needs: rapid.SliceOfN(rapid.SampledFrom([]nexus.TaskID{"T1", "T2"}), 0, 2).Draw(t, "needs"),
		}
	})
	plan := rapid.SliceOfNDistinct(task, 0, 5, func(t nexus.Task) nexus.TaskID { return t.ID })
	rapid.Check(t, func(t *rapid.T) {
		before, after := plan.Draw(t, "before"), plan.Draw(t, "after")
		if d := plandiff.DiffTasks(before, before); len(d) > 0 {
			t.Fatalf("it differs from itself: %v", d)
		}
		count := map[plandiff.PlanChangeKind]int{}
		seen := map[string]bool{}
		for _, c := range plandiff.DiffTasks(before, after) {
			count[c.Kind]++
			if key := c.MarkCharacter() + string(c.Task); seen[key] {
				t.Fatalf("%s twice", key)
			} else {
				seen[key] = true
			}
		}
		if len(before)-count[plandiff.Removed]+count[plandiff.Added] != len(after) {
			t.Fatalf("%d tasks, %v, and %d after that", len(before), count, len(after))
		}
	})
}
