package land

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestAnUndoThatIsThereIsFound by the next process, which judges nothing again; another's
// commit is none.
func TestAnUndoThatIsThereIsFound(t *testing.T) {
	trailer := "\nNexus-Undo: r/U1\n"
	for name, c := range map[string]struct {
		message string
		foreign bool // its parent is not the tip
		found   bool
	}{
		"the undo":           {"Undo T2: Add t2\n" + trailer, false, true},
		"another parent":     {"Undo T2: Add t2\n" + trailer, true, false},
		"no trailer":         {"Undo T2: Add t2\n", false, false},
		"of another attempt": {"Undo T2: Add t2\n\nNexus-Undo: r/U2\n", false, false},
		"the end of a line":  {"Undo T2: Add t2\n\nNo Nexus-Undo: r/U1\n", false, false},
	} {
		r, v, f := twice(t, map[string]string{"t2": "1\n"}, lint("true"))
		f.Tasks = []nexus.TaskID{"T2"}
		parent := f.Onto
		if c.foreign {
			parent = r.base
		}
		tree := v.Commits[0].Tree
		at := r.commit(tree, c.message, parent)
		r.move(at, f.Onto)
		r.Site.Now = func() time.Time { return time.Unix(1800000000, 0) }
		facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
		if r.tip() != at || len(r.desk.facts) > 0 {
			t.Errorf("%s: the branch is at %s, %+v", name, r.tip(), r.desk.facts)
		}
		if !c.found {
			if err == nil || len(facts) > 0 || !strings.Contains(err.Error(), "which nexus did not put there") {
				t.Errorf("%s: %+v, %v", name, facts, err)
			}
			continue
		}
		want := nexus.UndoLanded{Attempt: "U1", Tasks: f.Tasks, Commit: at, Tree: tree, Parent: f.Onto, By: "ada"}
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		if got := facts[0].(nexus.UndoLanded); got.Commit != at || got.Tree != tree || got.Parent != want.Parent || got.Attempt != "U1" || !slices.Equal(got.Tasks, f.Tasks) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// TestAnUndoOfOneTask is named after it.
func TestAnUndoOfOneTask(t *testing.T) {
	r, v, f := twice(t, map[string]string{"t2": "1\n"}, lint("true"))
	f.Tasks = []nexus.TaskID{"T1"}
	facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	got := facts[0].(nexus.UndoLanded)
	message, err := r.Trees.PrivateRepo().Run(t.Context(), "show", "-s", "--format=%B", got.Commit)
	if want := "Undo T1: Add t1\n\nThis reverts commit " + v.Commits[0].Commit + ",\nwhich landed T1: Add t1.\n\nNexus-Undo: r/U1"; err != nil || strings.TrimSpace(message) != want {
		t.Errorf("%q, want %q, %v", message, want, err)
	}
	files, err := r.Trees.PrivateRepo().Run(t.Context(), "ls-tree", "--name-only", got.Tree)
	if err != nil || strings.Join(strings.Fields(files), " ") != "bad t2" {
		t.Errorf("%q, %v", files, err)
	}
}

// TestWhatNoGateJudgedIsUndoneOnlyWhereItMay: where all that is reverted landed without
// one, or where nothing is left of the run.
func TestWhatNoGateJudgedIsUndoneOnlyWhereItMay(t *testing.T) {
	for _, c := range []struct {
		kinds []nexus.TaskKind // of T1 and T2
		undo  []nexus.TaskID
		may   bool
	}{
		{[]nexus.TaskKind{nexus.DocsTask, ""}, []nexus.TaskID{"T1"}, true},
		{[]nexus.TaskKind{nexus.DocsTask, ""}, []nexus.TaskID{"T2"}, false},
		{[]nexus.TaskKind{"", nexus.DocsTask}, []nexus.TaskID{"T2"}, true},
		{[]nexus.TaskKind{"", ""}, []nexus.TaskID{"T2"}, false},
		{[]nexus.TaskKind{"", ""}, []nexus.TaskID{"T2", "T1"}, true},
	} {
		r, v, f := twice(t, map[string]string{"t2": "1\n"})
		for i, k := range c.kinds {
			v.Landed[i].Kind = k
		}
		f.Tasks = c.undo
		facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		if _, landed := facts[0].(nexus.UndoLanded); landed != c.may || (r.tip() != f.Onto) != c.may {
			t.Errorf("%q, %s: %+v", c.kinds, c.undo, facts[0])
		}
	}
}

// TestWhoChangedItSinceIsNamed: the tasks that landed after it and in the same files, but
// for those that are undone too.
func TestWhoChangedItSinceIsNamed(t *testing.T) {
	landed := func(id nexus.TaskID, files ...string) state.CompletedLanding {
		return state.CompletedLanding{LandingCompleted: nexus.LandingCompleted{Task: id, Changes: nexus.LandingChanges{Files: files}}}
	}
	all := []state.CompletedLanding{landed("T0", "a"), landed("T1", "a"), landed("T2", "b"), landed("T3", "a", "c"), landed("T4", "a"), landed("T5", "c")}
	for _, c := range []struct {
		undo      []nexus.TaskID
		conflicts []string
		want      string
	}{
		{[]nexus.TaskID{"T1"}, []string{"a"}, "changed since in the same lines: a, by T3, T4, which landed later"},
		{[]nexus.TaskID{"T4", "T1"}, []string{"a", "c"}, "changed since in the same lines: a, c, by T3, T5, which landed later"},
		{[]nexus.TaskID{"T4"}, []string{"a"}, "changed since in the same lines: a"},
	} {
		u := &taskRevert{view: state.WorkerView{Commits: all}, f: nexus.UndoStarted{Tasks: c.undo}}
		for _, id := range c.undo {
			u.gone = append(u.gone, all[slices.IndexFunc(all, func(l state.CompletedLanding) bool { return l.Task == id })])
		}
		if got := u.conflictReason(c.conflicts); got != c.want {
			t.Errorf("%s: %q, want %q", c.undo, got, c.want)
		}
	}
}

// TestAnUndoThatIsRedSaysWhatIsWrong, but for what gates found that do not count.
func TestAnUndoThatIsRedSaysWhatIsWrong(t *testing.T) {
	hint := gate.QualityGate{Name: "hint", Optional: true, Args: []string{"sh", "-c", "test -e t1 && test ! -e t2 || exit 0; echo bad:1:1: perhaps; exit 1"}}
	r, v, f := twice(t, map[string]string{"t2": "1\n"}, lint("test -e t1 && test ! -e t2 || exit 0; echo bad:1:1: no; exit 1"), hint)
	f.Tasks = []nexus.TaskID{"T2"}
	facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	if got, ok := facts[0].(nexus.UndoRefused); !ok || len(got.Findings) != 1 || got.Findings[0].Message != "bad:1:1: no" || got.Attempt != "U1" || r.tip() != f.Onto {
		t.Errorf("%+v", facts[0])
	}
}

// TestAnUndoIsJudgedByAllPackages, also those that nothing says it breaks.
func TestAnUndoIsJudgedByAllPackages(t *testing.T) {
	b := gate.QualityGate{Name: "lint-b", Dir: "b", Args: []string{"sh", "-c", `test -e ../c/z.js && test ! -e ../a/x.js || exit 0; echo "x.js:1:1: no"; exit 1`}}
	packages := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		packages[name+"/package.json"] = `{"name":"` + name + `"}`
	}
	r, v, f := twice(t, packages, lint("exit 0"), b)
	v.Goal.Base = v.Tip
	for i, file := range []string{"a/x.js", "c/z.js"} {
		_, hash := r.tree(nexus.AttemptID([]string{"T3.1", "T4.1"}[i]), f.Onto, map[string]string{file: "1\n"})
		next := r.commit(hash, "Add "+file+"\n", f.Onto)
		r.move(next, f.Onto)
		v.Commits = append(v.Commits, state.CompletedLanding{LandingCompleted: nexus.LandingCompleted{Task: nexus.TaskID([]string{"T3", "T4"}[i]), Commit: next, Tree: hash, Parent: f.Onto}})
		f.Onto = next
	}
	f.Tasks = []nexus.TaskID{"T3"}
	facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	if got, ok := facts[0].(nexus.UndoRefused); !ok || !strings.Contains(got.Why, "gate lint-b fails without it") {
		t.Errorf("%+v", facts[0])
	}
}

// TestWhatWasAgreedToStaysAgreedTo: what another task took away needs no word in an undo.
func TestWhatWasAgreedToStaysAgreedTo(t *testing.T) {
	r, v, f := twice(t, map[string]string{"bad": ""}, lint("exit 0"))
	r.Judge.Meter = &changemetrics.ChangeMeasurer{Rules: nexus.DefinitionOfDone{Modes: map[string]nexus.BoundMode{nexus.DeletionBound: nexus.BoundBlock}}}
	f.Tasks = []nexus.TaskID{"T1"}
	facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk)
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	if _, ok := facts[0].(nexus.UndoLanded); !ok {
		t.Errorf("%+v", facts[0])
	}
}

// TestAnUndoThatCannotBeJudgedMovesNothing, and says why.
func TestAnUndoThatCannotBeJudgedMovesNothing(t *testing.T) {
	broken := errors.New("no space")
	r, v, f := twice(t, map[string]string{"t2": "1\n"}, lint("exit 0"))
	r.Judge.Gates = func(string) ([]gate.QualityGate, error) { return nil, broken }
	if facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk); !errors.Is(err, broken) || len(facts) > 0 || r.tip() != f.Onto {
		t.Errorf("%+v, %v; the branch is at %s", facts, err, r.tip())
	}
}

// TestWhatCannotBeTakenBack says why: its branch is gone, or others changed the same since.
func TestWhatCannotBeTakenBack(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main")
	u := RevertRequest{Branch: "main", Subject: "Say it", Why: "It made something worse.", Run: "loop-1", At: time.Unix(1e9, 0)}
	for n, text := range []string{"one\n", "two\n", "three\n"} {
		gittest.WriteFiles(t, dir, map[string]string{"a": text})
		gittest.RunGit(t, dir, "add", "-A")
		gittest.RunGit(t, dir, "commit", "-qm", text)
		if at := gittest.RunGit(t, dir, "rev-parse", "HEAD"); n == 0 {
			u.Before = at
		} else if n == 1 {
			u.Commit = at
		}
	}
	trees := treesOf(t, dir)
	commit, tree, at, done, err := MakeRevertCommit(t.Context(), trees, u)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeTargetMoved}) || !strings.Contains(err.Error(), "others have changed the same since: a") || done || commit+tree != "" || at != gittest.RunGit(t, dir, "rev-parse", "HEAD") {
		t.Errorf("%q, %q, done %t, %v", commit, tree, done, err)
	}
	gittest.RunGit(t, dir, "reset", "-q", "--hard", u.Commit)
	commit, tree, at, done, err = MakeRevertCommit(t.Context(), trees, u)
	if err != nil || done || at != u.Commit {
		t.Fatalf("%q at %q, done %t, %v", commit, at, done, err)
	}
	message, err := trees.PrivateRepo().Run(t.Context(), "show", "-s", "--format=%T%n%P%n%B", commit)
	if want := tree + "\n" + u.Commit + "\nRevert: Say it\n\nIt made something worse.\n\nNexus-Reverts: " + u.Commit + "\nNexus-Attempt: loop-1/revert"; err != nil || strings.TrimSpace(message) != want {
		t.Errorf("%q, want %q, %v", message, want, err)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if commit, tree, at, done, err := MakeRevertCommit(ctx, trees, u); !errors.Is(err, context.Canceled) || done || commit+tree+at != "" {
		t.Errorf("%q, %q at %q, done %t, %v", commit, tree, at, done, err)
	}
	u.Branch = "gone"
	commit, tree, at, done, err = MakeRevertCommit(t.Context(), trees, u)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeTargetMoved}) || !strings.Contains(err.Error(), "no branch gone") || done || commit+tree+at != "" {
		t.Errorf("%q, %q at %q, done %t, %v", commit, tree, at, done, err)
	}
}
