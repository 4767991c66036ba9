package view

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Cost is what a run cost: the object of `nexus cost --json`.
type Cost struct {
	Run       nexus.RunID `json:"run"`
	Money     Money       `json:"money"`
	Estimated nexus.Money `json:"estimated"` // the part that no provider told
	Usage     nexus.Usage `json:"usage"`
	Tasks     []Share     `json:"by_task"`
	Roles     []Share     `json:"by_role"`
	Models    []Share     `json:"by_model"`
	Tiers     []Share     `json:"by_tier"`
}

// Share is the part of one task, role, model or tier.
type Share struct {
	Name  string      `json:"name"`
	Calls int         `json:"calls,omitzero"` // of a model
	Money nexus.Money `json:"money"`
	Usage nexus.Usage `json:"usage"`
}

// CostOf returns what a run cost.
func CostOf(s *state.State) Cost {
	c := Cost{
		Run: s.Run, Money: Money{s.Ledger.Spent(), s.Ledger.Reserved(), s.Ledger.Limit()},
		Estimated: s.Spending.Estimated, Usage: s.Usage, Tasks: []Share{},
		Roles: shares(s.Spending.ByRole), Models: shares(s.Spending.ByModel), Tiers: shares(s.Spending.ByTier),
	}
	for _, t := range s.Tasks {
		c.Tasks = append(c.Tasks, Share{Name: string(t.ID), Money: t.Spent, Usage: t.Usage})
	}
	return c
}

// shares orders the parts by what they cost, the dearest first.
func shares[K ~string](parts map[K]state.Spend) []Share {
	all := make([]Share, 0, len(parts))
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		p := parts[name]
		all = append(all, Share{Name: string(name), Calls: p.Calls, Money: p.Money, Usage: p.Usage})
	}
	slices.SortStableFunc(all, func(x, y Share) int { return cmp.Compare(y.Money, x.Money) })
	return all
}

// Costs draws what a run cost.
func Costs(s Style, c Cost) string {
	head := []string{"", "name", "calls", "money", "in", "cached", "out"}
	if s.Plain {
		head[0] = "by"
	}
	var rows [][]string
	for _, part := range []struct {
		title  string
		shares []Share
	}{{"task", c.Tasks}, {"role", c.Roles}, {"model", c.Models}, {"tier", c.Tiers}} {
		for i, p := range part.shares {
			title := part.title
			if i > 0 && !s.Plain {
				title = ""
			}
			calls := ""
			if p.Calls > 0 {
				calls = Number(int64(p.Calls))
			}
			rows = append(rows, []string{
				s.Bold(title), Clean(p.Name), calls, p.Money.String(),
				Number(p.Usage.Prompt()), Number(p.Usage.CacheRead), Number(p.Usage.Output),
			})
		}
	}
	rows = append(rows, []string{
		s.Bold("total"), "", "", c.Money.Spent.String(), Number(c.Usage.Prompt()), Number(c.Usage.CacheRead), Number(c.Usage.Output),
	})
	text := Table(s, head, rows)
	if s.Plain {
		return text
	}
	notes := []string{"limit " + c.Money.Limit.String()}
	if c.Money.Reserved > 0 {
		notes = append(notes, c.Money.Reserved.String()+" reserved for calls under way")
	}
	if c.Estimated > 0 {
		notes = append(notes, c.Estimated.String()+" estimated, no provider told")
	}
	return text + s.Dim(strings.Join(notes, s.dot())) + "\n"
}
