package view

import (
	"cmp"
	"fmt"
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
	Wasted    nexus.Money `json:"wasted"`    // by attempts that failed
	Cached    float64     `json:"cached"`    // share of the input that came from a cache, 0 to 1
	Usage     nexus.Usage `json:"usage"`
	Tasks     []Share     `json:"by_task"`
	Attempts  []Share     `json:"by_attempt"`
	Roles     []Share     `json:"by_role"`
	Purposes  []Share     `json:"by_purpose"`
	Tiers     []Share     `json:"by_tier"`
	Models    []Share     `json:"by_model"`
	Providers []Share     `json:"by_provider"`
}

// Share is what one task, role, model and so on cost.
type Share struct {
	Name      string      `json:"name"`
	Calls     int         `json:"calls,omitzero"`
	Money     nexus.Money `json:"money"`
	Estimated nexus.Money `json:"estimated,omitzero"` // the part that no provider told
	Usage     nexus.Usage `json:"usage"`
}

// CostOf returns what a run cost.
func CostOf(s *state.State) Cost {
	c := Cost{
		Run: s.Run, Money: Money{s.Ledger.Spent(), s.Ledger.Reserved(), s.Ledger.Limit()},
		Estimated: s.Spending.Estimated, Wasted: s.Wasted(), Usage: s.Usage,
	}
	if p := s.Usage.Prompt(); p > 0 {
		c.Cached = float64(s.Usage.CacheRead) / float64(p)
	}
	for _, way := range state.Ways() {
		*c.by(way) = shares(s.Spending.By, way)
	}
	return c
}

// by returns where the shares of a way are.
func (c *Cost) by(way state.Way) *[]Share {
	switch way {
	case state.ByTask:
		return &c.Tasks
	case state.ByAttempt:
		return &c.Attempts
	case state.ByRole:
		return &c.Roles
	case state.ByPurpose:
		return &c.Purposes
	case state.ByTier:
		return &c.Tiers
	case state.ByModel:
		return &c.Models
	default:
		return &c.Providers
	}
}

// shares orders the parts by what they cost, the dearest first.
func shares(parts map[state.Part]state.Spend, way state.Way) []Share {
	all := []Share{}
	for part, p := range parts {
		if part.Way == way {
			all = append(all, Share{Name: part.Name, Calls: p.Calls, Money: p.Money, Estimated: p.Estimated, Usage: p.Usage})
		}
	}
	slices.SortFunc(all, func(x, y Share) int { return cmp.Or(cmp.Compare(y.Money, x.Money), cmp.Compare(x.Name, y.Name)) })
	return all
}

// Costs draws what a run cost, in the given ways.
func Costs(s Style, c Cost, ways ...state.Way) string {
	head := []string{"", "name", "calls", "money", "in", "cached", "out"}
	if s.Plain {
		head[0] = "by"
	}
	var rows [][]string
	for _, way := range ways {
		for i, p := range *c.by(way) {
			title := string(way)
			if i > 0 && !s.Plain {
				title = ""
			}
			rows = append(rows, []string{
				s.Bold(title), Clean(p.Name), Number(int64(p.Calls)), s.about(p.Money, p.Estimated),
				Number(p.Usage.Prompt()), Number(p.Usage.CacheRead), Number(p.Usage.Output),
			})
		}
	}
	rows = append(rows, []string{
		s.Bold("total"), "", "", s.about(c.Money.Spent, c.Estimated), Number(c.Usage.Prompt()), Number(c.Usage.CacheRead), Number(c.Usage.Output),
	})
	text := Table(s, head, rows)
	if s.Plain {
		return text
	}
	notes := []string{"limit " + c.Money.Limit.String()}
	if c.Money.Reserved > 0 {
		notes = append(notes, c.Money.Reserved.String()+" reserved for calls under way")
	}
	if c.Usage.Prompt() > 0 {
		notes = append(notes, fmt.Sprintf("%.0f %% of the input from the cache", 100*c.Cached))
	}
	if c.Wasted > 0 {
		notes = append(notes, fmt.Sprintf("%.0f %% for attempts that failed", 100*c.Wasted.Float()/max(c.Money.Spent.Float(), 1e-9)))
	}
	if c.Estimated > 0 {
		notes = append(notes, s.about(c.Estimated, c.Estimated)+" estimated, no provider told")
	}
	return text + s.Dim(strings.Join(notes, s.dot())) + "\n"
}

// about marks an amount of which a part is estimated.
func (s Style) about(m, estimated nexus.Money) string {
	switch {
	case estimated == 0:
		return m.String()
	case s.ASCII || s.Plain:
		return "~" + m.String()
	default:
		return "\u2248" + m.String()
	}
}
