package accept_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestTry tells checks that fail for what is not there yet from those that could
// never show it.
func TestTry(t *testing.T) {
	said := func(s nexus.GateState, exit int, findings ...nexus.Finding) nexus.GateEvidence {
		return nexus.GateEvidence{State: s, Tree: "t", Exit: exit, Findings: findings, Why: map[nexus.GateState]string{nexus.NotRun: "no test ran", nexus.Timeout: "did not end within 2m0s"}[s]}
	}
	text := func(m string) nexus.Finding { return nexus.Finding{Code: "exit", Message: m} }
	failed := func(test string) nexus.Finding { return nexus.Finding{Code: "test", Test: test, Message: "got 1"} }
	silent := said(nexus.Fail, 1, text("exit code 1 without a message"))
	why := func(e nexus.GateEvidence, why string) nexus.GateEvidence { e.Why = why; return e }
	old := []nexus.GateEvidence{said(nexus.Fail, 1, failed("m.TestOld"), failed("m.lengths"))}

	for name, c := range map[string]struct {
		text, check string
		files       string // of the task, beside another
		kind        nexus.TaskKind
		e           nexus.GateEvidence
		wrong       string // part of it; empty: it fits
		form        string
		vain        bool
		red         bool // its command was read out of the goal
	}{
		"a name that sounds wrong":     {check: "grep -q b invalid.txt", e: said(nexus.Fail, 2, text("grep: invalid.txt: No such file or directory"))},
		"it fails, and nobody knows":   {check: "npm test", e: why(said(nexus.Unverifiable, 1), "exit code 1, and nothing in the output says why")},
		"the goal says that it fails":  {check: "go vet ./...", text: "go vet passes", red: true, e: said(nexus.Pass, 0), wrong: "it passes already"},
		"nobody sees the lines":        {check: "go test -json ./... | grep -q pass", e: silent, wrong: "it hides how many tests run", form: "`go test ./...`", vain: true},
		"a name that is not there":     {check: "go test ./...", e: said(nexus.Fail, 1, nexus.Finding{File: "a_test.go", Line: 3, Code: "compile", Message: "undefined: Size"})},
		"an assertion":                 {check: "go test -run TestX .", e: said(nexus.Fail, 1, failed("m.TestX"))},
		"a test to be written":         {check: "go test -run TestX .", e: said(nexus.NotRun, 0)},
		"a word that is not there":     {check: "grep -q b README.md", e: silent},
		"a file that is not there":     {check: "grep -q b docs/a.md", e: said(nexus.Fail, 2, text("grep: docs/a.md: No such file or directory"))},
		"a script to be written":       {check: "./x.sh", e: said(nexus.Environmental, 127, nexus.Finding{File: "x.sh", Code: "environment", Message: "sh: 1: ./x.sh: not found"})},
		"a target to be written":       {check: "make demo", e: said(nexus.Fail, 2, text("make: *** No rule to make target 'demo'. Stop."))},
		"a flag to be written":         {check: "go run . --size", e: said(nexus.Fail, 2, text("flag provided but not defined: -size"))},
		"a module to be written":       {check: "python3 -m units", e: said(nexus.Environmental, 1, nexus.Finding{Code: "missing-tool", Message: "python3: No module named units"})},
		"its output is seen":           {check: "go test -v -run TestX . | grep '^--- PASS: TestX'", e: silent},
		"it is to stay so":             {check: "go vet ./...", text: "go vet passes", e: said(nexus.Pass, 0)},
		"tests of what is there":       {check: "go test -run TestX .", kind: nexus.TestTask, e: said(nexus.Pass, 0)},
		"it was cut off":               {check: "sh a.sh", e: why(said(nexus.Environmental, 137), "it was killed")},
		"what it names is red":         {check: "go test -run TestOld .", e: said(nexus.Fail, 1, failed("m.TestOld"))},
		"only its command names it":    {check: "sh t.sh lengths", e: said(nexus.Fail, 1, failed("m.lengths"))},
		"what the text names is red":   {text: "TestOld passes", check: "go test .", e: said(nexus.Fail, 1, failed("m.TestOld"))},
		"a new one is red beside":      {check: "go test .", e: said(nexus.Fail, 1, failed("m.TestOld"), failed("m.TestX"))},
		"nobody sees how many":         {check: "go test -v -run TestX . | grep -q '^--- PASS: TestX'", e: silent, wrong: "it hides how many tests run", form: "`go test -run '^TestX$' .`", vain: true},
		"nobody sees, and it passes":   {check: "go test ./... >/dev/null", e: said(nexus.Unverifiable, 0), wrong: "it hides how many", form: "`go test ./...`", vain: true},
		"it does not say how many":     {check: "npm test", e: why(said(nexus.Unverifiable, 0), "nothing says how many tests ran"), wrong: "nothing says how many", form: "`npm test`", vain: true},
		"the root, by hiding":          {check: "go test -v -run TestX . | grep -q PASS", files: "parse/x_test.go", e: silent, wrong: "it hides how many", form: "`go test -run '^TestX$' ./parse`", vain: true},
		"the root, not the package":    {check: "go test -run TestX .", files: "parse/x_test.go", e: said(nexus.NotRun, 0), wrong: "those that the task writes are in another", form: "`go test -run '^TestX$' ./parse`"},
		"a package of several":         {check: "go test -run TestX .", files: "parse/x_test.go x_test.go", e: said(nexus.NotRun, 0)},
		"it only lists them":           {check: "go test -list . | grep -q TestX", e: silent, wrong: "it hides how many", form: "`go test -run '^TestName$' ./...`", vain: true},
		"it passes already":            {check: "test -e go.mod", e: said(nexus.Pass, 0), wrong: "it passes already"},
		"a tool that is missing":       {check: "golint ./...", e: why(said(nexus.Environmental, 127, nexus.Finding{Code: "missing-tool", Message: "sh: 1: golint: not found"}), "sh: 1: golint: not found"), wrong: "cannot run here: sh: 1: golint: not found", vain: true},
		"a module that is missing":     {check: "python3 -m pytest x", e: said(nexus.Environmental, 1, nexus.Finding{Code: "missing-tool", Message: "python3: No module named pytest"}), wrong: "cannot run here", vain: true},
		"no network":                   {check: "curl -sf https://x.example", e: said(nexus.Environmental, 6, nexus.Finding{Code: "environment", Message: "curl: (6) Could not resolve host: x.example"}), wrong: "cannot run here", vain: true},
		"no network for Go":            {check: "go run x.example/y@latest", e: said(nexus.Fail, 1, text("go: x.example/y@latest: module lookup disabled by GOPROXY=off")), wrong: "needs the network", vain: true},
		"it does not end":              {check: "sh serve.sh", e: said(nexus.Timeout, -1), wrong: "did not end within", vain: true},
		"a pattern that is wrong":      {check: "grep -q '[' a.txt", e: said(nexus.Fail, 2, text("grep: Unmatched [, [^, [:, [., or [=")), wrong: "the command itself is wrong", vain: true},
		"a test that is wrong":         {check: "test 1 -eq", e: said(nexus.Fail, 2, text("sh: 1: test: Illegal number: x")), wrong: "the command itself is wrong", vain: true},
		"a program that is wrong":      {check: "python3 -c 'x = ('", e: said(nexus.Fail, 1, nexus.Finding{File: "<string>", Message: "SyntaxError: '(' was never closed"}), wrong: "the program in the command is wrong", vain: true},
		"a flag of Go that is not one": {check: "go test -bogus .", e: said(nexus.Fail, 1, text("flag provided but not defined: -bogus")), wrong: "the command itself is wrong", vain: true},
		"it fails by accident":         {check: "go test -run TestX .", e: said(nexus.Flaky, 1, failed("m.TestX")), wrong: "a check must fail each time"},
		"others are red":               {check: "go test .", e: said(nexus.Fail, 1, failed("m.TestOld")), wrong: "it fails because of m.TestOld"},
	} {
		t.Run(name, func(t *testing.T) {
			task := nexus.Task{ID: "T1", Title: "Add sizes", Kind: c.kind, Files: append([]string{"units/size.py"}, strings.Fields(c.files)...), Criteria: []nexus.Criterion{{Text: "it builds", Check: "build"}, {Text: "sizes are told", Check: c.check, Red: c.red}}}
			if c.text != "" {
				task.Criteria[1].Text = c.text
			}
			runs := func(s string) bool { return strings.Contains(s, "go test") || strings.Contains(s, "npm test") }
			r := accept.JudgeTrial(task, 2, c.e, accept.TrialJudgementContext{Tests: runs, Old: old})
			if !strings.Contains(r.Wrong, c.wrong) || (r.Wrong == "") != (c.wrong == "") || r.Vain != c.vain {
				t.Errorf("wrong: %q, vain %v", r.Wrong, r.Vain)
			}
			if !strings.Contains(r.Form, c.form) || (r.Form == "") != (c.form == "") {
				t.Errorf("form: %s, want %s", r.Form, c.form)
			}
			if r.Said == "" || r.Wrong != "" && !strings.HasPrefix(r.String(), "T1/AC-2 `"+c.check+"`: ") {
				t.Errorf("it does not say what happened: %s", r)
			}
		})
	}
}

// TestMark writes what came of trials into a plan, and leaves words where a
// command could never tell.
func TestMark(t *testing.T) {
	was := []nexus.Task{{ID: "T1", Criteria: []nexus.Criterion{{Text: "a", Check: "sh a.sh"}, {Text: "b", Check: "sh b.sh"}, {Text: "c", Check: "build"}, {Text: "d", Check: "sh d.sh"}}}}
	tasks := []nexus.Task{was[0]}
	accept.CommandTrials{
		{Task: "T1", Number: 1, Check: "sh a.sh", Said: "fails", Wrong: "it cannot tell", Vain: true},
		{Task: "T1", Number: 2, Check: "sh b.sh", Said: "fails with exit code 1"},
		{Task: "T1", Number: 4, Check: "sh d.sh", Said: "passes", Wrong: "it passes already"},
	}.MarkTasks(tasks)
	want := []nexus.Criterion{{Text: "a", Tried: "it cannot tell", Unfit: true, Was: "sh a.sh"}, {Text: "b", Check: "sh b.sh", Tried: "fails with exit code 1"}, {Text: "c", Check: "build"}, {Text: "d", Check: "sh d.sh", Tried: "it passes already", Unfit: true}}
	for i, c := range tasks[0].Criteria {
		if c != want[i] {
			t.Errorf("%+v, want %+v", c, want[i])
		}
	}
	if was[0].Criteria[0].Check == "" {
		t.Error("the plan that it came from has changed")
	}
	tried := []accept.CheckTrialResult{
		{Criterion: "T1/AC-1", Check: "sh a.sh", Came: "it cannot tell", Words: true},
		{Criterion: "T1/AC-2", Check: "sh b.sh", Came: "fails with exit code 1", Fits: true},
		{Criterion: "T1/AC-4", Check: "sh d.sh", Came: "it passes already"},
	}
	if got := accept.TriedChecks(tasks); !slices.Equal(got, tried) {
		t.Errorf("%+v, want %+v", got, tried)
	}
}

// TestVain takes only checks back that cannot tell, and only those of commands.
func TestVain(t *testing.T) {
	task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "a", Check: "test"}, {Text: "b", Check: "sh b.sh"}, {Text: "c", Check: "sh c.sh"}, {Text: "d"}}}
	if got := accept.UndecidableCriteria(task, []nexus.GateEvidence{{Gate: "accept: sh c.sh", State: nexus.Unverifiable}}); got != nil {
		t.Errorf("nothing else judged it: %+v", got)
	}
	got := accept.UndecidableCriteria(task, []nexus.GateEvidence{
		{Gate: "build", State: nexus.Pass, Tree: "t"}, {Gate: "test", State: nexus.Unverifiable}, {Gate: "accept: sh c.sh", State: nexus.Unverifiable, Why: "nobody knows"}, {Gate: "accept: sh b.sh", State: nexus.Fail},
	})
	for why, e := range map[string]nexus.GateEvidence{
		"it failed":              {State: nexus.Unverifiable, Exit: 1, Why: "exit code 1, and nothing in the output says why"},
		"the work changes files": {State: nexus.Unverifiable, Findings: []nexus.Finding{{Code: "rewrote", File: "a.go"}}},
	} {
		e.Gate = "accept: sh b.sh"
		if got := accept.UndecidableCriteria(task, []nexus.GateEvidence{{Gate: "build", State: nexus.Pass, Tree: "t"}, e}); got != nil {
			t.Errorf("%s: the check was reverted: %+v", why, got)
		}
	}
	if len(got) != 1 || got[0].Number != 3 || got[0].Criterion != (nexus.Criterion{Text: "c", Was: "sh c.sh", Tried: "nobody knows", Unfit: true}) || got[0].Why == "" {
		t.Errorf("%+v", got)
	}
}
