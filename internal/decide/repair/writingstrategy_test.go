package repair_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestChosenStrategy says which strategy a task gets, and why.
func TestChosenStrategy(t *testing.T) {
	plain := nexus.StartTierChosen{Complexity: nexus.Simple}
	for name, c := range map[string]struct {
		task   nexus.Task
		routed nexus.StartTierChosen
		want   nexus.WritingStrategy
		why    string
	}{
		"docs":            {nexus.Task{Kind: nexus.DocsTask, Title: "Check the password"}, plain, nexus.TestAfter, "it is a task of kind docs"},
		"tests":           {nexus.Task{Kind: nexus.TestTask, Title: "Check the password"}, plain, nexus.TestAfter, "it is a task of kind test"},
		"a rename":        {nexus.Task{Title: "Rename oldName to newName"}, plain, nexus.NoTest, "it renames oldName to newName, and tests are needed only if the change does more"},
		"a risk":          {nexus.Task{Title: "Check the password"}, plain, nexus.TDDStrict, `it says "password"`},
		"complex":         {nexus.Task{Title: "Draw"}, nexus.StartTierChosen{Complexity: nexus.Complex}, nexus.TDDStrict, "it is complex"},
		"for experts":     {nexus.Task{Title: "Draw"}, nexus.StartTierChosen{Complexity: nexus.Expert}, nexus.TDDStrict, "it is expert"},
		"simple":          {nexus.Task{Title: "Draw"}, plain, nexus.TestAfter, "it is simple, and nothing in it is about security or a public API"},
		"seen on screen":  {nexus.Task{Title: "Draw", Tags: []string{"go", "UI"}}, nexus.StartTierChosen{Complexity: nexus.Complex}, nexus.TDDLite, "it is complex, and has the tag UI"},
		"of another kind": {nexus.Task{Title: "Draw", Tags: []string{"go"}}, nexus.StartTierChosen{Complexity: nexus.Complex}, nexus.TDDStrict, "it is complex"},
	} {
		if got, why := repair.ChooseStrategy(nexus.StartTierRules{}, c.task, c.routed); got != c.want || why != c.why {
			t.Errorf("%s: %s, as %s", name, got, why)
		}
	}
}

// TestStrategyOfTheNextAttempt lowers the strict one where its roles could not be kept
// apart, counting only attempts that count.
func TestStrategyOfTheNextAttempt(t *testing.T) {
	broke := []*state.AttemptState{{Category: nexus.IsolationViolation}, {}}
	for name, c := range map[string]struct {
		task state.TaskState
		want nexus.WritingStrategy
	}{
		"nothing is said":      {state.TaskState{}, nexus.TestAfter},
		"the plan":             {state.TaskState{Task: nexus.Task{Strategy: nexus.TDDSimple}}, nexus.TDDSimple},
		"it was chosen since":  {state.TaskState{Task: nexus.Task{Strategy: nexus.TDDSimple}, Course: nexus.TDDStrict}, nexus.TDDStrict},
		"isolation was broken": {state.TaskState{Course: nexus.TDDStrict, Attempts: broke}, nexus.TDDLite},
		"no test was written":  {state.TaskState{Course: nexus.TDDStrict, Attempts: []*state.AttemptState{{Category: nexus.GreenfieldNoTests}}}, nexus.TDDLite},
		"tests failed":         {state.TaskState{Course: nexus.TDDStrict, Attempts: []*state.AttemptState{{Category: nexus.TestsFailing}}}, nexus.TDDStrict},
		"of another strategy":  {state.TaskState{Course: nexus.TDDSimple, Attempts: broke}, nexus.TDDSimple},
		"before a new chance":  {state.TaskState{Course: nexus.TDDStrict, Attempts: broke, Mercy: 1}, nexus.TDDStrict},
		"before it was chosen": {state.TaskState{Course: nexus.TDDStrict, Attempts: broke, Turned: 1}, nexus.TDDStrict},
		"after many were lost": {state.TaskState{Course: nexus.TDDStrict, Attempts: broke, Mercy: 5}, nexus.TDDStrict},
	} {
		if got := repair.NextStrategy(&c.task); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestLowerStrategy ends at tests after the work.
func TestLowerStrategy(t *testing.T) {
	for s, want := range map[nexus.WritingStrategy]nexus.WritingStrategy{
		nexus.TDDStrict: nexus.TDDLite, nexus.TDDLite: nexus.TestAfter, nexus.TDDSimple: nexus.TestAfter, nexus.TestAfter: "", nexus.NoTest: "",
	} {
		got, ok := repair.LowerStrategy(s)
		if ok != (want != "") || ok && got != want || !ok && got != s {
			t.Errorf("%s: %s, %v", s, got, ok)
		}
	}
}

// TestWhoMayWriteWhat under each strategy.
func TestWhoMayWriteWhat(t *testing.T) {
	const tests, code = "isolation.tests", "isolation.code"
	for _, c := range []struct {
		role nexus.Role
		file string
		want string // the rule that refuses it
	}{
		{nexus.Tester, "a_test.go", ""},
		{nexus.Tester, "testdata/a.json", ""},
		{nexus.Tester, "a.go", code},
		{nexus.Tester, "pkg/__init__.py", ""},
		{nexus.Tester, "src/mod.rs", ""},
		{nexus.Tester, "src/index.ts", ""},
		{nexus.Tester, "index.mjs", ""},
		{nexus.Tester, "src/index.html", code},
		{nexus.Tester, "src/main.ts", code},
		{nexus.Coder, "a.go", ""},
		{nexus.Coder, "a_test.go", tests},
		{nexus.Editor, "a.go", ""},
		{nexus.Editor, "a_test.go", tests},
		{nexus.Reviewer, "a.go", ""},
		{nexus.Reviewer, "a_test.go", ""},
	} {
		for _, s := range nexus.Strategies() {
			want := c.want
			if s != nexus.TDDStrict {
				want = ""
			}
			var err error
			if rule := repair.FileWriteRule(s, c.role); rule != nil {
				err = rule(c.file)
			}
			if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.file)) {
				t.Errorf("%s: %s, %s: %v", s, c.role, c.file, err)
			}
		}
	}
	for _, s := range nexus.Strategies() {
		if got := repair.MayWriteBeyondRights(s, nexus.Tester); got != s.UsesSeparateSessions() || repair.MayWriteBeyondRights(s, nexus.Coder) {
			t.Errorf("%s: a tester may write more: %v", s, got)
		}
	}
}
