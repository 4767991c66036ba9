package graph_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/graph"
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

func build(t *testing.T, tasks []nexus.Task) *graph.Graph {
	t.Helper()
	g, err := graph.New(tasks)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestNewRefusesWhatIsNoGraph(t *testing.T) {
	for _, tt := range []struct {
		plan string
		code nexus.Code
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
		_, err := graph.New(plan(tt.plan))
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
	_, err := graph.New(tasks)
	if err == nil || len(err.Error()) > 1000 || !strings.Contains(err.Error(), "T0 needs T1 ") || !strings.HasSuffix(err.Error(), " needs T0") {
		t.Error(err)
	}
	if !strings.Contains(err.Error(), "needs T19 needs (9961 more) needs T9981 needs") {
		t.Errorf("the cut: %v", err)
	}
	_, err = graph.New(tasks[:0:0])
	if err != nil {
		t.Error(err)
	}
	few := make([]nexus.Task, 39)
	for i := range few {
		few[i] = nexus.Task{ID: id(i), Needs: []nexus.TaskID{id((i + 1) % len(few))}}
	}
	if _, err := graph.New(few); err == nil || strings.Contains(err.Error(), "more") || strings.Count(err.Error(), " needs ") != 39 {
		t.Errorf("a circle of 40 names: %v", err)
	}
}

func id(n int) nexus.TaskID { return nexus.TaskID(fmt.Sprintf("T%d", n)) }

func set(ids string) func(nexus.TaskID) bool {
	return func(id nexus.TaskID) bool { return slices.Contains(strings.Fields(ids), string(id)) }
}

func TestReady(t *testing.T) {
	tasks := plan("a b:a c:a d:b,c e")
	tasks[2].Files = []string{"pkg/x.go"} // c
	tasks[4].Files = []string{"pkg/"}     // e
	g := build(t, tasks)
	for _, tt := range []struct{ done, busy, want string }{
		{"", "", "a e"},
		{"", "a", "e"},
		{"a", "", "b c e"},
		{"a", "e", "b"}, // e touches the directory that c's file lies in
		{"a e", "b", "c"},
		{"a b c e", "", "d"},
		{"a b c d e", "", ""},
	} {
		var got []string
		for _, id := range g.Ready(set(tt.done), set(tt.busy)) {
			got = append(got, string(id))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("done %q busy %q: ready %q, want %q", tt.done, tt.busy, s, tt.want)
		}
	}
}

func TestWavesLongestRankDependants(t *testing.T) {
	tasks := plan("d:b,c b:a a c:a e")
	for i, m := range []int{5, 10, 1, 2, 14} {
		tasks[i].Minutes = m
	}
	g := build(t, tasks)
	if d := cmp.Diff([][]nexus.TaskID{{"a", "e"}, {"b", "c"}, {"d"}}, g.Waves()); d != "" {
		t.Error(d)
	}
	path, total := g.Longest(nil)
	if d := cmp.Diff([]nexus.TaskID{"a", "b", "d"}, path); d != "" || total != 16 {
		t.Error(total, d)
	}
	if d := cmp.Diff(map[nexus.TaskID]int{"a": 16, "b": 15, "c": 7, "d": 5, "e": 14}, g.Rank(nil)); d != "" {
		t.Error(d)
	}
	if path, total := g.Longest(func(nexus.Task) int { return -3 }); total != 0 || len(path) == 0 {
		t.Errorf("negative minutes: %v %d", path, total)
	}
	if d := cmp.Diff([]nexus.TaskID{"d", "b", "c"}, g.Dependants("a")); d != "" {
		t.Error(d)
	}
	if got := g.Dependants("zzz"); got != nil {
		t.Errorf("dependants of nobody: %v", got)
	}
	empty := build(t, nil)
	if path, total := empty.Longest(nil); path != nil || total != 0 || len(empty.Waves()) != 0 {
		t.Error("an empty plan has a path")
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
		{"../up", "up", true}, // leaving the root leads nowhere else
	} {
		g := build(t, []nexus.Task{{ID: "a", Files: []string{"unrelated/f", tt.a}}, {ID: "b", Files: []string{tt.b}}})
		if g.Conflicts("a", "b") != tt.want || g.Conflicts("b", "a") != tt.want {
			t.Errorf("%q and %q: conflict is not %t", tt.a, tt.b, tt.want)
		}
		if g.Conflicts("a", "a") || g.Conflicts("a", "zzz") {
			t.Error("a task conflicts with itself or with nobody")
		}
	}
}

func TestDrawings(t *testing.T) {
	tasks := plan("a b:a")
	tasks[0].Title = "say \"hi\" <b>#1\n\x1b[31m"
	tasks[1].Title = strings.Repeat("long ", 30)
	g := build(t, tasks)
	mermaid := "graph TD\n  t0[\"a: say #quot;hi#quot; #lt;b#gt;#35;1 [31m\"]\n  t1[\"b: " + strings.TrimSpace(strings.Repeat("long ", 12)) + " ...\"]\n  t0 --> t1\n"
	if d := cmp.Diff(mermaid, g.Mermaid()); d != "" {
		t.Error(d)
	}
	dot := "digraph plan {\n  node [shape=box];\n  t0 [label=\"a: say \\\"hi\\\" <b>#1 [31m\"];\n  t1 [label=\"b: " + strings.TrimSpace(strings.Repeat("long ", 12)) + " ...\"];\n  t0 -> t1;\n}\n"
	if d := cmp.Diff(dot, g.Dot()); d != "" {
		t.Error(d)
	}
	tasks[0].Title, tasks[1].Title = "", strings.Repeat("x", 60)
	if got := build(t, tasks).Mermaid(); !strings.Contains(got, `t0["a"]`) || !strings.Contains(got, strings.Repeat("x", 60)+`"]`) {
		t.Error(got)
	}
}

// TestTheFirstOfEquals holds which of equal answers is given, and that a graph
// is not changed through what it hands out.
func TestTheFirstOfEquals(t *testing.T) {
	g := build(t, plan("c:b z:b b a:b y"))
	if d := cmp.Diff([][]nexus.TaskID{{"b", "y"}, {"c", "z", "a"}}, g.Waves()); d != "" {
		t.Error(d)
	}
	if path, _ := g.Longest(nil); fmt.Sprint(path) != "[b c]" {
		t.Error(path)
	}
	if d := cmp.Diff([][]nexus.TaskID{{"x", "y"}, {"a", "b"}}, build(t, plan("x y a:y b:x")).Waves()); d != "" {
		t.Errorf("in the plan's order: %s", d)
	}
	g.Tasks()[0].ID = "other"
	if got := g.Tasks(); len(got) != 5 || got[0].ID != "c" {
		t.Error(got)
	}
	if task, ok := g.Task("z"); !ok || task.ID != "z" {
		t.Error(task, ok)
	}
	if task, ok := g.Task("no"); ok || task.ID != "" {
		t.Error(task, ok)
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

// TestARunFinishes starts whatever is ready until nothing is left, and checks
// that each task starts once, after its needs, and never beside one that
// touches the same files.
func TestARunFinishes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := drawn(t)
		g, err := graph.New(tasks)
		if err != nil {
			t.Fatal(err)
		}
		done, busy := map[nexus.TaskID]bool{}, map[nexus.TaskID]bool{}
		for len(done) < len(tasks) {
			ready := g.Ready(func(id nexus.TaskID) bool { return done[id] }, func(id nexus.TaskID) bool { return busy[id] })
			if len(ready) > 0 && rapid.Bool().Draw(t, "start") {
				next := rapid.SampledFrom(ready).Draw(t, "which")
				task, _ := g.Task(next)
				for _, n := range task.Needs {
					if !done[n] {
						t.Fatalf("%s is ready before %s", next, n)
					}
				}
				for b := range busy {
					if g.Conflicts(next, b) || next == b {
						t.Fatalf("%s is ready beside %s", next, b)
					}
				}
				busy[next] = true
				continue
			}
			if len(busy) == 0 && len(ready) == 0 {
				t.Fatalf("nothing is ready with %d of %d done", len(done), len(tasks))
			}
			if len(busy) > 0 {
				ends := rapid.SampledFrom(slices.Sorted(maps.Keys(busy))).Draw(t, "ends")
				delete(busy, ends)
				done[ends] = true
			}
		}
	})
}

// TestAnswersAgree checks waves, ranks, critical path and dependants against
// their definitions.
func TestAnswersAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := drawn(t)
		g, err := graph.New(tasks)
		if err != nil {
			t.Fatal(err)
		}
		wave := map[nexus.TaskID]int{}
		for w, ids := range g.Waves() {
			for _, id := range ids {
				wave[id] = w
			}
		}
		if len(wave) != len(tasks) {
			t.Fatalf("%d of %d tasks are in waves", len(wave), len(tasks))
		}
		rank := g.Rank(nil)
		most := 0
		for _, task := range tasks {
			deepest := -1
			for _, n := range task.Needs {
				deepest = max(deepest, wave[n])
				if rank[n] < rank[task.ID]+graph.Minutes(tasks[slices.IndexFunc(tasks, func(x nexus.Task) bool { return x.ID == n })]) {
					t.Fatalf("%s ranks too low", n)
				}
				if !slices.Contains(g.Dependants(n), task.ID) {
					t.Fatalf("%s does not depend on %s", task.ID, n)
				}
			}
			if wave[task.ID] != deepest+1 {
				t.Fatalf("%s is in wave %d, not %d", task.ID, wave[task.ID], deepest+1)
			}
			most = max(most, rank[task.ID])
		}
		path, total := g.Longest(nil)
		sum := 0
		for i, id := range path {
			task, _ := g.Task(id)
			sum += graph.Minutes(task)
			if i > 0 && !slices.Contains(task.Needs, path[i-1]) {
				t.Fatalf("%s does not need %s", id, path[i-1])
			}
		}
		if sum != total || total != most {
			t.Fatalf("path of %d says %d, highest rank %d", sum, total, most)
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
		_, err := graph.New(tasks)
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
		if _, err := graph.New(tasks); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReady(b *testing.B) {
	g, err := graph.New(large())
	if err != nil {
		b.Fatal(err)
	}
	done := func(id nexus.TaskID) bool { return len(id) < 5 }
	busy := func(id nexus.TaskID) bool { return strings.HasSuffix(string(id), "77") }
	for b.Loop() {
		g.Ready(done, busy)
	}
}

func BenchmarkRank(b *testing.B) {
	g, err := graph.New(large())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g.Rank(nil)
	}
}

func BenchmarkDependants(b *testing.B) {
	g, err := graph.New(large())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g.Dependants("T0")
	}
}
