package budget_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestZeroLedgerBuysNothing(t *testing.T) {
	var l budget.MoneyLedger
	if _, refused := l.Check(nexus.BudgetReserved{Money: 1}); !refused {
		t.Error("a zero ledger lent a billionth of a dollar")
	}
}

func TestNamesTheCap(t *testing.T) {
	for _, c := range []struct {
		limits nexus.Limits
		others nexus.Money
		want   string
	}{
		{nexus.Limits{RunMoney: 10}, 0, "run"},
		{nexus.Limits{RunMoney: 100, TaskMoney: 10}, 0, "task"},
		{nexus.Limits{RunMoney: 100, DayMoney: 50}, 45, "day"},
	} {
		var l budget.MoneyLedger
		l.SetCaps(c.limits, c.others)
		l.Reserve(nexus.BudgetReserved{ID: "a", Task: "T1", Money: 4})
		l.SettleCall(nexus.BudgetSettled{ID: "a", Money: 3})
		got, refused := l.Check(nexus.BudgetReserved{ID: "b", Task: "T1", Money: 8})
		if !refused || got.Cap != c.want {
			t.Errorf("cap %q refused %v, want %q", got.Cap, refused, c.want)
		}
	}
}

// TestNeverOverspends lets calls reserve, settle and get lost in any order.
// What they cost never passes the cap, and settling twice counts once.
func TestNeverOverspends(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := nexus.Limits{RunMoney: nexus.Money(rapid.IntRange(0, 1000).Draw(t, "run"))}
		var l budget.MoneyLedger
		l.SetCaps(limits, 0)
		var ids []string
		var paid nexus.Money
		for i := range rapid.IntRange(0, 60).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "reserve") || len(ids) == 0 {
				r := nexus.BudgetReserved{ID: fmt.Sprint(i), Money: nexus.Money(rapid.IntRange(0, 200).Draw(t, "worst"))}
				if _, refused := l.Check(r); !refused {
					l.Reserve(r)
					ids = append(ids, r.ID)
				}
				continue
			}
			id := rapid.SampledFrom(ids).Draw(t, "id")
			if r, ok := l.ReservationByID(id); ok {
				cost := nexus.Money(rapid.Int64Range(0, int64(r.Money)).Draw(t, "cost"))
				paid += cost
				l.SettleCall(nexus.BudgetSettled{ID: id, Money: cost})
			}
			if _, again := l.SettleCall(nexus.BudgetSettled{ID: id, Money: 1}); again {
				t.Fatalf("%s settled twice", id)
			}
			if l.SpentMoney() != paid || l.SpentMoney()+l.ReservedMoney() > limits.RunMoney || l.ReservedMoney() < 0 {
				t.Fatalf("spent %d reserved %d of %d, paid %d", l.SpentMoney(), l.ReservedMoney(), limits.RunMoney, paid)
			}
		}
	})
}

func TestPressure(t *testing.T) {
	for spent, want := range map[nexus.Money]int{0: 0, 49: 0, 50: 50, 76: 75, 90: 90, 100: 100, 130: 100} {
		var l budget.MoneyLedger
		l.SetCaps(nexus.Limits{RunMoney: 100}, 0)
		l.Reserve(nexus.BudgetReserved{ID: "a", Money: spent})
		l.SettleCall(nexus.BudgetSettled{ID: "a", Money: spent})
		if got := l.SpendingPressure(); got != want {
			t.Errorf("spent %d of 100: pressure %d, want %d", spent, got, want)
		}
	}
}

// TestPressureWithoutMoney: whoever may spend nothing and did is at the end.
func TestPressureWithoutMoney(t *testing.T) {
	var l budget.MoneyLedger
	if got := l.SpendingPressure(); got != 0 {
		t.Errorf("nothing is spent of nothing: pressure %d", got)
	}
	l.Reserve(nexus.BudgetReserved{ID: "a", Money: 1})
	l.SettleCall(nexus.BudgetSettled{ID: "a", Money: 1})
	if got := l.SpendingPressure(); got != 100 {
		t.Errorf("something is spent of nothing: pressure %d", got)
	}
}

// TestPressureOfTheDay counts what other runs spent on the day.
func TestPressureOfTheDay(t *testing.T) {
	var l budget.MoneyLedger
	l.SetCaps(nexus.Limits{RunMoney: 1000, DayMoney: 100}, 45)
	l.Reserve(nexus.BudgetReserved{ID: "a", Money: 30})
	l.SettleCall(nexus.BudgetSettled{ID: "a", Money: 30})
	if got := l.SpendingPressure(); got != 75 {
		t.Errorf("75 of the day's 100 are spent: pressure %d", got)
	}
}

// TestSpares holds how much stays free for calls in flight that cost more than
// they may: half of what is set aside, but for the smallest of them, of each cap.
func TestSpares(t *testing.T) {
	big := nexus.BudgetReserved{ID: "a", Task: "T1", Role: nexus.Coder, Model: "one/x", Money: 40}
	small := nexus.BudgetReserved{ID: "b", Task: "T2", Role: nexus.Reviewer, Model: "two/x", Money: 4}
	for name, c := range map[string]struct {
		limits  nexus.Limits
		asked   nexus.Money
		refused string
	}{ // of the run, 54 are set aside, so 27 stay free but for 4
		"fits the run":           {nexus.Limits{RunMoney: 77}, 10, ""},
		"does not":               {nexus.Limits{RunMoney: 76}, 10, "run"},
		"is itself the smallest": {nexus.Limits{RunMoney: 67}, 2, ""},                   // 46 are, 23 but for 2
		"fits the task":          {nexus.Limits{RunMoney: 1000, TaskMoney: 65}, 10, ""}, // 50 are, 25 but for 10
		"nor that":               {nexus.Limits{RunMoney: 1000, TaskMoney: 64}, 10, "task"},
		"fits the role":          {nexus.Limits{RunMoney: 1000, RoleMoney: map[nexus.Role]nexus.Money{nexus.Coder: 65}}, 10, ""},
		"nor the role":           {nexus.Limits{RunMoney: 1000, RoleMoney: map[nexus.Role]nexus.Money{nexus.Coder: 64}}, 10, "role"},
		"fits the provider":      {nexus.Limits{RunMoney: 1000, ProviderMoney: map[string]nexus.Money{"one": 65}}, 10, ""},
		"nor the provider":       {nexus.Limits{RunMoney: 1000, ProviderMoney: map[string]nexus.Money{"one": 64}}, 10, "provider"},
		"fits the day":           {nexus.Limits{RunMoney: 1000, DayMoney: 77}, 10, ""},
		"nor the day":            {nexus.Limits{RunMoney: 1000, DayMoney: 76}, 10, "day"},
		// asked for 60, 100 are set aside of each but the run, so 50 stay free but for the 40 in flight
		"larger than the task's":      {nexus.Limits{RunMoney: 1000, TaskMoney: 110}, 60, ""},
		"too large for the task":      {nexus.Limits{RunMoney: 1000, TaskMoney: 109}, 60, "task"},
		"larger than the role's":      {nexus.Limits{RunMoney: 1000, RoleMoney: map[nexus.Role]nexus.Money{nexus.Coder: 110}}, 60, ""},
		"too large for the role":      {nexus.Limits{RunMoney: 1000, RoleMoney: map[nexus.Role]nexus.Money{nexus.Coder: 109}}, 60, "role"},
		"larger than the provider's":  {nexus.Limits{RunMoney: 1000, ProviderMoney: map[string]nexus.Money{"one": 110}}, 60, ""},
		"too large for the provider":  {nexus.Limits{RunMoney: 1000, ProviderMoney: map[string]nexus.Money{"one": 109}}, 60, "provider"},
		"another provider's are none": {nexus.Limits{RunMoney: 1000, ProviderMoney: map[string]nexus.Money{"on": 1, "two": 1}}, 60, ""},
	} {
		var l budget.MoneyLedger
		l.SetCaps(c.limits, 0)
		l.Reserve(big)
		l.Reserve(small)
		got, refused := l.Check(nexus.BudgetReserved{ID: "c", Task: "T1", Role: nexus.Coder, Model: "one/x", Money: c.asked})
		if refused != (c.refused != "") || got.Cap != c.refused {
			t.Errorf("%s: %+v, %v", name, got, refused)
		}
	}
	var l budget.MoneyLedger
	l.SetCaps(nexus.Limits{RunMoney: 1000}, 0)
	l.Reserve(big)
	l.Reserve(small)
	if own, grace := l.DayBudgetClaim(nexus.BudgetReserved{ID: "c", Task: "T1", Money: 10}); own != 81 || grace != 4 {
		t.Errorf("claims %d, with a grace of %d", own, grace)
	}
}

// TestRefusals says all about a cap that refuses, and what fits exactly.
func TestRefusals(t *testing.T) {
	limits := nexus.Limits{
		RunMoney: 100, TaskMoney: 50, RoleMoney: map[nexus.Role]nexus.Money{nexus.Coder: 40, nexus.Tester: 0}, ProviderMoney: map[string]nexus.Money{"one": 30}, RunTokens: 20,
	}
	for name, c := range map[string]struct {
		ask  nexus.BudgetReserved
		want nexus.BudgetRefused
	}{
		"less than nothing": {nexus.BudgetReserved{Money: -1}, nexus.BudgetRefused{Cap: "run", Limit: 100, Spent: 3, Asked: -1}},
		"the run":           {nexus.BudgetReserved{Money: 98}, nexus.BudgetRefused{Cap: "run", Limit: 100, Spent: 3, Asked: 98}},
		"fits the run":      {nexus.BudgetReserved{Money: 97}, nexus.BudgetRefused{}},
		"the task":          {nexus.BudgetReserved{Task: "T1", Money: 48}, nexus.BudgetRefused{Task: "T1", Cap: "task", Limit: 50, Spent: 3, Asked: 48}},
		"fits the task":     {nexus.BudgetReserved{Task: "T1", Money: 47}, nexus.BudgetRefused{}},
		"the role":          {nexus.BudgetReserved{Role: nexus.Coder, Money: 38}, nexus.BudgetRefused{Cap: "role", Of: "coder", Limit: 40, Spent: 3, Asked: 38}},
		"fits the role":     {nexus.BudgetReserved{Role: nexus.Coder, Money: 37}, nexus.BudgetRefused{}},
		"a role of no cap":  {nexus.BudgetReserved{Role: nexus.Tester, Money: 97}, nexus.BudgetRefused{}},
		"the provider":      {nexus.BudgetReserved{Model: "one/y", Money: 28}, nexus.BudgetRefused{Cap: "provider", Of: "one", Limit: 30, Spent: 3, Asked: 28}},
		"fits the provider": {nexus.BudgetReserved{Model: "one", Money: 27}, nexus.BudgetRefused{}},
		"tokens":            {nexus.BudgetReserved{Tokens: 18}, nexus.BudgetRefused{Cap: "tokens", Tokens: &nexus.TokenLimit{Limit: 20, Spent: 3, Asked: 18}}},
		"fits the tokens":   {nexus.BudgetReserved{Tokens: 17}, nexus.BudgetRefused{}},
	} {
		var l budget.MoneyLedger
		l.SetCaps(limits, 0)
		l.Reserve(nexus.BudgetReserved{ID: "a", Task: "T1", Role: nexus.Coder, Model: "one/x", Money: 9, Tokens: 9})
		if r, ok := l.SettleCall(nexus.BudgetSettled{ID: "a", Money: 3, Usage: nexus.Usage{Input: 3}}); !ok || r.Money != 9 {
			t.Errorf("settled %+v, %v", r, ok)
		}
		got, refused := l.Check(c.ask)
		if diff := cmp.Diff(c.want, got); diff != "" || refused != (c.want.Cap != "") {
			t.Errorf("%s: refused %v: %s", name, refused, diff)
		}
	}
}

// TestWaitingMayHelp tells a call that has to wait for those in flight from one
// that no waiting helps.
func TestWaitingMayHelp(t *testing.T) {
	var l budget.MoneyLedger
	l.SetCaps(nexus.Limits{RunMoney: 50}, 0)
	for id, role := range map[string]nexus.Role{"b": nexus.Coder, "a": nexus.Coder, "c": nexus.Reviewer} {
		l.Reserve(nexus.BudgetReserved{ID: id, Role: role, Money: 10})
	}
	l.SettleCall(nexus.BudgetSettled{ID: "c", Money: 4})
	for asked, want := range map[nexus.Money][2]bool{17: {false, false}, 18: {true, false}, 46: {true, false}, 47: {true, true}} {
		r := nexus.BudgetReserved{ID: "d", Money: asked}
		_, now := l.Check(r)
		refused, ever := l.CheckSettled(r)
		if got := [2]bool{now, ever}; got != want || ever && refused.Spent != 4 {
			t.Errorf("%d: refused now and for ever %v, want %v: %+v", asked, got, want, refused)
		}
	}
	if l.CallsInFlight(nexus.Coder) != 2 || l.CallsInFlight(nexus.Reviewer) != 0 || !slices.Equal(l.UnsettledIDs(), []string{"a", "b"}) {
		t.Errorf("in flight are %d and %d: %v", l.CallsInFlight(nexus.Coder), l.CallsInFlight(nexus.Reviewer), l.UnsettledIDs())
	}
}

// TestTheDayTurns counts what was spent today against today's cap: a run that
// goes on past midnight begins anew, one that only hears of others does not.
func TestTheDayTurns(t *testing.T) {
	var l budget.MoneyLedger
	l.SetCaps(nexus.Limits{RunMoney: 1000, DayMoney: 100}, 0)
	l.Reserve(nexus.BudgetReserved{ID: "a", Money: 60})
	l.SettleCall(nexus.BudgetSettled{ID: "a", Money: 60})
	for _, c := range []struct {
		day    string
		others nexus.Money
		own    nexus.Money
	}{{"2026-11-01", 10, 60}, {"2026-11-01", 20, 60}, {"2026-11-02", 0, 0}, {"2026-11-02", 5, 0}} {
		l.SetOthersSpent(nexus.OtherRunsSpendingRecorded{Day: c.day, Others: c.others})
		left := 100 - c.own - c.others
		_, fits := l.Check(nexus.BudgetReserved{Money: left})
		_, over := l.Check(nexus.BudgetReserved{Money: left + 1})
		own, grace := l.DayBudgetClaim(nexus.BudgetReserved{})
		day, others := l.OthersSpent()
		if fits || !over || own != c.own || grace != 0 || day != c.day || others != c.others {
			t.Errorf("%+v: refused %v and %v, own %d, grace %d, others %d on %s", c, fits, over, own, grace, others, day)
		}
	}
}

// TestTokensOfCallsThatReserveSome counts what calls used only where they set
// tokens aside: a call of another limit uses none of the run's.
func TestTokensOfCallsThatReserveSome(t *testing.T) {
	var l budget.MoneyLedger
	l.SetCaps(nexus.Limits{RunMoney: 1000, RunTokens: 100}, 0)
	l.Reserve(nexus.BudgetReserved{ID: "a", Money: 1})
	l.SettleCall(nexus.BudgetSettled{ID: "a", Money: 1, Usage: nexus.Usage{Input: 90}})
	l.Reserve(nexus.BudgetReserved{ID: "b", Money: 1, Tokens: 50})
	l.SettleCall(nexus.BudgetSettled{ID: "b", Money: 1, Usage: nexus.Usage{Input: 30}})
	for asked, want := range map[int64]bool{70: false, 71: true} {
		if got, refused := l.Check(nexus.BudgetReserved{ID: "c", Money: 1, Tokens: asked}); refused != want {
			t.Errorf("%d tokens of the 70 that are left: refused %v, %+v", asked, refused, got)
		}
	}
	l.Reserve(nexus.BudgetReserved{ID: "d", Money: 1})
	l.Reserve(nexus.BudgetReserved{ID: "e", Money: 1, Tokens: 30})
	for asked, want := range map[int64]bool{20: false, 37: false, 38: true} { // half stays free but for the smallest that sets tokens aside
		if got, refused := l.Check(nexus.BudgetReserved{ID: "c", Money: 1, Tokens: asked}); refused != want {
			t.Errorf("%d tokens of the 40 that are left: refused %v, %+v", asked, refused, got)
		}
	}
}

// TestSpending takes what calls cost apart.
func TestSpending(t *testing.T) {
	var p budget.RunCostBreakdown
	task, none := budget.CostBreakdownKey{Way: budget.ByTask, Name: "T1"}, budget.CostBreakdownKey{Way: budget.ByRole}
	p.Add(nexus.BudgetSettled{Money: 5, Usage: nexus.Usage{Input: 2}}, task, none)
	p.Add(nexus.BudgetSettled{Money: 7, Usage: nexus.Usage{Output: 3}, Estimated: true}, task)
	want := budget.RunCostBreakdown{
		By: map[budget.CostBreakdownKey]budget.CostTotal{
			task:                               {Calls: 2, Money: 12, Estimated: 7, Usage: nexus.Usage{Input: 2, Output: 3}},
			{Way: budget.ByRole, Name: "none"}: {Calls: 1, Money: 5, Usage: nexus.Usage{Input: 2}},
		},
		Estimated: 7,
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	if data, err := json.Marshal(map[budget.CostBreakdownKey]int{task: 1}); err != nil || string(data) != `{"task T1":1}` {
		t.Errorf("%s, %v", data, err)
	}
	if got := fmt.Sprint(budget.CostDimensions()); got != "[task attempt session role purpose tier model provider]" {
		t.Error(got)
	}
}
