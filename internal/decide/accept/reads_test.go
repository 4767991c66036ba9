package accept_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestReadsClauses holds that a command is one that fails only where its own sentence, line or clause says so, and that a
// test is put aside only by the words around its name.
func TestReadsClauses(t *testing.T) {
	run := []string{"go run . --help"}
	for text, want := range map[string]accept.MentionedNames{
		"All of it fails. Add the command `go run . --help`":    {},
		"Add the command `go run . --help`. Nothing else fails": {},
		"All of it fails\nAdd `go run . --help`":                {},
		"All of it fails;add `go run . --help`":                 {},
		"Add `go run . --help`\nAll of it fails":                {},
		"Add `go run . --help`;all of it fails":                 {},
		"It prints more. `go run . --help` fails":               {Commands: run},
		"It prints more\n`go run . --help` fails. So be it":     {Commands: run},
		"It is there. So. `go run . --help` fails\nand more":    {Commands: run},
		"Version 1.2 fails, with `go run . --help`":             {Commands: run},
		"TestA fails, and TestA again, as does TestB":           {Tests: []string{"TestA", "TestB"}},
		"TestRead fails. Do not touch TestRead":                 {Tests: []string{"TestRead"}},
		"Fix the failing tests (except: TestRead)":              {Aside: []string{"TestRead"}, All: true},
		"Fix the failing tests, `except` TestRead":              {Aside: []string{"TestRead"}, All: true},
		"TestA fails. It is not so. TestB fails":                {Tests: []string{"TestA", "TestB"}},
		"It is not so, TestA and TestB fail":                    {Tests: []string{"TestA", "TestB"}},
		"Do it. See TestRead, which is slow. TestA fails":       {Tests: []string{"TestRead", "TestA"}},
		"Look at TestRead: TestRow may be ignored":              {Tests: []string{"TestRead"}, Aside: []string{"TestRow"}},
		"Do not wait\nTestB fails":                              {Tests: []string{"TestB"}},
	} {
		want.Exact = text
		if diff := cmp.Diff(want, accept.ParseMentioned(text), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	var many []string
	for n := range 30 {
		many = append(many, fmt.Sprintf("Test%c", 'A'+n%26)+fmt.Sprint(n))
	}
	if got := accept.ParseMentioned(strings.Join(many, " ")).Tests; !cmp.Equal(got, many[:20]) {
		t.Errorf("of 30 tests: %v", got)
	}
}

// TestCalled holds how a text may call a test of a runner, and how it may not.
func TestCalled(t *testing.T) {
	for test, want := range map[string]bool{
		"TestParse": true, "m.TestParse": true, "a/TestParse": true, "f.py::TestParse": true, "suite > TestParse": true, "it is TestParse": true,
		"TestParse/empty": true, "TestParse::one": true, "TestParse[3]": true, "TestParse one": true,
		"m.TestParse/empty": true, "m.TestParse[3]": true, "m.TestParse one": true,
		"TestParseAll": false, "m.TestParseAll": false, "TestParser/empty": false, "MyTestParse": false, "TestParse.more": false,
	} {
		if got := accept.ParseMentioned("TestParse fails").MatchesFinding(nexus.Finding{Test: test}); got != want {
			t.Errorf("TestParse means %s: %v", test, got)
		}
	}
}

// TestAsks holds that each kind of thing that a text may name can be seen red before the work begins, and that other texts
// ask for nothing of the kind.
func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{
		"TestParse fails": true, "calc/add_test.go:12 is wrong": true, `it prints "index out of range [3]"`: true, "`go run . --help` exits with 2": true,
		"fix the failing tests": true, "Add a --json flag": false, "leave TestRead alone": false,
	} {
		if got := accept.ParseMentions([]string{"Add it", text}).AsksForFailingThing(); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	at := accept.ParseMentions([]string{"calc/add_test.go:12 is wrong"}).ResolvePlaces([]nexus.Finding{{Test: "TestAdd", File: "calc/add_test.go", Line: 12}})
	if !at.AsksForFailingThing() || !cmp.Equal(at[0].At, []string{"TestAdd"}) || len(at[0].Places) != 0 {
		t.Errorf("%+v", at)
	}
}

// TestLabel holds how people call what a gate found.
func TestLabel(t *testing.T) {
	for want, f := range map[string]nexus.Finding{
		"m.TestA":            {Test: "m.TestA", File: "a_test.go", Line: 3, Message: "no"},
		"sub/a.go:3: unused": {File: "./sub//a.go", Line: 3, Message: " unused\nx "},
		"a.go: no syntax":    {File: "a.go", Message: "no syntax"},
		"exit code 1":        {Line: 3, Message: "exit code 1"},
	} {
		if got := accept.FindingLabel(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTriedInWords holds what is said of a command that was tried, in a few words.
func TestTriedInWords(t *testing.T) {
	for want, e := range map[string]nexus.GateEvidence{
		"passes":                            {State: nexus.Pass, Tree: "t"},
		"fails with exit code 3":            {State: nexus.Fail, Exit: 3},
		"fails: a.go:3: undefined: Size":    {State: nexus.Fail, Exit: 1, Findings: []nexus.Finding{{File: "a.go", Line: 3, Message: "undefined: Size\nmore"}}},
		"nothing was found":                 {State: nexus.NotRun, Why: "nothing was found\nmore"},
		nexus.NoTests:                       {State: nexus.NotRun},
		"nobody knows":                      {State: nexus.Unverifiable, Exit: 1, Why: "nobody knows"},
		"unverifiable":                      {State: nexus.Unverifiable, Exit: 1},
		"did not end in time":               {State: nexus.Timeout},
		"was cut off":                       {State: nexus.Environmental, Why: "it was killed"},
		"fails: m.TestB":                    {State: nexus.Fail, Findings: []nexus.Finding{{Test: "m.TestB"}, {Test: "m.TestA"}}},
		"fails: " + strings.Repeat("x", 90): {State: nexus.Fail, Findings: []nexus.Finding{{Message: strings.Repeat("x", 90)}}},
	} {
		task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "sizes are told", Check: "sh x.sh"}}}
		r := accept.JudgeTrial(task, 1, e, accept.TrialJudgementContext{Tests: func(string) bool { return false }, Short: true})
		if r.Said != want {
			t.Errorf("%+v: %q, want %q", e, r.Said, want)
		}
	}
}

// TestTriedForItself holds which failures are those of the command, and which are of what it looks at, though they read alike;
// and that a command which ran no test is told of another package only where it is a go test of the root.
func TestTriedForItself(t *testing.T) {
	failed := func(message string) nexus.GateEvidence {
		return nexus.GateEvidence{State: nexus.Fail, Exit: 1, Tree: "t", Findings: []nexus.Finding{{Message: message}}}
	}
	none := nexus.GateEvidence{State: nexus.NotRun, Tree: "t", Why: "no test ran"}
	for _, c := range []struct {
		check string
		e     nexus.GateEvidence
		wrong string
	}{
		{"python3 a.py", failed("SyntaxError: invalid syntax"), ""},
		{"python3 -c 'x = 1'", failed("NameError: y"), ""},
		{"python3 -c 'x = ('", failed("SyntaxError: never closed"), "the program in the command is wrong: SyntaxError: never closed"},
		{"sizes -v", failed("flag provided but not defined: -v"), ""},
		{"go test ./...", failed("unknown command: sizes"), ""},
		{"go test ./...", failed("go far away"), ""},
		{"go test ./...", failed("got 1, want 2"), ""},
		{"sizes list", failed("unknown command: list"), ""},
		{"go tset ./...", failed("go tset: unknown command"), "the command itself is wrong: go tset: unknown command"},
		{"go test ./-x", failed(`malformed import path "-x"`), `the command itself is wrong: malformed import path "-x"`},
		{"sizes -x", failed(`malformed import path "-x"`), ""},
		{"sh x.sh", failed("Get x: dial tcp: lookup x.example: no such host"), "it needs the network, which checks do not have: Get x: dial tcp: lookup x.example: no such host"},
		{"x", none, ""},
		{"x test .", none, ""},
		{"go vet .", none, ""},
		{"npm test .", none, ""},
		{"go test . ; true", none, ""},
		{"go test ./a", none, ""},
		{"go test .", none, "it runs the tests of one package, but those that the task writes are in another"},
	} {
		task := nexus.Task{ID: "T1", Files: []string{"parse/a.go", "parse/a_test.go"}}
		task.Criteria = []nexus.Criterion{{Text: "sizes are told", Check: c.check}}
		if r := accept.JudgeTrial(task, 1, c.e, accept.TrialJudgementContext{Tests: func(string) bool { return false }}); r.Wrong != c.wrong {
			t.Errorf("%s, %s: %q", c.check, r.Said, r.Wrong)
		}
	}
}

// TestForms holds the form in which a command that hides its tests is to be written.
func TestForms(t *testing.T) {
	for check, want := range map[string]string{
		"go test -v -run=TestX .": "`go test -run='^TestX$' .`", "go test -run 'Test.*' .": "`go test -run 'Test.*' .`", "npm test": "`npm test`, by itself, in a form in which it says how many tests ran",
		"go test -json ./...": "`go test ./...`", "npm test | grep x": "the command that runs the tests by itself, such as `go test -run '^TestName$' ./...`",
	} {
		task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "sizes are told", Check: check}}}
		r := accept.JudgeTrial(task, 1, nexus.GateEvidence{State: nexus.Unverifiable, Why: "nobody counts"}, accept.TrialJudgementContext{Tests: func(string) bool { return false }})
		if r.Form != want || !r.Vain {
			t.Errorf("%s: %s", check, r.Form)
		}
	}
}

// TestTwoPackages leaves a go test of the root alone where the tests of the task are in two packages, or in the root.
func TestTwoPackages(t *testing.T) {
	none := nexus.GateEvidence{State: nexus.NotRun, Tree: "t", Why: "no test ran"}
	for files, wrong := range map[string]bool{"a/a_test.go a/b_test.go": true, "a/a_test.go b/b_test.go": false, "a_test.go": false, "a/a.go": false} {
		task := nexus.Task{ID: "T1", Files: strings.Fields(files), Criteria: []nexus.Criterion{{Text: "sizes are told", Check: "go test ."}}}
		if r := accept.JudgeTrial(task, 1, none, accept.TrialJudgementContext{Tests: func(string) bool { return false }}); (r.Wrong != "") != wrong {
			t.Errorf("%s: %s", files, r.Wrong)
		}
	}
}

// TestTrials holds which of some trials do not fit.
func TestTrials(t *testing.T) {
	all := accept.CommandTrials{{Task: "T1", Number: 1, Said: "fails"}, {Task: "T1", Number: 2, Wrong: "it passes already"}}
	if got := all.WrongTrials(); len(got) != 1 || got[0].Number != 2 || len(all) != 2 {
		t.Errorf("%+v", got)
	}
}

// TestQuiet holds for which commands it is worth to look at the base with the tests of the change.
func TestQuiet(t *testing.T) {
	pass, fail := nexus.GateEvidence{State: nexus.Pass, Tree: "b"}, nexus.GateEvidence{State: nexus.Fail, Tree: "b"}
	for _, c := range []struct {
		text string
		red  bool
		base nexus.GateEvidence
		want bool
	}{
		{"sizes are told", false, pass, true},
		{"it must pass", false, pass, true},
		{"sizes are told", false, fail, false},
		{"sizes are told", true, pass, false},
		{"sizes are told", true, fail, false},
		{"make sh x.sh pass", false, pass, false},
		{"sizes stay the same", false, pass, false},
		{"sizes stay the same", false, fail, false},
	} {
		if got := accept.IsInconclusive(nexus.Criterion{Text: c.text, Check: "sh x.sh", Red: c.red, Kind: kindIn(c.text)}, c.base); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
