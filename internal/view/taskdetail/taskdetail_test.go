package taskdetail_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/taskdetail"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// tape is one task with tests that come first: two tries, of which the first
// broke isolation, and what was found in each.
func tape() []nexus.Fact {
	finding := nexus.Finding{Gate: "build", File: "b.go", Line: 3, Message: "undefined: x\nsecond line"}
	test := nexus.Task{
		ID: "T1", Title: "Say \x1b[31mhello", Brief: "Greet\neverybody.", Strategy: nexus.TDDStrict,
		Criteria: []nexus.Criterion{{Text: "it greets", Check: "go test ./..."}},
	}
	return []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "hello"}, Base: "b0", Target: "main", Limits: nexus.DefaultLimits()},
		nexus.RunStarted{Process: nexus.RunProcess{PID: 7, Host: "h"}},
		nexus.PlanProposed{Plan: "blob", Tasks: 1},
		nexus.TaskPlanned{Task: test},
		nexus.PlanApproved{By: "policy"},
		nexus.StartTierChosen{Task: "T1", Complexity: nexus.Simple, Tier: nexus.Fast, By: "keyword", Why: "no keyword says otherwise", Strategy: nexus.TDDStrict, Chosen: "the plan says so"},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Tier: nexus.Fast, Strategy: nexus.TDDStrict, Base: "b0"},
		nexus.RoundStarted{Attempt: "T1.1", Round: 1, Role: nexus.Tester, Session: "T1.1/tester.1"},
		nexus.NetworkRequestsRecorded{Session: "T1.1/tester.1", Call: "c1", Hosts: []nexus.RequestedHost{{Host: "example.com", Port: 443, Why: "not on the list", Times: 2}}},
		nexus.NetworkRequestsRecorded{Attempt: "T1.1", Gate: "install", Hosts: []nexus.RequestedHost{{Host: "registry.example", Port: 443, Allowed: true, Rule: "registry.example:443", Times: 1, Up: 500, Down: 20_000}}},
		nexus.RoleIsolationViolated{Attempt: "T1.1", Role: nexus.Tester, Files: []string{"a.go", "b.go"}},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.NoProgress, Category: nexus.IsolationViolation, Why: "the tester changed more than tests"},
		nexus.AttemptStarted{Attempt: "T1.2", Task: "T1", Tier: nexus.Fast, Strategy: nexus.TDDLite, Base: "b0"},
		nexus.RoundStarted{Attempt: "T1.2", Round: 1, Role: nexus.Tester, Session: "T1.2/tester.1"},
		nexus.SessionStarted{Session: "T1.2/tester.1", Attempt: "T1.2", Role: nexus.Tester, Model: "p/small"},
		nexus.TestsRunWithoutWork{Attempt: "T1.2", Tree: "t1", Proof: nexus.ProofRed, Tests: []string{"x.TestA", "x.TestB"}, Beside: []string{"index.ts"}},
		nexus.RoundStarted{Attempt: "T1.2", Round: 2, Role: nexus.Coder, Session: "T1.2/coder.1"},
		nexus.GateJudged{Attempt: "T1.2", Evidence: nexus.GateEvidence{Gate: "build", State: nexus.Fail, Tree: "t2", Duration: time.Second, Command: "go build", Findings: []nexus.Finding{finding}}},
		nexus.VerifierVerdictGiven{Attempt: "T1.2", Tree: "t2", Read: true, Category: nexus.VerifierRejected, Why: "a criterion is not met", Findings: []nexus.Finding{{Message: "not met: it greets"}}},
		nexus.ReviewerVerdictGiven{Attempt: "T1.2", Tree: "t2", Reviewed: true, Approved: true, Summary: "fine"},
	}
}

// TestDrawn compares what people read with golden files. go test
// ./internal/view/taskdetail -update rewrites them.
func TestDrawn(t *testing.T) {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	s := state.NewState("261121-100000-abc")
	for i, f := range tape() {
		e := nexus.Event{Seq: int64(i) + 1, Run: s.Run, At: start.Add(time.Duration(i) * time.Second), Fact: f}
		if err := s.Apply(e); err != nil {
			t.Fatal(err)
		}
	}
	d := taskdetail.NewTaskDetail(s, view.NewRunView(s, nil, start.Add(time.Minute)), s.TaskByID("T1"), "")
	if one := taskdetail.NewTaskDetail(s, view.NewRunView(s, nil, start), s.TaskByID("T1"), "T1.2"); len(d.Attempts) != 2 || len(one.Attempts) != 1 {
		t.Errorf("%d and %d attempts", len(d.Attempts), len(one.Attempts))
	}
	for kind, style := range map[string]view.OutputStyle{"wide": {Width: 100, Height: 40}, "piped": {Plain: true}} {
		text := taskdetail.DrawTaskDetail(style, d)
		compare(t, filepath.Join("testdata", "detail."+kind+".txt"), text)
		if strings.Contains(text, "\x1b") {
			t.Errorf("%s: what people wrote reaches the terminal", kind)
		}
		style.Color = true
		if colored := taskdetail.DrawTaskDetail(style, d); !strings.Contains(colored, "\x1b[") {
			t.Errorf("%s has no colour", kind)
		}
	}
}

func compare(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
