package taskgraph_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// plan reads "a b:a c:a,b" as tasks with their needs.
func plan(text string) []nexus.Task {
	var tasks []nexus.Task
	for word := range strings.FieldsSeq(text) {
		id, needs, _ := strings.Cut(word, ":")
		t := nexus.Task{ID: nexus.TaskID(id)}
		for n := range strings.SplitSeq(needs, ",") {
			if n != "" {
				t.Needs = append(t.Needs, nexus.TaskID(n))
			}
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func build(t *testing.T, tasks []nexus.Task) *taskgraph.TaskGraph {
	t.Helper()
	g, err := taskgraph.NewTaskGraph(tasks)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestNewRefusesWhatIsNoGraph(t *testing.T) {
	for _, tt := range []struct {
		plan string
		code nexus.ErrorCode
		want string
	}{
		{"a a", nexus.CodeInvalidPlan, `two tasks have the id "a"`},
		{":a", nexus.CodeInvalidPlan, "task 1 has no id"},
		{"a:b", nexus.CodeInvalidPlan, `task "a" needs "b", which is not in the plan`},
		{"a:a", nexus.CodeInvalidPlan, `task "a" needs itself`},
		{"a:b b:a", nexus.CodeCycle, "circle: a needs b needs a"},
		{"x y:x c:b b:d d:c z:c", nexus.CodeCycle, "circle: c needs b needs d needs c"},
		{"in:a a:x,b b:c c:a x", nexus.CodeCycle, "circle: a needs b needs c needs a"},
	} {
		_, err := taskgraph.NewTaskGraph(plan(tt.plan))
		if !errors.Is(err, &nexus.Error{Code: tt.code}) || !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.plan, err, tt.want)
		}
	}
}

func TestALongCircleIsCut(t *testing.T) {
	tasks := make([]nexus.Task, 10_000)
	for i := range tasks {
		tasks[i] = nexus.Task{ID: id(i), Needs: []nexus.TaskID{id((i + 1) % len(tasks))}}
	}
	_, err := taskgraph.NewTaskGraph(tasks)
	if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "T0 needs T1 ") || !strings.HasSuffix(err.Error(), " needs T0") {
		t.Error(err)
	}
	if !strings.Contains(err.Error(), "needs T19 needs (9961 more) needs T9981 needs") {
		t.Errorf("the cut: %v", err)
	}
	_, err = taskgraph.NewTaskGraph(tasks[:0:0])
	if err != nil {
		t.Error(err)
	}
	few := make([]nexus.Task, 39)
	for i := range few {
		few[i] = nexus.Task{ID: id(i), Needs: []nexus.TaskID{id((i + 1) % len(few))}}
	}
	if _, err := taskgraph.NewTaskGraph(few); err == nil || strings.Contains(err.Error(), "more") || strings.Count(err.Error(), " needs ") != 39 {
		t.Errorf("a circle of 40 names: %v", err)
	}
}

func id(n int) nexus.TaskID { return nexus.TaskID(fmt.Sprintf("T%d", n)) }

func TestLongestAndRank(t *testing.T) {
	tasks := plan("d:b,c b:a a c:a e")
	for i, m := range []int{5, 10, 1, 2, 14} {
		tasks[i].Minutes = m
	}
	g, minutes := build(t, tasks), func(i int) int { return taskgraph.TaskMinutes(tasks[i]) }
	if total := g.CriticalPathLength(minutes); total != 16 {
		t.Error(total)
	}
	if d := cmp.Diff(map[nexus.TaskID]int{"a": 16, "b": 15, "c": 7, "d": 5, "e": 14}, g.LongestPathMinutes()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]nexus.TaskID{"a", "b", "d"}, g.CriticalPath()); d != "" {
		t.Error(d)
	}
	if path := build(t, nil).CriticalPath(); path != nil {
		t.Errorf("an empty plan has the path %v", path)
	}
	if total := g.CriticalPathLength(func(int) int { return -3 }); total != 0 {
		t.Errorf("negative minutes: %d", total)
	}
	if total := build(t, nil).CriticalPathLength(minutes); total != 0 {
		t.Errorf("an empty plan takes %d", total)
	}
}

func TestConflicts(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"x.go", "x.go", true},
		{"./a/../x.go", "x.go", true},
		{"x.go", "y.go", false},
		{"pkg", "pkg/x.go", true},
		{"pkg/", "pkg/sub/x.go", true},
		{"pkg", "pkg2/x.go", false},
		{"pkg/x.go", "pkg/x.go.txt", false},
		{"pkg/**/*.go", "pkg/sub/y.txt", true},
		{"pkg/*_test.go", "other/x.go", false},
		{"pkg/x_{a,b}.go", "pkg/z.go", true},
		{"*.go", "deep/down/x.md", true},
		{".", "x", true},
		{"", "x", false},
		{`pkg\x.go`, "pkg/x.go", true},
		{"a/package.json", "b/package.json", true}, // one lock file
		{"a/package.json", "b/Cargo.toml", false},
		{"a/requirements-dev.txt", "b/requirements.txt", true},
		{"a/requirements.txt", "uv.lock", true},
		{"a/requirements.txt", "b/notes.txt", false},
		{"../up", "up", true}, // leaving the root leads nowhere else
	} {
		g := build(t, []nexus.Task{{ID: "a", Files: []string{"unrelated/f", tt.a}}, {ID: "b", Files: []string{tt.b}}})
		if g.HasConflict("a", "b") != tt.want || g.HasConflict("b", "a") != tt.want {
			t.Errorf("%q and %q: conflict is not %t", tt.a, tt.b, tt.want)
		}
		if g.HasConflict("a", "a") || g.HasConflict("a", "zzz") {
			t.Error("a task conflicts with itself or with nobody")
		}
	}
}

// drawn makes a random plan without circles: a task needs only earlier ones
// of a hidden order.
func drawn(t *rapid.T) []nexus.Task {
	n := rapid.IntRange(0, 30).Draw(t, "n")
	tasks := make([]nexus.Task, n)
	for i := range tasks {
		tasks[i] = nexus.Task{ID: id(i), Minutes: rapid.IntRange(0, 30).Draw(t, "minutes")}
		for j := range i {
			if rapid.IntRange(0, 4).Draw(t, "need") == 0 {
				tasks[i].Needs = append(tasks[i].Needs, id(j))
			}
		}
		if rapid.Bool().Draw(t, "touches") {
			tasks[i].Files = []string{rapid.SampledFrom([]string{"a", "a/x", "b", "b/*", "c/y"}).Draw(t, "file")}
		}
	}
	return rapid.Permutation(tasks).Draw(t, "order")
}

// TestAnswersAgree checks ranks and the critical path against their
// definitions.
func TestAnswersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := drawn(t)
		g, err := taskgraph.NewTaskGraph(tasks)
		if err != nil {
			t.Fatal(err)
		}
		after := map[nexus.TaskID]int{} // the highest rank of those that need it
		rank, most := g.LongestPathMinutes(), 0
		for _, task := range tasks {
			for _, n := range task.Needs {
				after[n] = max(after[n], rank[task.ID])
			}
			most = max(most, rank[task.ID])
		}
		for _, task := range tasks {
			if want := after[task.ID] + taskgraph.TaskMinutes(task); rank[task.ID] != want {
				t.Fatalf("%s ranks %d, want %d", task.ID, rank[task.ID], want)
			}
		}
		if total := g.CriticalPathLength(func(i int) int { return taskgraph.TaskMinutes(tasks[i]) }); total != most {
			t.Fatalf("the longest path takes %d, highest rank %d", total, most)
		}
	})
}

// TestCirclesAreReal closes a circle somewhere and checks the one that is
// named.
func TestCirclesAreReal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := drawn(t)
		if len(tasks) < 2 {
			t.Skip("too small for a circle")
		}
		a := rapid.IntRange(0, len(tasks)-2).Draw(t, "a")
		b := rapid.IntRange(a+1, len(tasks)-1).Draw(t, "b")
		tasks[a].Needs = append(tasks[a].Needs, tasks[b].ID)
		tasks[b].Needs = append(tasks[b].Needs, tasks[a].ID)
		_, err := taskgraph.NewTaskGraph(tasks)
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeCycle}) {
			t.Fatal(err)
		}
		_, text, _ := strings.Cut(err.Error(), "circle: ")
		names := strings.Split(text, " needs ")
		for i := range len(names) - 1 {
			at := slices.IndexFunc(tasks, func(x nexus.Task) bool { return string(x.ID) == names[i] })
			if !slices.Contains(tasks[at].Needs, nexus.TaskID(names[i+1])) {
				t.Fatalf("%s does not need %s", names[i], names[i+1])
			}
		}
		if names[0] != names[len(names)-1] || len(names) < 3 {
			t.Fatalf("no circle: %v", names)
		}
	})
}

func large() []nexus.Task {
	r := rand.New(rand.NewPCG(1, 2))
	tasks := make([]nexus.Task, 10_000)
	for i := range tasks {
		tasks[i] = nexus.Task{ID: id(i), Minutes: r.IntN(30), Files: []string{fmt.Sprintf("pkg%d/f%d.go", r.IntN(500), i)}}
		for range min(i, 3) {
			tasks[i].Needs = append(tasks[i].Needs, id(r.IntN(i)))
		}
	}
	return tasks
}

func BenchmarkNew(b *testing.B) {
	tasks := large()
	for b.Loop() {
		if _, err := taskgraph.NewTaskGraph(tasks); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRank(b *testing.B) {
	g, err := taskgraph.NewTaskGraph(large())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g.LongestPathMinutes()
	}
}
