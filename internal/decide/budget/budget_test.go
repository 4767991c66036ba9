package budget_test

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestZeroLedgerBuysNothing(t *testing.T) {
	var l budget.Ledger
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
		var l budget.Ledger
		l.Cap(c.limits, c.others)
		l.Reserve(nexus.BudgetReserved{ID: "a", Task: "T1", Money: 4})
		l.Settle(nexus.BudgetSpent{ID: "a", Money: 3})
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
		var l budget.Ledger
		l.Cap(limits, 0)
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
			if r, ok := l.Open(id); ok {
				cost := nexus.Money(rapid.Int64Range(0, int64(r.Money)).Draw(t, "cost"))
				paid += cost
				l.Settle(nexus.BudgetSpent{ID: id, Money: cost})
			}
			if _, again := l.Settle(nexus.BudgetSpent{ID: id, Money: 1}); again {
				t.Fatalf("%s settled twice", id)
			}
			if l.Spent() != paid || l.Spent()+l.Reserved() > limits.RunMoney || l.Reserved() < 0 {
				t.Fatalf("spent %d reserved %d of %d, paid %d", l.Spent(), l.Reserved(), limits.RunMoney, paid)
			}
		}
	})
}

func TestPressure(t *testing.T) {
	for spent, want := range map[nexus.Money]int{0: 0, 49: 0, 50: 50, 76: 75, 90: 90, 100: 100, 130: 100} {
		var l budget.Ledger
		l.Cap(nexus.Limits{RunMoney: 100}, 0)
		l.Reserve(nexus.BudgetReserved{ID: "a", Money: spent})
		l.Settle(nexus.BudgetSpent{ID: "a", Money: spent})
		if got := l.Pressure(); got != want {
			t.Errorf("spent %d of 100: pressure %d, want %d", spent, got, want)
		}
	}
}

// TestPressureOfTheDay counts what other runs spent on the day.
func TestPressureOfTheDay(t *testing.T) {
	var l budget.Ledger
	l.Cap(nexus.Limits{RunMoney: 1000, DayMoney: 100}, 45)
	l.Reserve(nexus.BudgetReserved{ID: "a", Money: 30})
	l.Settle(nexus.BudgetSpent{ID: "a", Money: 30})
	if got := l.Pressure(); got != 75 {
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
	} {
		var l budget.Ledger
		l.Cap(c.limits, 0)
		l.Reserve(big)
		l.Reserve(small)
		got, refused := l.Check(nexus.BudgetReserved{ID: "c", Task: "T1", Role: nexus.Coder, Model: "one/x", Money: c.asked})
		if refused != (c.refused != "") || got.Cap != c.refused {
			t.Errorf("%s: %+v, %v", name, got, refused)
		}
	}
	var l budget.Ledger
	l.Cap(nexus.Limits{RunMoney: 1000}, 0)
	l.Reserve(big)
	l.Reserve(small)
	if own, grace := l.Claim(nexus.BudgetReserved{ID: "c", Task: "T1", Money: 10}); own != 81 || grace != 4 {
		t.Errorf("claims %d, with a grace of %d", own, grace)
	}
}

// TestTokensOfCallsThatReserveSome counts what calls used only where they set
// tokens aside: a call of another limit uses none of the run's.
func TestTokensOfCallsThatReserveSome(t *testing.T) {
	var l budget.Ledger
	l.Cap(nexus.Limits{RunMoney: 1000, RunTokens: 100}, 0)
	l.Reserve(nexus.BudgetReserved{ID: "a", Money: 1})
	l.Settle(nexus.BudgetSpent{ID: "a", Money: 1, Usage: nexus.Usage{Input: 90}})
	l.Reserve(nexus.BudgetReserved{ID: "b", Money: 1, Tokens: 50})
	l.Settle(nexus.BudgetSpent{ID: "b", Money: 1, Usage: nexus.Usage{Input: 30}})
	for asked, want := range map[int64]bool{70: false, 71: true} {
		if got, refused := l.Check(nexus.BudgetReserved{ID: "c", Money: 1, Tokens: asked}); refused != want {
			t.Errorf("%d tokens of the 70 that are left: refused %v, %+v", asked, refused, got)
		}
	}
}
