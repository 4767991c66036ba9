package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// gone fails where a worktree is still there that somebody worked in.
func gone(t *testing.T, m *LocalExecutor, id nexus.AttemptID) {
	t.Helper()
	dir, err := m.Worker.Trees.TreeDir("r", id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the worktree of %s is still there: %v", id, err)
	}
}

// TestAnAdditionIsPlanned by a planner who hears what was added, and not the run's goal, and
// which tasks there are. What is no plan is why nothing comes of it.
func TestAnAdditionIsPlanned(t *testing.T) {
	m, p, v := planned(t, twoTasks)
	v.Attempt = &state.AttemptState{ID: "add.1", Base: v.Tip}
	v.Goal.Goal.Text = "the goal of the run"
	v.Added = nexus.Task{Brief: "Write one and two, too.", Files: []string{"near.go"}}
	v.Tasks = []nexus.Task{{ID: "T7", Title: "Write seven"}}
	f := nexus.AdditionPlanningStarted{Attempt: "add.1", Request: 9}
	facts, err := m.ExecuteIntent(t.Context(), f, v, &desk{})
	if err != nil || len(facts) != 1 {
		t.Fatalf("%+v, %v: %q", facts, err, p.told)
	}
	made, ok := facts[0].(nexus.AdditionTasksProposed)
	if !ok || made.Attempt != "add.1" || len(made.Tasks) != 2 || made.Tasks[0].Criteria[0].Tried == "" {
		t.Errorf("%+v", facts[0])
	}
	for _, want := range []string{"Write one and two, too.", "T7: Write seven", "near.go"} {
		if !strings.Contains(p.told[0], want) {
			t.Errorf("it is not told %q:\n%s", want, p.told[0])
		}
	}
	if strings.Contains(p.told[0], "the goal of the run") {
		t.Errorf("it is told the goal of the run:\n%s", p.told[0])
	}
	gone(t, m, "add.1")
	bad := `{"tasks": []}`
	m, _, w := planned(t, bad, bad, bad, bad, bad, bad)
	v.Goal, v.Tip = w.Goal, w.Tip
	v.Attempt = &state.AttemptState{ID: "add.1", Base: w.Tip}
	facts, err = m.ExecuteIntent(t.Context(), f, v, &desk{})
	if err != nil || len(facts) != 1 {
		t.Fatalf("%+v, %v", facts, err)
	}
	if f, ok := facts[0].(nexus.AdditionPlanningFailed); !ok || f.Request != 9 || f.Attempt != "add.1" || f.Why == "" {
		t.Errorf("%+v", facts[0])
	}
}

// TestAnInterviewIsHeld: what the interviewer submits is recorded, and its worktree goes.
func TestAnInterviewIsHeld(t *testing.T) {
	m, p, v := planned(t, `{"clear": false, "title": "One", "problem": "Nobody has one.", "requirements": [{"text": "one is there", "priority": "must"}],
		"questions": [{"text": "How large?", "default": "small", "changes": "the size", "area": "data_model"}]}`)
	v.Attempt = &state.AttemptState{ID: "interview.1", Base: v.Tip}
	v.Interview = &clarify.InterviewState{}
	v.Interview.Apply(nexus.GoalAccepted{Goal: nexus.Goal{Text: "add one", Mode: nexus.Interview}})
	v.Interview.Apply(nexus.InterviewRoundStarted{Attempt: "interview.1", Round: 1})
	facts, err := m.ExecuteIntent(t.Context(), nexus.InterviewRoundStarted{Attempt: "interview.1", Round: 1}, v, &desk{})
	if err != nil || len(facts) == 0 {
		t.Fatalf("%+v, %v: %q", facts, err, p.told)
	}
	heard, ok := facts[len(facts)-1].(nexus.InterviewRoundEnded)
	if !ok || heard.Attempt != "interview.1" || heard.Round != 1 || len(heard.Questions) != 1 {
		t.Errorf("%+v", facts)
	}
	if !strings.Contains(p.told[0], "interview.1/interviewer.1") {
		t.Errorf("it is told %q", p.told[0])
	}
	gone(t, m, "interview.1")
}

// TestASpecIsWritten and kept. Who submits nothing that can be used is why there is none.
func TestASpecIsWritten(t *testing.T) {
	const good = `{"title": "T", "problem": "p", "requirements": [{"text": "a", "priority": "must"}], "criteria": [{"text": "c", "of": ["REQ-1"]}]}`
	m, p, v := planned(t, good, good, good)
	v.Attempt, v.Goal.Goal.Mode = &state.AttemptState{ID: "spec.1", Base: v.Tip}, nexus.Specify
	facts, err := m.ExecuteIntent(t.Context(), nexus.SpecWritingStarted{Attempt: "spec.1"}, v, &desk{})
	if err != nil || len(facts) != 1 {
		t.Fatalf("%+v, %v: %q", facts, err, p.told)
	}
	f, ok := facts[0].(nexus.SpecWritten)
	if !ok || f.Attempt != "spec.1" {
		t.Fatalf("%+v", facts[0])
	}
	if text, err := m.Worker.Site.Blobs.Get(f.Spec); err != nil || !strings.Contains(string(text), "REQ-1") {
		t.Errorf("%q, %v", text, err)
	}
	gone(t, m, "spec.1")
	m, _, v = planned(t, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`, `{}`)
	v.Limits.Turns = 2
	v.Attempt, v.Goal.Goal.Mode = &state.AttemptState{ID: "spec.1", Base: v.Tip}, nexus.Specify
	facts, err = m.ExecuteIntent(t.Context(), nexus.SpecWritingStarted{Attempt: "spec.1"}, v, &desk{})
	if err != nil || len(facts) != 1 {
		t.Fatalf("%+v, %v", facts, err)
	}
	if f, ok := facts[0].(nexus.SpecWritingFailed); !ok || f.Attempt != "spec.1" || f.Why == "" || f.Code == "" {
		t.Errorf("%+v", facts[0])
	}
}

// TestAModelSaysHowHardTasksAre, of those that nothing else says it of, and is not asked about
// the same tasks again.
func TestAModelSaysHowHardTasksAre(t *testing.T) {
	m, p, v := planned(t, `{"routes": [{"task": "T1", "complexity": "expert", "why": "it is hard"}, {"task": "T2", "complexity": "simple", "why": "nobody asked"}]}`)
	v.Goal.Routing.Order = []string{"manual", "model"}
	v.Tasks = []nexus.Task{{ID: "T1", Title: "One"}, {ID: "T2", Title: "Two"}, {ID: "T3", Title: "Three", Tier: nexus.Strong}}
	for range 2 {
		v.Attempt = &state.AttemptState{ID: "route.1", Base: v.Tip} // as in another run
		facts, err := m.ExecuteIntent(t.Context(), nexus.ComplexityRatingStarted{Attempt: "route.1", Tasks: []nexus.TaskID{"T1"}}, v, &desk{})
		if err != nil || len(facts) != 1 {
			t.Fatalf("%+v, %v: %q", facts, err, p.told)
		}
		f, ok := facts[0].(nexus.ComplexityRatingEnded)
		if !ok || f.Attempt != "route.1" || f.Why != "" || len(f.Routes) != 1 || f.Routes[0].Task != "T1" || f.Routes[0].Complexity != nexus.Expert {
			t.Errorf("%+v", facts[0])
		}
	}
	if len(p.told) != 1 || !strings.Contains(p.told[0], "T1: One") || strings.Contains(p.told[0], "T2") || strings.Contains(p.told[0], "T3") {
		t.Errorf("it is told %q", p.told)
	}
	gone(t, m, "route.1")
	v.Tasks[0].Title = "Another" // and the answer cannot be used
	p.plans, v.Limits.Turns = []string{`{"routes": [{"task": "T1", "complexity": "huge", "why": "no"}]}`}, 1
	v.Attempt = &state.AttemptState{ID: "route.1", Base: v.Tip}
	facts, err := m.ExecuteIntent(t.Context(), nexus.ComplexityRatingStarted{Attempt: "route.1", Tasks: []nexus.TaskID{"T1"}}, v, &desk{})
	if err != nil || len(facts) != 1 {
		t.Fatalf("%+v, %v", facts, err)
	}
	if f, ok := facts[0].(nexus.ComplexityRatingEnded); !ok || f.Why == "" || len(f.Routes) > 0 {
		t.Errorf("%+v, and it is told %q", facts[0], p.told)
	}
	gone(t, m, "route.1")
}

// hooked lets a machine ask a hook at a point, which is a line of shell.
func hooked(t *testing.T, m *LocalExecutor, hooks map[nexus.HookPoint]string) {
	t.Helper()
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	m.Runner = &usercmd.UserCommandRunner{
		Box: box, Unboxed: box, Dir: t.TempDir(), State: t.TempDir(), Env: os.Getenv, Trust: trust.OpenStore(t.TempDir()), Mark: "test/hook",
	}
	m.Hooks = nil
	for point, script := range hooks {
		on := config.HookSettings{On: []string{string(point)}, Command: []string{"sh", "-c", script}}
		m.Hooks = append(m.Hooks, hookcmd.DeclaredHook{Name: "check", Own: true, HookSettings: on})
	}
}

// TestHooksLetARunStart, or do not: who refuses says why, and what ran is on record. They
// hear how much there is to do, and whether it began before.
func TestHooksLetARunStart(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	m := &LocalExecutor{Worker: s}
	v := state.WorkerView{Run: "r", Resumed: true, Tasks: []nexus.Task{{ID: "T1"}, {ID: "T2"}}}
	v.Goal = nexus.GoalAccepted{Goal: nexus.Goal{Text: "add one"}, Base: base}
	said := filepath.Join(t.TempDir(), "said")
	for script, allowed := range map[string]bool{"cat >'" + said + "'": true, "echo not today; exit 2": false} {
		hooked(t, m, map[nexus.HookPoint]string{nexus.HookRunStart: script, nexus.HookRunLand: "exit 2"})
		d := &desk{}
		facts, err := m.ExecuteIntent(t.Context(), nexus.StartHooksAsked{}, v, d)
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		f, ok := facts[0].(nexus.StartHooksAnswered)
		if !ok || f.Allowed != allowed || (f.Why == "") != allowed || !allowed && !strings.Contains(f.Why, "check does not allow it") {
			t.Errorf("%q: %+v", script, facts[0])
		}
		if len(d.facts) != 1 {
			t.Fatalf("%q: recorded are %+v", script, d.facts)
		}
		if f, ok := d.facts[0].(nexus.HookRan); !ok || f.Hook != "check" || f.Point != nexus.HookRunStart || f.State.AllowsAction() != allowed {
			t.Errorf("%q: %+v", script, d.facts[0])
		}
	}
	if text, err := os.ReadFile(said); err != nil || !strings.Contains(string(text), `"tasks":2`) || !strings.Contains(string(text), `"resumed":true`) {
		t.Errorf("it is told %s, %v", text, err)
	}
	m.Hooks = nil
	if facts, err := m.ExecuteIntent(t.Context(), nexus.StartHooksAsked{}, v, &desk{}); err != nil || facts[0] != nexus.Fact(nexus.StartHooksAnswered{Allowed: true}) {
		t.Errorf("without hooks: %+v, %v", facts, err)
	}
}

// TestHooksKeepWhatLanded from the user's repository where they refuse it. They see the files
// that would be there, and which of them changed.
func TestHooksKeepWhatLanded(t *testing.T) {
	s, base, user := workertest.NewTestWorker(t)
	m := &LocalExecutor{Worker: s}
	tip, _ := workertest.CommitFiles(t, s, "T1.1", base, map[string]string{"one": "1\n"})
	later, _ := workertest.CommitFiles(t, s, "T1.2", tip, map[string]string{"two": "2\n"})
	v := state.WorkerView{Run: "r", Tip: tip, Landings: 1, Passed: true, Goal: nexus.GoalAccepted{Base: base, Target: "main"}}
	publish := func(script string) nexus.ResultPublished {
		t.Helper()
		hooked(t, m, map[nexus.HookPoint]string{nexus.HookRunLand: script})
		facts, err := m.ExecuteIntent(t.Context(), nexus.ResultPublishingStarted{Commit: v.Tip}, v, &desk{})
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		gone(t, m, "hook")
		return facts[0].(nexus.ResultPublished)
	}
	at := func() string {
		t.Helper()
		out, err := user.Run(t.Context(), "for-each-ref", "--format=%(objectname)", "refs/heads/nexus/r")
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	if f := publish("exit 2"); f.Hook != "check" || f.Branch != "" || f.Commit != tip || f.Why == "" || at() != "" {
		t.Errorf("%+v, and the branch is at %q", f, at())
	}
	left, err := s.Trees.AddTree(t.Context(), "r", "hook", base) // of a process that died
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left.Dir, "dirt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	said := filepath.Join(t.TempDir(), "said")
	if f := publish("cat >'" + said + "'"); f.Hook != "" || f.Branch != "nexus/r" || at() != tip {
		t.Errorf("%+v, and the branch is at %q", f, at())
	}
	text, err := os.ReadFile(said)
	if err != nil || !strings.Contains(string(text), `"files":["one"]`) || strings.Contains(string(text), `"target":"main"`) {
		t.Errorf("it is told %s, %v", text, err)
	}
	v.Goal.Land = true // what is on the branch already stays there, and its target is not moved
	if f := publish("cat >'" + said + "'; exit 2"); f.Hook != "check" || f.Branch != "nexus/r" || f.Target != "" || at() != tip {
		t.Errorf("%+v, and the branch is at %q", f, at())
	}
	if text, err := os.ReadFile(said); err != nil || !strings.Contains(string(text), `"target":"main"`) {
		t.Errorf("it is told %s, %v", text, err)
	}
	v.Tip = later // more landed, and the branch has only what was there before
	if f := publish("exit 2"); f.Branch != "" || at() != tip {
		t.Errorf("%+v, and the branch is at %q", f, at())
	}
	v.TargetMerge.Merged = &nexus.TargetMergeCommitted{Commit: later, Onto: tip}
	if f := publish("cat >'" + said + "'; exit 2"); f.Branch != "nexus/r" {
		t.Errorf("%+v", f)
	}
	if text, err := os.ReadFile(said); err != nil || !strings.Contains(string(text), `"files":["two"]`) || !strings.Contains(string(text), later) {
		t.Errorf("what is merged: it is told %s, %v", text, err)
	}
}

// TestNotesHaveNoKeys in what they say about the tree of a commit.
func TestNotesHaveNoKeys(t *testing.T) {
	s, base, user := workertest.NewTestWorker(t)
	s.Site.Mask = func(text []byte) []byte { return []byte(strings.ReplaceAll(string(text), "s3cret", "***")) }
	m := &LocalExecutor{Worker: s}
	tip, tree := workertest.CommitFiles(t, s, "T1.1", base, map[string]string{"one": "1\n"})
	v := state.WorkerView{Run: "r", Tip: tip, Passed: true, Goal: nexus.GoalAccepted{Base: base}}
	v.Proofs = []state.LandingEvidence{{
		LandingCompleted: nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: tip, Tree: tree, Parent: base},
		Evidence:         []nexus.GateEvidence{{Gate: "test", State: nexus.Pass, Tree: tree, Command: "run s3cret", Toolchain: "go s3cret", Why: "it says s3cret"}},
	}}
	facts, err := m.ExecuteIntent(t.Context(), nexus.ResultPublishingStarted{Commit: tip}, v, &desk{})
	if f, ok := facts[0].(nexus.ResultPublished); err != nil || !ok || f.Bare != "" {
		t.Fatalf("%+v, %v", facts, err)
	}
	out, err := user.Run(t.Context(), "notes", "--ref=nexus", "show", tip)
	if err != nil || strings.Contains(out, "s3cret") || !strings.Contains(out, "run ***") {
		t.Errorf("%q, %v", out, err)
	}
}

// TestASecondLook holds a plan against a goal of several statements, once: who continues knows what was
// found. A checker who submits nothing leaves it open.
func TestASecondLook(t *testing.T) {
	const full = `{"statements": [{"id": "S1", "tasks": ["T1"], "criteria": ["T1/AC-1"]}, {"id": "S2", "tasks": ["T2"], "criteria": ["T2/AC-1"]}]}`
	looked := func(turns int, plans ...string) (*planner, *desk, nexus.PlanProposed) {
		t.Helper()
		m, p, v := planned(t, plans...)
		v.Goal.Goal.Text, v.Limits.Turns = "The file one must be there. The file two must be there.", turns
		d := &desk{}
		facts, err := m.ExecuteIntent(t.Context(), nexus.PlanningStarted{Attempt: "plan.1"}, v, d)
		if err != nil || len(facts) != 3 {
			t.Fatalf("%+v, %v: %q", facts, err, p.told)
		}
		return p, d, facts[0].(nexus.PlanProposed)
	}
	p, d, f := looked(9, twoTasks, full)
	if f.Cover == nil || f.Cover.State != nexus.CoverFull {
		t.Errorf("%+v: %q", f.Cover, p.told)
	}
	if len(p.told) != 2 || !strings.Contains(p.told[1], "plan.1/checker.1") || !strings.Contains(p.told[1], "The file two must be there.") {
		t.Errorf("it is told %q", p.told)
	}
	looks := 0
	for _, f := range d.facts {
		if f, ok := f.(nexus.PlanCoverageChecked); ok && f.Session == "plan.1/checker.1" && f.Attempt == "plan.1" {
			looks++
		}
	}
	if looks != 1 {
		t.Errorf("looked %d times", looks)
	}
	if p, _, f := looked(1, twoTasks, `{}`); f.Cover == nil || f.Cover.State != nexus.CoverUnsure || !strings.Contains(f.Cover.Why, "submitted nothing") {
		t.Errorf("%+v: %q", f.Cover, p.told)
	}
}

// TestAPlannerThatCannotBeAsked is an error, and not a task that cannot be split, or an addition of which
// nothing comes.
func TestAPlannerThatCannotBeAsked(t *testing.T) {
	for name, f := range map[string]nexus.Fact{
		"a split":      nexus.TaskSplitStarted{Attempt: "x.1", Task: "T1", Why: "stuck"},
		"an addition":  nexus.AdditionPlanningStarted{Attempt: "x.1", Request: 9},
		"a plan":       nexus.PlanningStarted{Attempt: "x.1"},
		"an interview": nexus.InterviewRoundStarted{Attempt: "x.1", Round: 1},
		"a spec":       nexus.SpecWritingStarted{Attempt: "x.1"},
		"routes":       nexus.ComplexityRatingStarted{Attempt: "x.1", Tasks: []nexus.TaskID{"T1"}},
	} {
		m, _, v := planned(t)
		v.Attempt = &state.AttemptState{ID: "x.1", Base: v.Tip}
		v.Task = state.TaskState{Task: nexus.Task{ID: "T1", Title: "Write both", Brief: "Write one and two."}}
		v.Tasks, v.Added, v.Interview = []nexus.Task{v.Task.Task}, nexus.Task{Brief: "Write three."}, &clarify.InterviewState{}
		v.Interview.Apply(nexus.GoalAccepted{Goal: nexus.Goal{Text: "add one", Mode: nexus.Interview}})
		v.Interview.Apply(nexus.InterviewRoundStarted{Attempt: "x.1", Round: 1})
		if facts, err := m.ExecuteIntent(t.Context(), f, v, &desk{}); err == nil || len(facts) > 0 || !strings.Contains(err.Error(), "no plan is left") {
			t.Errorf("%s: %+v, %v", name, facts, err)
		}
	}
}

// TestASplitShowsWorkOfARefusedLanding: the work stands on the merged tree that the landing
// refused, so its commits have no ancestor in common with the run's branch.
func TestASplitShowsWorkOfARefusedLanding(t *testing.T) {
	m, p, v := planned(t, strings.ReplaceAll(strings.ReplaceAll(twoTasks, `"T1"`, `"T1-1"`), `"T2"`, `"T1-2"`))
	git := m.Worker.Trees.PrivateRepo()
	merged, err := git.TreeID(t.Context(), v.Tip)
	if err != nil {
		t.Fatal(err)
	}
	tree, err := m.Worker.Trees.AddTree(t.Context(), "r", "T1.1", merged)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree.Dir, "half"), []byte("half done\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	work, _, err := tree.Snapshot(t.Context(), "round 1")
	if err != nil {
		t.Fatal(err)
	}
	if base, err := git.MergeBase(t.Context(), v.Tip, work); base != "" || err != nil {
		t.Fatalf("%q, %v", base, err)
	}
	v.Task = state.TaskState{Task: nexus.Task{ID: "T1", Title: "Write both", Brief: "Write one and two."}}
	v.Tasks = []nexus.Task{v.Task.Task}
	v.Past = []*state.AttemptState{{ID: "T1.1", Task: "T1", Stage: state.Over, Base: v.Tip, Start: merged, Commit: work, Outcome: nexus.NoProgress}}
	v.Attempt = &state.AttemptState{ID: "split.1", Base: v.Tip}
	facts, err := m.ExecuteIntent(t.Context(), nexus.TaskSplitStarted{Attempt: "split.1", Task: "T1", Why: "stuck", Work: work}, v, &desk{})
	if err != nil || len(p.told) == 0 || !strings.Contains(p.told[0], "+half done") || strings.Contains(p.told[0], "deleted file") {
		t.Fatalf("%+v, %v: %q", facts, err, p.told)
	}
}
