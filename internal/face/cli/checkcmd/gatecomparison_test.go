package checkcmd

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestCompareToPast names each thing that a gate says otherwise than a run
// recorded, and nothing that differs from run to run.
func TestCompareToPast(t *testing.T) {
	was := nexus.GateEvidence{
		Gate: "test", Command: "go test ./...", Toolchain: "go1.24; environment A=1", State: nexus.Fail, Counts: nexus.TestCounts{Passed: 3, Failed: 1, Skipped: 2},
		Findings: []nexus.Finding{{File: "a_test.go", Line: 3, Test: "TestA"}, {File: "b.go", Line: 1, Code: "x", Message: "m"}},
	}
	old := map[string]pastRecord{"test": {"r1", was}}
	for _, c := range []struct {
		name   string
		change func(*nexus.GateEvidence)
		want   string // what differs; empty for nothing
	}{
		{"the same", func(*nexus.GateEvidence) {}, ""},
		{"another environment", func(e *nexus.GateEvidence) { e.Toolchain = "go1.24; environment A=2" }, ""},
		{"another order", func(e *nexus.GateEvidence) { e.Findings = []nexus.Finding{e.Findings[1], e.Findings[0]} }, ""},
		{"other words", func(e *nexus.GateEvidence) { e.Findings[1].Message = "n" }, ""},
		{"command", func(e *nexus.GateEvidence) { e.Command = "" }, "command go test ./..., now none"},
		{"toolchain", func(e *nexus.GateEvidence) { e.Toolchain = "go1.25; environment A=1" }, "toolchain go1.24, now go1.25"},
		{"state", func(e *nexus.GateEvidence) { e.State = nexus.Pass }, "state fail, now pass"},
		{"passed", func(e *nexus.GateEvidence) { e.Counts.Passed = 4 }, "counts 3/1/2, now 4/1/2"},
		{"failed", func(e *nexus.GateEvidence) { e.Counts.Failed = 0 }, "counts 3/1/2, now 3/0/2"},
		{"skipped", func(e *nexus.GateEvidence) { e.Counts.Skipped = 3 }, "counts 3/1/2, now 3/1/3"},
		{"one finding less", func(e *nexus.GateEvidence) { e.Findings = e.Findings[:1] }, "findings a_test.go:3 TestA, b.go:1 x, now a_test.go:3 TestA"},
		{"another line", func(e *nexus.GateEvidence) { e.Findings[0].Line = 4 }, "findings a_test.go:3 TestA, b.go:1 x, now a_test.go:4 TestA, b.go:1 x"},
		{"another test", func(e *nexus.GateEvidence) { e.Findings[0].Test = "TestB" }, "findings a_test.go:3 TestA, b.go:1 x, now a_test.go:3 TestB, b.go:1 x"},
	} {
		now := was
		now.Findings = append([]nexus.Finding(nil), was.Findings...)
		c.change(&now)
		got := compareToPast(old, now)
		if !got.Recorded || got.Run != "r1" || got.Same != (c.want == "") || strings.Join(got.Differs, "|") != c.want {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
		if text := got.String(); c.want == "" && text != "test: the same as run r1 recorded" || c.want != "" && text != "test: not as run r1 recorded: "+c.want {
			t.Errorf("%s: %s", c.name, text)
		}
	}
	if got := compareToPast(old, nexus.GateEvidence{Gate: "lint"}); got.Recorded || got.Same || got.Run != "" || !strings.Contains(got.String(), "no run recorded") {
		t.Errorf("%+v", got)
	}
}
