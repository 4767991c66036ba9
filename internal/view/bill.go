package view

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RunBill is the cost of a run and the JSON output of `nexus cost`.
type RunBill struct {
	Run       nexus.RunID         `json:"run"`
	Money     RunMoney            `json:"money"`
	Estimated nexus.Money         `json:"estimated"`                 // the part that no provider reported
	Wasted    nexus.Money         `json:"wasted"`                    // cost of failed attempts
	Cached    float64             `json:"cached"`                    // share of the input that came from a cache, 0 to 1
	Longest   *LongestSessionCost `json:"longest_session,omitempty"` // nil before the first call
	Usage     nexus.Usage         `json:"usage"`
	Tasks     []CostShare         `json:"by_task"`
	Attempts  []CostShare         `json:"by_attempt"`
	Sessions  []CostShare         `json:"by_session"`
	Roles     []CostShare         `json:"by_role"`
	Purposes  []CostShare         `json:"by_purpose"`
	Tiers     []CostShare         `json:"by_tier"`
	Models    []CostShare         `json:"by_model"`
	Providers []CostShare         `json:"by_provider"`
}

// CostShare is the cost of one task, role, model and so on.
type CostShare struct {
	Name      string      `json:"name"`
	Calls     int         `json:"calls,omitzero"`
	Money     nexus.Money `json:"money"`
	Estimated nexus.Money `json:"estimated,omitzero"` // the part that no provider reported
	Usage     nexus.Usage `json:"usage"`
}

// LongestSessionCost is the session with the most calls: the longer a session is, the more of it
// should come from the provider's cache.
type LongestSessionCost struct {
	Name   string  `json:"name"`
	Calls  int     `json:"calls"`
	Cached float64 `json:"cached"` // share of its input that came from a cache, 0 to 1
}

// BillOf returns the cost of a run.
func BillOf(s *state.State) RunBill {
	c := RunBill{
		Run: s.Run, Money: moneyOf(s),
		Estimated: s.Spending.Estimated, Wasted: WastedCost(s), Usage: s.Spending.Total().Usage,
	}
	c.Cached = CacheShare(c.Usage)
	for _, way := range budget.CostDimensions() {
		*c.sharesBy(way) = costShares(s.Spending.CostBy(way))
	}
	for _, x := range c.Sessions {
		if c.Longest == nil || x.Calls > c.Longest.Calls {
			c.Longest = &LongestSessionCost{x.Name, x.Calls, CacheShare(x.Usage)}
		}
	}
	return c
}

// WastedCost returns the cost of attempts that ended and were neither accepted nor landed.
func WastedCost(s *state.State) nexus.Money {
	var sum nexus.Money
	for _, t := range s.Tasks {
		for _, a := range t.Attempts {
			landed := t.Landed != nil && t.Landed.Attempt == a.ID
			if landed || a.Stage != state.Over || a.Outcome == nexus.Accepted {
				continue
			}
			sum += a.SessionCost()
		}
	}
	return sum
}

// FormatPercent formats a share from 0 to 1, rounded to a percent.
func FormatPercent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

// CacheShare returns the share of the input that came from a cache.
func CacheShare(u nexus.Usage) float64 {
	if u.PromptTokens() == 0 {
		return 0
	}
	return float64(u.CacheRead) / float64(u.PromptTokens())
}

// CacheNotes describes the share of the input that came from a cache, in total and in the longest
// session; empty if there was no input.
func (c RunBill) CacheNotes() []string {
	if c.Usage.PromptTokens() == 0 {
		return nil
	}
	notes := []string{FormatPercent(c.Cached) + " of the input from the cache"}
	if l := c.Longest; l != nil && l.Calls > 1 {
		notes = append(notes, fmt.Sprintf("%s in the longest session, %s with %d calls", FormatPercent(l.Cached), EscapeForTerminal(l.Name), l.Calls))
	}
	return notes
}

// sharesBy returns the field for the shares of a breakdown.
func (c *RunBill) sharesBy(way budget.CostDimension) *[]CostShare {
	switch way {
	case budget.ByTask:
		return &c.Tasks
	case budget.ByAttempt:
		return &c.Attempts
	case budget.BySession:
		return &c.Sessions
	case budget.ByRole:
		return &c.Roles
	case budget.ByPurpose:
		return &c.Purposes
	case budget.ByTier:
		return &c.Tiers
	case budget.ByModel:
		return &c.Models
	default:
		return &c.Providers
	}
}

// costShares sorts the parts by cost, the most expensive first.
func costShares(parts map[string]budget.CostTotal) []CostShare {
	all := make([]CostShare, 0, len(parts))
	for name, p := range parts {
		all = append(all, CostShare{Name: name, Calls: p.Calls, Money: p.Money, Estimated: p.Estimated, Usage: p.Usage})
	}
	slices.SortStableFunc(all, func(x, y CostShare) int { return cmp.Or(cmp.Compare(y.Money, x.Money), cmp.Compare(x.Name, y.Name)) })
	return all
}

// DrawBill draws the cost of a run, in the given breakdowns.
func DrawBill(s OutputStyle, c RunBill, ways ...budget.CostDimension) string {
	head := []string{"", "name", "calls", "money", "in", "cached", "out"}
	if s.Plain {
		head[0] = "by"
	}
	var rows [][]string
	for _, way := range ways {
		for i, p := range *c.sharesBy(way) {
			title := string(way)
			if i > 0 && !s.Plain {
				title = ""
			}
			rows = append(rows, []string{
				s.Bold(title), EscapeForTerminal(p.Name), FormatNumber(int64(p.Calls)), approximateMoney(s, p.Money, p.Estimated),
				FormatNumber(p.Usage.PromptTokens()), FormatNumber(p.Usage.CacheRead), FormatNumber(p.Usage.Output),
			})
		}
	}
	rows = append(rows, []string{
		s.Bold("total"), "", "", approximateMoney(s, c.Money.Spent, c.Estimated), FormatNumber(c.Usage.PromptTokens()), FormatNumber(c.Usage.CacheRead), FormatNumber(c.Usage.Output),
	})
	text := DrawTable(s, head, rows)
	if s.Plain {
		return text
	}
	notes := []string{"limit " + c.Money.Limit.String()}
	if c.Money.Reserved > 0 {
		notes = append(notes, c.Money.Reserved.String()+" reserved for calls in progress")
	}
	notes = append(notes, c.CacheNotes()...)
	if c.Wasted > 0 {
		notes = append(notes, FormatPercent(c.Wasted.Dollars()/max(c.Money.Spent.Dollars(), 1e-9))+" for attempts that failed")
	}
	if c.Estimated > 0 {
		notes = append(notes, approximateMoney(s, c.Estimated, c.Estimated)+" estimated, because no provider reported the cost")
	}
	return text + s.Dim(s.JoinFigures(notes...)) + "\n"
}

// approximateMoney formats an amount, and marks it if a part is estimated.
func approximateMoney(s OutputStyle, m, estimated nexus.Money) string {
	switch {
	case estimated == 0:
		return m.String()
	case s.ASCII || s.Plain:
		return "~" + m.String()
	default:
		return "\u2248" + m.String()
	}
}
