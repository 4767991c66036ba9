package land

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// twice is a run on whose branch T1 landed the file t1, and then T2 some files, and what
// takes both back.
func twice(t *testing.T, second map[string]string, gates ...gate.QualityGate) (*train, state.WorkerView, nexus.UndoStarted) {
	t.Helper()
	r := newTrain(t, gates...)
	v := state.WorkerView{Run: "r", Goal: nexus.GoalAccepted{Base: r.base}}
	at := r.base
	for i, files := range []map[string]string{{"t1": "1\n"}, second} {
		id := nexus.TaskID(fmt.Sprintf("T%d", i+1))
		name := strings.ToLower(string(id))
		_, hash := r.tree(nexus.AttemptID(id+".1"), at, files)
		next := r.commit(hash, "Add "+name+"\n", at)
		r.move(next, at)
		v.Landed = append(v.Landed, nexus.Task{ID: id, Title: "Add " + name})
		v.Commits = append(v.Commits, state.CompletedLanding{LandingCompleted: nexus.LandingCompleted{
			Task: id, Attempt: nexus.AttemptID(id + ".1"), Commit: next, Tree: hash, Parent: at, Changes: nexus.LandingChanges{Files: slices.Sorted(maps.Keys(files))},
		}})
		at = next
	}
	v.Tip = at
	return r, v, nexus.UndoStarted{Attempt: "U1", Tasks: []nexus.TaskID{"T2", "T1"}, Onto: at, By: "ada"}
}

// TestUndo takes two landings back by one commit on the tip, whose message names both, the
// last first. Who asks again after a crash hears of the same commit.
func TestUndo(t *testing.T) {
	r, v, f := twice(t, map[string]string{"t2": "1\n"}, lint("true"))
	facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	base, err := r.Trees.PrivateRepo().TreeID(t.Context(), r.base)
	if err != nil {
		t.Fatal(err)
	}
	want := nexus.UndoLanded{Attempt: "U1", Tasks: f.Tasks, Commit: r.tip(), Tree: base, Parent: f.Onto, By: "ada"}
	if got, ok := facts[0].(nexus.UndoLanded); !ok || got.Commit != want.Commit || got.Tree != base || got.Parent != f.Onto || got.By != "ada" || !slices.Equal(got.Tasks, f.Tasks) {
		t.Errorf("%+v, want %+v", facts[0], want)
	}
	message, err := r.Trees.PrivateRepo().Run(t.Context(), "show", "-s", "--format=%P%n%B", r.tip())
	if err != nil {
		t.Fatal(err)
	}
	text := f.Onto + "\nUndo 2 tasks\n\n" +
		"This reverts commit " + v.Commits[1].Commit + ",\nwhich landed T2: Add t2.\n\n" +
		"This reverts commit " + v.Commits[0].Commit + ",\nwhich landed T1: Add t1.\n\n" +
		"Nexus-Undo: r/U1"
	if strings.TrimSpace(message) != text {
		t.Errorf("the commit says\n%s\nwant\n%s", message, text)
	}
	again, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
	if err != nil || len(again) != 1 || again[0].(nexus.UndoLanded).Commit != want.Commit || r.tip() != want.Commit {
		t.Errorf("again: %+v, %v; the branch is at %s", again, err, r.tip())
	}
}

// TestUndoIsRefused: nothing moves where the gates are red without what landed, where none
// judged, and where a later landing changed the same lines.
func TestUndoIsRefused(t *testing.T) {
	for _, c := range []struct {
		name  string
		gates []gate.QualityGate
		files map[string]string
		task  nexus.TaskID
		why   string
	}{
		{"a gate needs it", []gate.QualityGate{lint("test -e t2")}, map[string]string{"t2": "1\n"}, "T2", "gate lint fails without it"},
		{"nothing judged the tree", nil, map[string]string{"t2": "1\n"}, "T2", "no gate judged the tree without it"},
		{"its lines changed since", []gate.QualityGate{lint("true")}, map[string]string{"t1": "2\n"}, "T1", "changed since in the same lines: t1, by T2, which landed later"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, v, f := twice(t, c.files, c.gates...)
			f.Tasks = []nexus.TaskID{c.task}
			facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
			if err != nil || len(facts) != 1 {
				t.Fatal(facts, err)
			}
			if got, ok := facts[0].(nexus.UndoRefused); !ok || !strings.Contains(got.Why, c.why) || r.tip() != f.Onto {
				t.Errorf("%+v, want %q; the branch is at %s", facts[0], c.why, r.tip())
			}
		})
	}
}

// TestUndoOfWhatCannotBeRead ends with what is wrong, and moves nothing.
func TestUndoOfWhatCannotBeRead(t *testing.T) {
	r, v, f := twice(t, map[string]string{"t2": "1\n"}, lint("true"))
	v.Commits[1].Commit = strings.Repeat("0", 40)
	if facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk); err == nil || !strings.Contains(err.Error(), "revert T2") || r.tip() != f.Onto {
		t.Errorf("%v, %v; the branch is at %s", facts, err, r.tip())
	}
	if _, _, err := mergeSubjects(t.Context(), r.Trees, state.WorkerView{Merge: &state.AttemptState{Base: v.Tip}}, strings.Repeat("0", 40)); err == nil {
		t.Error("what others committed since a commit that is not there is known")
	}
	tree, err := r.Trees.AddTree(t.Context(), "r", "T3.1", v.Tip)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tree.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	l := &attemptLanding{Worker: r.AttemptWorker, view: v, a: &state.AttemptState{ID: "T3.1", Base: r.base, Commit: strings.Repeat("0", 40)}, tree: tree}
	if text, err := l.mergerBrief(t.Context(), "T3.1/merger.1"); err == nil {
		t.Errorf("the merger is told of a change that cannot be read: %q", text)
	}
}
