package landingupdates_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/landingupdates"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLandingIsTold tells those who write, and looked at what changed, once.
func TestLandingIsTold(t *testing.T) {
	run := func() *state.State {
		facts := []nexus.Fact{nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}}
		for _, id := range []nexus.TaskID{"T1", "T2", "T3", "T4"} {
			facts = append(facts, nexus.TaskPlanned{Task: nexus.Task{ID: id}})
		}
		facts = append(facts, nexus.PlanApproved{})
		for _, id := range []string{"T1", "T2", "T3", "T4"} {
			a := nexus.AttemptID(id + ".1")
			facts = append(facts, nexus.AttemptStarted{Attempt: a, Task: nexus.TaskID(id), Base: "c0"},
				nexus.RoundStarted{Attempt: a, Round: 1, Role: nexus.Coder}, nexus.SessionStarted{Session: nexus.SessionID(a + "/coder.1"), Attempt: a, Role: nexus.Coder})
		}
		facts = append(facts, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "x"}, nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
			nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"})
		return fold(t, facts...)
	}
	landed := nexus.LandingCompleted{
		Task: "T1", Attempt: "T1.1", Commit: "c1", Parent: "c0", Changes: nexus.LandingChanges{
			Files: []string{"sub/a.go", "b.go"},
			Names: []nexus.ChangedDeclaration{{File: "sub/a.go", Name: "Do", Was: "func Do()", Now: "func Do(n int)"}, {File: "b.go", Name: "Gone", Was: "func Gone()"}},
		},
	}
	call := func(s *state.State, task, tool, about string) {
		next(t, s, nexus.ToolCallStarted{Session: nexus.SessionID(task + ".1/coder.1"), Tool: tool, About: about})
	}
	told := func(s *state.State, task string, role nexus.Role) string {
		var all []string
		for _, g := range landingupdates.PendingUpdates(s, nexus.BudgetReserved{Task: nexus.TaskID(task), Session: nexus.SessionID(task + ".1/" + string(role) + ".1"), Role: role}) {
			text, why := landingupdates.UpdateMessage(g)
			all = append(all, why+" "+text)
		}
		return strings.Join(all, "\n")
	}
	for about, want := range map[string]string{
		"sub/a.go": `changed what you looked at: sub/a.go; "func Do()" is now "func Do(n int)". Your`, "cat ./b.go | head": `: b.go; "func Gone()" is gone. Your`,
		"/srv/trees/T2.1/tree/sub/a.go": ": sub/a.go;", `\bGone\(`: `looked at; "func Gone()" is gone. Your`, "usages pkg.Do: how": `"func Do()" is now`,
		"cmd/b.go": "", "/srv/trees/T2.1/tree/cmd/b.go": "", "/srv/trees/T3.1/tree/b.go": "", "/b.go": "",
		"cd sub && cat a.go": ": sub/a.go;", "git -C sub show HEAD:a.go": ": sub/a.go;", "cd /srv/trees/T2.1/tree/sub; head a.go": ": sub/a.go;", "cd sub && cat ../b.go": ": b.go;",
		"(cd sub && ls); cat b.go": ": b.go;", "pushd sub\ncat ./a.go": ": sub/a.go;", "cd $D && cat b.go": ": b.go;", "sh -c 'cd sub && cat a.go'": ": sub/a.go;", "cd sub && grep Gone x": `looked at; "func Gone()" is gone. Your`,
		"cd cmd && cat b.go": "", "git -C cmd log b.go": "", "(cd sub && ls); cat a.go": "", "git -C sub log; cat a.go": "", "cd .. && cat b.go": "", "cd sub && cd .. && cat a.go": "", "cd": "", "-C": "",
		"a.go": "", "sub/a.goo": "", "xb.go": "", "Done gone": "", "go test ./sub": "",
	} {
		s := run()
		call(s, "T2", "any", about)
		next(t, s, landed)
		got := told(s, "T2", nexus.Coder)
		if want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q: told %q, want %q", about, got, want)
		}
	}

	s := run()
	call(s, "T2", "read_file", "b.go")
	call(s, "T3", "read_file", "b.go")
	next(t, s, landed)
	if got := told(s, "T2", nexus.Reviewer) + told(s, "T4", nexus.Coder); got != "" {
		t.Errorf("others are told %q", got)
	}
	if got := told(s, "T2", nexus.Coder); !strings.HasPrefix(got, "landed T1 landed meanwhile as commit c1 ") {
		t.Errorf("told %q", got)
	}
	seq := landingupdates.PendingUpdates(s, nexus.BudgetReserved{Task: "T2", Session: "T2.1/coder.1", Role: nexus.Coder})[0].Seq
	next(t, s, nexus.PromptSent{Session: "T2.1/coder.1", Message: "m", Why: "landed", Request: seq})
	if got := told(s, "T2", nexus.Coder); got != "" || told(s, "T3", nexus.Coder) == "" {
		t.Errorf("after one was told: %q", got)
	}
	call(s, "T4", "read_file", "b.go") // later, and it sees what was there before
	if told(s, "T4", nexus.Coder) == "" {
		t.Error("who looked later is not told")
	}
}

// FuzzLooked reads whatever an agent calls for.
func FuzzLooked(f *testing.F) {
	for _, text := range []string{"cd sub && cat a.go", "git -C sub show HEAD:a.go", ")(cd", "cd -C cd -C", "cd ../../.. ; cat a.go", "sub/\xffa.go"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := fold(t, nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.TaskPlanned{Task: nexus.Task{ID: "T2"}}, nexus.PlanApproved{},
			nexus.AttemptStarted{Attempt: "T2.1", Task: "T2", Base: "c0"}, nexus.RoundStarted{Attempt: "T2.1", Round: 1, Role: nexus.Coder},
			nexus.SessionStarted{Session: "T2.1/coder.1", Attempt: "T2.1", Role: nexus.Coder}, nexus.ToolCallStarted{Session: "T2.1/coder.1", Tool: "shell", About: text},
			nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Base: "c0"}, nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Accepted, Commit: "x"}, nexus.LandingQueued{Task: "T1", Attempt: "T1.1"},
			nexus.LandingStarted{Task: "T1", Attempt: "T1.1", Onto: "c0"}, nexus.LandingCompleted{Task: "T1", Attempt: "T1.1", Commit: "c1", Parent: "c0", Changes: nexus.LandingChanges{Files: []string{"sub/a.go"}}})
		all := landingupdates.PendingUpdates(s, nexus.BudgetReserved{Task: "T2", Session: "T2.1/coder.1", Role: nexus.Coder})
		if len(all) > 1 || len(all) == 1 && !strings.Contains(text, "a.go") {
			t.Errorf("%q: told %+v", text, all)
		}
	})
}

// fold folds facts into a new run.
func fold(t *testing.T, facts ...nexus.Fact) *state.State {
	t.Helper()
	s := state.NewState("r")
	for _, f := range facts {
		next(t, s, f)
	}
	return s
}

func next(t *testing.T, s *state.State, f nexus.Fact) {
	t.Helper()
	if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Run: "r", At: time.Unix(s.Seq, 0), Fact: f}); err != nil {
		t.Fatal(err)
	}
}

// TestGuidanceIsReadBack from the message that delivers it.
func TestGuidanceIsReadBack(t *testing.T) {
	for _, g := range []state.Guidance{{Text: "Paint it blue:\n\nall of it"}, {Text: "Stop", Cut: true}} {
		text, why := landingupdates.UpdateMessage(g)
		if got := landingupdates.ParseGuidance(text, why); got != g.Text {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, g := range []state.Guidance{{Text: "T2 landed:\n\nx", Landed: true}, {Text: state.LookAgain, Cut: true}} {
		text, why := landingupdates.UpdateMessage(g)
		if got := landingupdates.ParseGuidance(text, why); got != "" {
			t.Errorf("%q asks for %q", text, got)
		}
	}
}
