package view

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// spent folds two tries at a task, the first of which failed, a review whose
// price nobody told, and a call under way.
func spent(t *testing.T) *state.State {
	t.Helper()
	s := state.NewState("261121-100000-abc")
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	call := func(id, session string, role nexus.Role, tier nexus.Tier, model string) nexus.BudgetReserved {
		return nexus.BudgetReserved{ID: id, Task: "T1", Session: nexus.SessionID(session), Role: role, Tier: tier, Model: model, Money: nexus.Dollar}
	}
	for i, f := range []nexus.Fact{
		nexus.GoalAccepted{Base: "b0", Limits: nexus.DefaultLimits()},
		nexus.RunStarted{},
		nexus.PlanProposed{Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
		nexus.PlanApproved{},
		nexus.AttemptStarted{Attempt: "T1.1", Task: "T1", Tier: nexus.Fast, Base: "b0"},
		nexus.SessionStarted{Session: "T1.1/coder.1", Attempt: "T1.1", Role: nexus.Coder, Model: "p/small\x1b[31m"},
		nexus.PromptSent{Session: "T1.1/coder.1", Why: "brief"},
		call("a", "T1.1/coder.1", nexus.Coder, nexus.Fast, "p/small\x1b[31m"),
		nexus.BudgetSettled{ID: "a", Money: nexus.Dollar / 4, Usage: nexus.Usage{Input: 1000, CacheRead: 3000, Output: 500}},
		nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.Exhausted, Why: "it failed"},
		nexus.AttemptStarted{Attempt: "T1.2", Task: "T1", Tier: nexus.Balanced, Base: "b0"},
		nexus.SessionStarted{Session: "T1.2/reviewer.1", Attempt: "T1.2", Role: nexus.Reviewer, Model: "q/big"},
		call("b", "T1.2/reviewer.1", nexus.Reviewer, nexus.Balanced, "q/big"),
		nexus.BudgetSettled{ID: "b", Money: nexus.Dollar / 2, Usage: nexus.Usage{Input: 2000, Output: 100}, Estimated: true},
		call("c", "T1.2/reviewer.1", nexus.Reviewer, nexus.Balanced, "q/big"),
	} {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), At: at.Add(time.Duration(i) * time.Second), Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestBillDrawn(t *testing.T) {
	b := BillOf(spent(t))
	for kind, style := range map[string]OutputStyle{
		"narrow": {Width: 60}, "wide": {Width: 120}, "ascii": {ASCII: true, Width: 80}, "piped": {Plain: true},
	} {
		got := DrawBill(style, b, budget.CostDimensions()...)
		if strings.Contains(got, "\x1b") {
			t.Errorf("%s lets a control character through", kind)
		}
		for line := range strings.Lines(got) {
			if style.Width > 0 && strings.Contains(line, "  ") && lipgloss.Width(line) > style.Width {
				t.Errorf("%s: too wide: %s", kind, line)
			}
		}
		compare(t, filepath.Join("testdata", "bill", kind+".txt"), got)
	}
	data, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, filepath.Join("testdata", "bill", "bill.json"), string(data)+"\n")
}

// TestAddsUp holds that each way of taking a bill apart gives all of it.
func TestAddsUp(t *testing.T) {
	b := BillOf(spent(t))
	for name, shares := range map[string][]CostShare{
		"task": b.Tasks, "attempt": b.Attempts, "role": b.Roles, "purpose": b.Purposes, "tier": b.Tiers, "model": b.Models, "provider": b.Providers,
	} {
		var money, estimated nexus.Money
		calls := 0
		for _, s := range shares {
			money, estimated, calls = money+s.Money, estimated+s.Estimated, calls+s.Calls
		}
		if money != b.Money.Spent || estimated != b.Estimated || calls != 2 {
			t.Errorf("by %s: %s, %s estimated, %d calls; the bill: %+v", name, money, estimated, calls, b.Money)
		}
	}
	if b.Wasted != nexus.Dollar/4 || b.Cached != 0.5 || b.Money.Reserved != nexus.Dollar {
		t.Errorf("%s wasted, %v cached, %s reserved", b.Wasted, b.Cached, b.Money.Reserved)
	}
}
