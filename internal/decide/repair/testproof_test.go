package repair_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func fail(findings ...nexus.Finding) []nexus.GateEvidence {
	return []nexus.GateEvidence{{Gate: "test", State: nexus.Fail, Findings: findings, Counts: nexus.TestCounts{Passed: 1, Failed: 1}}}
}

func outcome(s nexus.GateState, passed int) []nexus.GateEvidence {
	return []nexus.GateEvidence{{Gate: "test", State: s, Counts: nexus.TestCounts{Passed: passed}, Why: "so"}}
}

func TestJudge(t *testing.T) {
	files := []string{"a_test.go"}
	compile := func(file, message string) nexus.Finding {
		return nexus.Finding{File: file, Line: 3, Code: "compile", Message: message}
	}
	failed := nexus.Finding{Test: "x.TestA", File: "a_test.go", Line: 4, Message: "got 1, want 2"}
	for name, c := range map[string]struct {
		files       []string
		before, now []nexus.GateEvidence
		want        nexus.TestProofResult
		tests       string
	}{
		"an assertion":                     {files: files, now: fail(failed), want: nexus.ProofRed, tests: "x.TestA"},
		"a panic in the code":              {files: files, now: fail(nexus.Finding{Test: "x.TestA", File: "a.go", Message: "panic: not yet"}), want: nexus.ProofRed, tests: "x.TestA"},
		"no place":                         {files: files, now: fail(nexus.Finding{Test: "x.TestA", Message: "no"}), want: nexus.ProofRed, tests: "x.TestA"},
		"no more than an exit code":        {files: files, now: fail(), want: nexus.ProofRed},
		"go: a missing name":               {files: files, now: fail(compile("a_test.go", "undefined: Add")), want: nexus.ProofRed, tests: "a_test.go"},
		"go: another signature":            {files: files, now: fail(compile("a_test.go", "not enough arguments in call to Add")), want: nexus.ProofRed, tests: "a_test.go"},
		"go: a syntax error":               {files: files, now: fail(compile("a_test.go", "expected ')', found 'EOF'")), want: nexus.ProofBroken},
		"go: another syntax error":         {files: files, now: fail(compile("a_test.go", "missing ',' in parameter list")), want: nexus.ProofBroken},
		"go: no such method":               {files: files, now: fail(compile("a_test.go", "x.Close undefined (type T has no field or method Close)")), want: nexus.ProofRed, tests: "a_test.go"},
		"go: no such package":              {files: files, now: fail(compile("a_test.go", "package x/add is not in std")), want: nexus.ProofRed, tests: "a_test.go"},
		"go: an unused variable":           {files: files, now: fail(compile("a_test.go", "declared and not used: x")), want: nexus.ProofBroken},
		"go: code that does not compile":   {files: files, now: fail(compile("a.go", "undefined: y")), want: nexus.ProofBroken},
		"python: a missing name":           {files: []string{"test_a.py"}, now: fail(nexus.Finding{File: "test_a.py", Message: "ImportError: cannot import name 'add' from 'a'"}), want: nexus.ProofRed, tests: "test_a.py"},
		"python: a syntax error":           {files: []string{"test_a.py"}, now: fail(nexus.Finding{File: "test_a.py", Message: "SyntaxError: '(' was never closed"}), want: nexus.ProofBroken},
		"python: a fixture that is not":    {files: []string{"test_a.py"}, now: fail(nexus.Finding{File: "test_a.py", Test: "test_a.py::test_x", Message: "fixture 'db' not found"}), want: nexus.ProofBroken},
		"node: a name not exported yet":    {files: []string{"a.test.mjs"}, now: fail(nexus.Finding{File: "a.test.mjs", Message: "SyntaxError: The requested module './a.mjs' does not provide an export named 'add'"}), want: nexus.ProofRed, tests: "a.test.mjs"},
		"node: a syntax error":             {files: []string{"a.test.mjs"}, now: fail(nexus.Finding{File: "a.test.mjs", Message: "SyntaxError: Unexpected token '}'"}), want: nexus.ProofBroken},
		"typescript: a missing name":       {files: []string{"a.test.ts"}, now: fail(nexus.Finding{File: "a.test.ts", Code: "TS2305", Message: "Module './a' has no exported member 'add'."}), want: nexus.ProofRed, tests: "a.test.ts"},
		"typescript: a syntax error":       {files: []string{"a.test.ts"}, now: fail(nexus.Finding{File: "a.test.ts", Code: "TS1005", Message: "')' expected."}), want: nexus.ProofBroken},
		"rust: a missing name":             {files: []string{"tests/a.rs"}, now: fail(nexus.Finding{File: "tests/a.rs", Code: "E0425", Message: "cannot find function `add` in this scope"}), want: nexus.ProofRed, tests: "tests/a.rs"},
		"rust: a syntax error":             {files: []string{"tests/a.rs"}, now: fail(nexus.Finding{File: "tests/a.rs", Message: "this file contains an unclosed delimiter"}), want: nexus.ProofBroken},
		"one broken spoils the rest":       {files: files, now: fail(failed, compile("a_test.go", "imported and not used: \"os\"")), want: nexus.ProofBroken},
		"red before":                       {files: files, before: fail(failed), now: fail(failed), want: nexus.ProofGreen},
		"red before, and one more":         {files: files, before: fail(failed), now: fail(failed, nexus.Finding{Test: "x.TestB", Message: "no"}), want: nexus.ProofRed, tests: "x.TestB"},
		"they pass":                        {files: files, now: outcome(nexus.Pass, 3), want: nexus.ProofGreen},
		"none written":                     {now: outcome(nexus.Pass, 3), want: nexus.ProofNone},
		"none written, and red":            {now: fail(failed), want: nexus.ProofNone},
		"none ran":                         {files: files, now: outcome(nexus.NotRun, 0), want: nexus.ProofBroken},
		"no gate":                          {files: files, want: nexus.ProofBroken},
		"they hang":                        {files: files, now: outcome(nexus.Timeout, 0), want: nexus.ProofBroken},
		"no tool":                          {files: files, now: outcome(nexus.Environmental, 0), want: nexus.ProofUnsure},
		"nobody understands what was said": {files: files, now: outcome(nexus.Unverifiable, 0), want: nexus.ProofUnsure},
	} {
		t.Run(name, func(t *testing.T) {
			p := repair.ProveTests(c.files, c.before, c.now)
			if p.Proof != c.want || strings.Join(p.Tests, " ") != c.tests {
				t.Errorf("%s %v (%s), want %s %s", p.Proof, p.Tests, p.Why, c.want, c.tests)
			}
			if p.Proof != nexus.ProofRed && p.Why == "" {
				t.Error("it does not say why")
			}
		})
	}
}
