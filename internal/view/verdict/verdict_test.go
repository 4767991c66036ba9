package verdict_test

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

func red() verdict.TreeVerdict {
	return verdict.CombineGateResults([]nexus.GateEvidence{
		{Gate: "build", State: nexus.Pass, Command: "make"},
		{Gate: "test", State: nexus.Fail, Command: "x", Counts: nexus.TestCounts{Passed: 2, Failed: 1}, Findings: []nexus.Finding{
			{File: "a b/x.go", Line: 3, Column: 5, Code: "test", Test: "x.Test<A>", Message: "want 1\nhave 2 ]]> & \x1b[31mred", Expected: "1", Actual: "2"},
			{File: "y.go", Severity: nexus.Minor, Message: "odd, 100%: yes"},
		}},
		{Gate: "lint", State: nexus.Environmental, Why: "no program"},
	})
}

func TestOf(t *testing.T) {
	of := func(all ...nexus.GateState) nexus.GateState {
		var es []nexus.GateEvidence
		for _, s := range all {
			es = append(es, nexus.GateEvidence{Gate: "g", State: s})
		}
		return verdict.CombineGateResults(es).State
	}
	for _, tt := range []struct {
		all  []nexus.GateState
		want nexus.GateState
	}{
		{nil, nexus.NotRun},
		{[]nexus.GateState{nexus.Pass, nexus.Pass}, nexus.Pass},
		{[]nexus.GateState{nexus.Pass, nexus.NotRun}, nexus.NotRun},
		{[]nexus.GateState{nexus.NotRun, nexus.Environmental, nexus.Unverifiable}, nexus.Environmental},
		{[]nexus.GateState{nexus.Environmental, nexus.Fail, nexus.Timeout}, nexus.Fail},
		{[]nexus.GateState{nexus.Pass, "strange"}, "strange"},
	} {
		if got := of(tt.all...); got != tt.want {
			t.Errorf("%v is %s, want %s", tt.all, got, tt.want)
		}
		if v := verdict.CombineGateResults(nil); v.Passed || v.Gates == nil {
			t.Errorf("%+v", v)
		}
	}
}

func TestShapesAreWellFormed(t *testing.T) {
	v := red()
	text, err := verdict.FormatJUnit(v)
	if err != nil {
		t.Fatal(err)
	}
	var suites struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
	}
	if err := xml.Unmarshal([]byte(text), &suites); err != nil || suites.Tests != 5 || suites.Failures != 1 || suites.Errors != 1 {
		t.Errorf("%+v, %v\n%s", suites, err, text)
	}
	if bare, err := verdict.FormatJUnit(verdict.CombineGateResults([]nexus.GateEvidence{{Gate: "tamper", State: nexus.Pass}})); err != nil || !strings.Contains(bare, `name="tamper" time`) {
		t.Errorf("a gate without a command has no name: %v\n%s", err, bare)
	}
	if text, err = verdict.FormatSARIF(v); err != nil || !json.Valid([]byte(text)) || !strings.Contains(text, `"uri": "a%20b/x.go"`) || !strings.Contains(text, `"level": "warning"`) {
		t.Errorf("%v\n%s", err, text)
	}
	aside := verdict.CombineGateResults([]nexus.GateEvidence{{Gate: "build", State: nexus.Pass}, {Gate: "e2e", State: nexus.NotRun, Why: "no page", Apart: true}}).
		WithInformationalGates(nexus.GateEvidence{Gate: "done: coverage", State: nexus.Unverifiable, Why: "nobody knows"})
	if text = verdict.FormatGitHub(aside); strings.Contains(text, "::error") || strings.Count(text, "::notice") != 2 || !aside.Passed {
		t.Errorf("what decides nothing is an error: %s", text)
	}
	if text, err = verdict.FormatJUnit(aside); err != nil || !strings.Contains(text, `errors="0" skipped="2"`) || !strings.Contains(text, "unverifiable: nobody knows") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err = verdict.FormatSARIF(aside); err != nil || strings.Contains(text, `"executionSuccessful": false`) {
		t.Errorf("%v\n%s", err, text)
	}
	want := "::error file=a b/x.go,line=3,col=5,title=test%3A x.Test<A>::want 1%0Ahave 2"
	if text = verdict.FormatGitHub(v); !strings.HasPrefix(text, want) || !strings.Contains(text, "\n::warning file=y.go,title=test::odd, 100%25: yes\n") || strings.Count(text, "\n") != 3 {
		t.Error(text)
	}
	if text = verdict.FormatSummary(v); !strings.Contains(text, "| test | fail | 2 | 1 | 0 |") || strings.ContainsAny(text, "\x1b") {
		t.Error(text)
	}
	text = verdict.DrawVerdict(view.OutputStyle{Plain: true}, v)
	for _, line := range []string{
		"build: pass\n", "test: fail, 2 passed, 1 failed, 0 skipped\n", "  a b/x.go:3:5: error: x.Test<A>: want 1 [test]\n",
		"      want 1, have 2\n", "  y.go: warning: odd, 100%: yes\n", "fail: test: 2 findings\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in:\n%s", line, text)
		}
	}
}
