package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// TestToldOfGates says how long each takes, which one cannot run and how one test
// runs alone, and says the same again.
func TestToldOfGates(t *testing.T) {
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	past := map[string]time.Duration{"test": time.Minute}
	s := &AgentSessions{
		Site: &RunEnvironment{Box: box}, Judge: &TreeJudge{Autofix: true, Bases: &BaseCommitJudge{known: map[string]map[string]nexus.GateEvidence{"base": {
			"test": {Gate: "test", State: nexus.Pass, Duration: time.Hour}, "lint": {Gate: "lint", State: nexus.Fail, Duration: time.Second},
			"slow": {Gate: "slow", State: nexus.Timeout, Duration: time.Hour},
		}}}},
		Pace: &GateForecast{Past: func(context.Context) func(string) time.Duration {
			read++
			return func(name string) time.Duration { return past[name] }
		}},
	}
	gates := []gate.QualityGate{
		{Name: "test", Tests: true, Args: []string{"go", "test", "./..."}, Dir: "sub"},
		{Name: "lint", Args: []string{"sh", "-c", "true"}, Fix: []stack.FixCommand{{Args: []string{"sh", "fix", "--", "{files}"}}, {Args: []string{"sh", "fix", "{dirs}"}}}},
		{Name: "slow", Args: []string{"sh"}},
		{Name: "gone", Tests: true, Args: []string{"no-such-program-at-all"}, Lone: stack.SingleTestCommand{Args: []string{"x"}}, Fix: []stack.FixCommand{{Args: []string{"gone"}}}},
		{Name: "other", Tests: true, Args: []string{"sh", "all"}, Lone: stack.SingleTestCommand{Args: []string{"sh", "one", "{file}", "{test}"}}},
		{Name: "other2", Tests: true, Args: []string{"sh", "all"}, Lone: stack.SingleTestCommand{Args: []string{"sh", "one", "{file}", "{test}"}}},
	}
	want := prompt.RoleEnvironment{
		Gates: []prompt.GateDescription{
			{Name: "test", Command: gates[0].Command(), Dir: "sub", Usual: time.Minute},
			{Name: "lint", Command: gates[1].Command(), Usual: time.Second},
			{Name: "slow", Command: gates[2].Command()},
			{Name: "gone", Command: gates[3].Command(), Lacks: "no-such-program-at-all is not installed"},
			{Name: "other", Command: gates[4].Command()},
			{Name: "other2", Command: gates[5].Command()},
		},
		One: []string{"cd sub && go test -run ^NAME$ ./PACKAGE", "sh one FILE NAME"}, Fixers: []string{"sh fix"},
	}
	for range 2 {
		var e prompt.RoleEnvironment
		if err := s.describeGates(t.Context(), &e, gates, t.TempDir(), "base"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(e.One[0], "'") { // a shell's quotes are no matter
			e.One[0] = strings.ReplaceAll(e.One[0], "'", "")
		}
		if diff := cmp.Diff(want, e); diff != "" {
			t.Error(diff)
		}
		past["test"] = 2 * time.Minute // what was said once is said again
		delete(s.Judge.Bases.known, "base")
	}
	if read != 1 {
		t.Errorf("the past was read %d times", read)
	}
	s.Judge.Autofix, s.Pace = false, nil
	var e prompt.RoleEnvironment
	if err := s.describeGates(t.Context(), &e, gates, t.TempDir(), "base"); err != nil || len(e.Fixers) > 0 || e.Gates[0].Usual != 0 || e.Gates[3].Lacks != "" {
		t.Errorf("%+v, %v", e, err)
	}
}

func testRoles(t *testing.T) map[nexus.Role]agent.RoleDefinition {
	t.Helper()
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	return roles
}

// TestDate is the day on which the run began.
func TestDate(t *testing.T) {
	for run, want := range map[nexus.RunID]string{"261104-ab": "2026-11-04", "r": "2026-11-09"} {
		s := &AgentSessions{Site: &RunEnvironment{Run: run, Now: func() time.Time { return time.Date(2026, 11, 9, 23, 0, 0, 0, time.UTC) }}}
		if got := s.runStartDay(); got != want {
			t.Errorf("%s: %s, want %s", run, got, want)
		}
	}
}

// TestTier lets who writes climb with the task, and gives the others their own
// tier, but none below the least.
func TestTier(t *testing.T) {
	for _, c := range []struct {
		role             nexus.Role
		task, own, least nexus.Tier
		want             nexus.Tier
	}{
		{nexus.Coder, nexus.Fast, nexus.Strong, "", nexus.Fast},
		{nexus.Tester, nexus.Balanced, nexus.Fast, nexus.Strong, nexus.Balanced},
		{nexus.Reviewer, nexus.Strong, nexus.Balanced, "", nexus.Balanced},
		{nexus.Reviewer, nexus.Fast, nexus.Balanced, nexus.Strong, nexus.Strong},
		{nexus.Reviewer, nexus.Fast, nexus.Strong, nexus.Balanced, nexus.Strong},
		{nexus.Reviewer, nexus.Fast, "", "", nexus.Fast},
	} {
		role := testRoles(t)[c.role]
		role.Tier = c.own
		if got := (ConversationStretchRequest{Role: c.role, Tier: c.task, Least: c.least}).modelTier(role); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestReaders says once who reads whose work.
func TestReaders(t *testing.T) {
	var said []string
	known := nexus.ReviewModelChosen{Role: nexus.Reviewer, Model: "a/m", Author: "a/known", Why: "so"}
	s := &AgentSessions{
		Readers: &RecordedReviewerPairs{},
		Pick:    func(nexus.Role, nexus.Tier, string) (PricedModel, error) { return PricedModel{Name: "a/own"}, nil },
		PickReader: func(_ nexus.Role, _, _ nexus.Tier, author, failed string) (PricedModel, string, error) {
			if author == "a/none" {
				return PricedModel{}, "", fmt.Errorf("nobody reads %s", author)
			}
			return PricedModel{Name: "a/m" + failed}, "so", nil
		},
	}
	talk := ConversationStretchRequest{Role: nexus.Reviewer, Readers: []nexus.ReviewModelChosen{known}, Record: func(_ context.Context, facts ...nexus.Fact) error {
		for _, f := range facts {
			said = append(said, f.(nexus.ReviewModelChosen).Author+" by "+f.(nexus.ReviewModelChosen).Model)
		}
		return nil
	}}
	for _, author := range []string{"a/x", "a/x", "a/known", "", "a/none"} {
		talk.Author = author
		m, err := s.pickModel(t.Context(), talk, nexus.Fast)
		if want := map[string]string{"": "a/own", "a/none": ""}[author]; (err != nil) != (author == "a/none") || author == "" && m.Name != want {
			t.Errorf("%q: %s, %v", author, m.Name, err)
		}
	}
	talk.Author, talk.Failed = "a/x", "2"
	if m, err := s.pickModel(t.Context(), talk, nexus.Fast); err != nil || m.Name != "a/m2" {
		t.Errorf("%+v, %v", m, err)
	}
	if diff := cmp.Diff([]string{"a/x by a/m", "a/x by a/m2"}, said); diff != "" {
		t.Error(diff)
	}
}
