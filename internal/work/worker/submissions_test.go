package worker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// agentLoginSync returns a judge with a store, what puts a text into that, and a tree.
func agentLoginSync(t *testing.T) (*worker.TreeJudge, func(string) string, worker.TreeJudgeRequest) {
	t.Helper()
	s, base, _ := workertest.NewTestWorker(t)
	c, _ := change(t, s, "T1.1", base)
	return s.Judge, func(text string) string {
		hash, err := s.Site.Blobs.Put([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}, c
}

// TestOpinion is a review only of a reviewer that finished, and said something
// that can be read.
func TestOpinion(t *testing.T) {
	j, put, on := agentLoginSync(t)
	good := put(`{"approved": true, "summary": "fine"}`)
	for name, c := range map[string]struct {
		of       state.AgentSessionState
		reviewed bool
		says     string
		err      bool
	}{
		"finished":                 {state.AgentSessionState{Outcome: nexus.Accepted, Result: good}, true, "fine", false},
		"finished without a word":  {state.AgentSessionState{Outcome: nexus.Accepted}, false, "did not finish: accepted", false},
		"said what is no review":   {state.AgentSessionState{Outcome: nexus.Accepted, Result: put("nonsense")}, false, "could not be read", false},
		"exhausted, with a result": {state.AgentSessionState{Outcome: nexus.Exhausted, Result: good, Why: "20 turns"}, false, "did not finish: 20 turns", false},
		"its words are lost":       {state.AgentSessionState{Outcome: nexus.Accepted, Result: strings.Repeat("0", 64)}, false, "", true},
	} {
		got, err := j.ReviewResult(t.Context(), on.Tree, on.Base, &c.of)
		if got.Reviewed != c.reviewed || got.Approved != c.reviewed || !strings.Contains(got.Summary, c.says) || (err != nil) != c.err {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	_, err := j.ReviewResult(t.Context(), on.Tree, on.Base, &state.AgentSessionState{Outcome: nexus.Refused, Why: "3 dollars are spent"})
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeBudget}) || !strings.Contains(err.Error(), "3 dollars") {
		t.Error(err)
	}
}

func TestSubmission(t *testing.T) {
	j, put, _ := agentLoginSync(t)
	for name, of := range map[string]*state.AgentSessionState{"nobody": nil, "who did not submit": {}} {
		if got, err := j.ReadSubmission(of); err != nil || got.CommitMessage() != "" {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := j.ReadSubmission(&state.AgentSessionState{Result: put(`{"summary": "Done.", "status": "done"}`)}); err != nil || got.CommitMessage() != "Done." {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := j.ReadSubmission(&state.AgentSessionState{Result: strings.Repeat("0", 64)}); err == nil {
		t.Error("what is lost was read")
	}
}

// TestMiss names the tests that a gate did not run to a pass, where it says at
// all how each ended.
func TestMiss(t *testing.T) {
	j, put, _ := agentLoginSync(t)
	named := put("pass\tTestA\nfail\tTestB\nskip\tTestC\n")
	all := []nexus.GateEvidence{{Gate: "test", Named: named}, {Gate: "lint"}, {Gate: "lost", Named: strings.Repeat("0", 64)}, {Gate: "empty", Named: put("\n")}}
	j.MarkMissingTests(all, []string{"TestA", "TestB", "TestC", "TestD"})
	if diff := cmp.Diff([]string{"TestB", "TestC", "TestD"}, all[0].Missing); diff != "" {
		t.Error(diff)
	}
	for _, e := range all[1:] {
		if len(e.Missing) > 0 {
			t.Errorf("%+v", e)
		}
	}
	if got := j.TestOutcomes(all[0]); len(got) != 3 || got["TestA"] != "pass" || got["TestB"] != "fail" {
		t.Errorf("%v", got)
	}
}
