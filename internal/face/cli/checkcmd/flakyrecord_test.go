package checkcmd

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestDoubt says about a gate that only passed when its tests ran again that it is
// flaky, and names each test.
func TestDoubt(t *testing.T) {
	flaky := nexus.FlakyTestCount{Test: "TestA", Failed: 1, Runs: 3}
	spared := nexus.FlakyTestCount{Test: "TestB", Failed: 1, Runs: 3, Quarantine: "until then"}
	once := nexus.FlakyTestCount{Test: "TestC", Failed: 1, Runs: 1}
	old := nexus.Finding{Test: "TestOld"}
	for _, c := range []struct {
		name  string
		e     nexus.GateEvidence
		base  string
		state nexus.GateState
		tests []string // findings
	}{
		{"passed on a second run", nexus.GateEvidence{State: nexus.Pass, Why: "flaky: TestA", Flaky: []nexus.FlakyTestCount{flaky}}, "", nexus.Flaky, []string{"TestOld", "TestA"}},
		{"against a base", nexus.GateEvidence{State: nexus.Pass, Why: "flaky: TestA", Flaky: []nexus.FlakyTestCount{flaky}}, "main", nexus.Pass, []string{"TestOld"}},
		{"by the tool itself", nexus.GateEvidence{State: nexus.Pass, Why: "1 retried", Flaky: []nexus.FlakyTestCount{flaky}}, "", nexus.Pass, []string{"TestOld"}},
		{"in quarantine", nexus.GateEvidence{State: nexus.Pass, Why: "flaky: TestB", Flaky: []nexus.FlakyTestCount{spared}}, "", nexus.Pass, []string{"TestOld"}},
		{"one of them in quarantine", nexus.GateEvidence{State: nexus.Pass, Why: "flaky: TestB, TestA", Flaky: []nexus.FlakyTestCount{spared, flaky}}, "", nexus.Flaky, []string{"TestOld", "TestA"}},
		{"red for another test", nexus.GateEvidence{State: nexus.Fail, Why: "flaky: TestA", Flaky: []nexus.FlakyTestCount{flaky}}, "", nexus.Fail, []string{"TestOld", "TestA"}},
		{"ran once", nexus.GateEvidence{State: nexus.Pass, Why: "flaky: TestC", Flaky: []nexus.FlakyTestCount{once}}, "", nexus.Pass, []string{"TestOld", "TestC"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			room := make([]nexus.Finding, 1, 4) // of somebody else's
			room[0] = old
			c.e.Gate, c.e.Findings = "test", room
			got := markFlaky(c.e, c.base)
			var tests []string
			for _, f := range got.Findings {
				tests = append(tests, f.Test)
				if f.Test != "TestOld" && (f.Code != parserbase.CodeFlaky || f.Gate != "test" || f.Severity != nexus.Minor) {
					t.Errorf("%+v", f)
				}
			}
			if got.State != c.state || !slices.Equal(tests, c.tests) {
				t.Errorf("%s with %v, want %s with %v", got.State, tests, c.state, c.tests)
			}
			if room[:2][1].Test != "" {
				t.Error("it wrote into findings of somebody else's")
			}
		})
	}
	if f := markFlaky(nexus.GateEvidence{State: nexus.Pass, Why: "flaky: TestA", Flaky: []nexus.FlakyTestCount{flaky}}, "").Findings[0]; f.Message != "failed in 1 of 3 runs on this tree" {
		t.Error(f.Message)
	}
}

// TestWithoutSpared keeps what the base has too: neither what is left after
// weighing, nor what is flaky.
func TestWithoutSpared(t *testing.T) {
	f := nexus.Finding{File: "a.go", Line: 3, Column: 2, Test: "TestA", Code: "x"}
	for name, left := range map[string]nexus.Finding{
		"another file": {File: "b.go", Line: 3, Column: 2, Test: "TestA", Code: "x"}, "another line": {File: "a.go", Line: 4, Column: 2, Test: "TestA", Code: "x"},
		"another column": {File: "a.go", Line: 3, Column: 1, Test: "TestA", Code: "x"}, "another test": {File: "a.go", Line: 3, Column: 2, Test: "TestB", Code: "x"},
		"another code": {File: "a.go", Line: 3, Column: 2, Test: "TestA", Code: "y"},
	} {
		raw := nexus.GateEvidence{Findings: []nexus.Finding{f, left}}
		if got := findingsAlsoOnBase(raw, nexus.GateEvidence{Findings: []nexus.Finding{left}}); len(got) != 1 || got[0].File != "a.go" || cmp.Diff(f, got[0]) != "" {
			t.Errorf("%s: %+v", name, got)
		}
		if len(raw.Findings) != 2 || raw.Findings[1].File != left.File {
			t.Error("it took from the evidence itself")
		}
	}
	worded := f
	worded.Message = "in other words"
	if got := findingsAlsoOnBase(nexus.GateEvidence{Findings: []nexus.Finding{f}}, nexus.GateEvidence{Findings: []nexus.Finding{worded}}); len(got) > 0 {
		t.Errorf("%+v", got)
	}
	if got := findingsAlsoOnBase(nexus.GateEvidence{Findings: []nexus.Finding{f, {File: "a.go", Test: "TestB"}}}, nexus.GateEvidence{Flaky: []nexus.FlakyTestCount{{Test: "TestA"}}}); len(got) != 1 || got[0].Test != "TestB" {
		t.Errorf("%+v", got)
	}
}

// TestReadFlaky reads the record of the base where there is one: a change that
// puts its own test into quarantine is not excused.
func TestReadFlaky(t *testing.T) {
	entry := func(test string) string {
		return "[[test]]\ntest = \"" + test + "\"\nreason = \"the clock\"\nsince = 2026-11-01\nuntil = 2026-11-20\n"
	}
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q")
	gittest.WriteFiles(t, dir, map[string]string{flaky.QuarantineFile: entry("TestBase"), "a_test.go": "package a\n\nfunc TestNow() {}\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "base")
	gittest.WriteFiles(t, dir, map[string]string{flaky.QuarantineFile: entry("TestNow")})
	now := time.Date(2026, 11, 10, 0, 0, 0, 0, time.UTC)
	for base, want := range map[string]string{"": "TestNow", "HEAD": "TestBase"} {
		s, err := readFlaky(t.Context(), dir, base, now)
		if err != nil || s.Broken != nil || len(s.List) != 1 || s.List[0].Test != want || s.Day != flaky.DayOf(now) {
			t.Errorf("base %q: %+v, %v", base, s, err)
		}
	}
	if _, err := readFlaky(t.Context(), dir, "nothing", now); err == nil {
		t.Error("a base that is not there has a record")
	}

	ran := []nexus.GateEvidence{{Gate: "test", State: nexus.Pass, Counts: nexus.TestCounts{Passed: 1}}}
	judge := func(at time.Time, all []nexus.GateEvidence) []nexus.GateEvidence {
		t.Helper()
		s, err := readFlaky(t.Context(), dir, "", at)
		if err != nil {
			t.Fatal(err)
		}
		return s.addRecordNotes(dir, all)
	}
	if got := judge(now, ran); len(got) != 1 {
		t.Errorf("a record that is fine: %+v", got)
	}
	late := judge(now.AddDate(0, 1, 0), ran)
	if len(late) != 2 || late[1].Gate != flaky.QuarantineGate || late[1].State != nexus.Pass || len(late[1].Findings) != 1 || late[1].Findings[0].Test != "TestNow" {
		t.Errorf("one whose time is over: %+v", late)
	}
	gittest.WriteFiles(t, dir, map[string]string{flaky.QuarantineFile: "nonsense"})
	if got := judge(now, []nexus.GateEvidence{{Gate: "lint", State: nexus.Pass}}); len(got) != 1 {
		t.Errorf("no test ran: %+v", got)
	}
	broken := judge(now, ran)
	if len(broken) != 2 || broken[1].State != nexus.Fail || len(broken[1].Findings) != 1 || !strings.HasSuffix(broken[1].Findings[0].Code, ".broken") {
		t.Errorf("a record that cannot be read: %+v", broken)
	}
	if s, err := readFlaky(t.Context(), dir, "", now); err != nil || s.Broken == nil || len(s.List) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
}
