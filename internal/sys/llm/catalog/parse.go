package catalog

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// classes is what a million tokens cost, in dollars; nil is not said.
type classes struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	Reasoning  *float64 `json:"reasoning"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

// entry is what the list says about a model. What else it says is not looked at.
type entry struct {
	Updated string `json:"last_updated"`
	Status  string `json:"status"`
	Limit   struct {
		Context float64 `json:"context"`
		Output  float64 `json:"output"`
	} `json:"limit"`
	Cost *struct {
		classes

		Above200k *classes `json:"context_over_200k"`
		Tiers     []struct {
			classes

			Tier struct {
				Type string  `json:"type"`
				Size float64 `json:"size"`
			} `json:"tier"`
		} `json:"tiers"`
	} `json:"cost"`
}

// Parse reads the list of models.dev. An entry that is no model, or whose
// name nobody could write, is skipped and counted; one whose price is not
// said, is zero, or follows rules that nobody here knows has no price. It
// fails where nothing at all can be read.
func Parse(data []byte) (models map[string]llm.Listed, skipped int, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, 0, fmt.Errorf("not a list of models: %w", err)
	}
	models = map[string]llm.Listed{}
	for name, raw := range all {
		var p struct {
			Models map[string]json.RawMessage `json:"models"`
		}
		if json.Unmarshal(raw, &p) != nil || !plain(name) || strings.Contains(name, "/") {
			skipped++
			continue
		}
		for id, raw := range p.Models {
			var e entry
			if json.Unmarshal(raw, &e) != nil || !plain(id) {
				skipped++
				continue
			}
			models[ours(name)+"/"+id] = e.listed()
		}
	}
	if len(models) == 0 {
		return nil, skipped, fmt.Errorf("not a list of models: none of %d entries is one", len(all))
	}
	return models, skipped, nil
}

// ours returns the name that a provider has here.
func ours(provider string) string {
	if provider == "google" {
		return "gemini"
	}
	return provider
}

// plain reports whether a name can be written on a line, and stands for
// itself alone.
func plain(name string) bool {
	if name == "" || len(name) > 200 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '*' || r == '"' || r == '\\' })
}

func (e entry) listed() llm.Listed {
	l := llm.Listed{Context: whole(e.Limit.Context), Output: whole(e.Limit.Output), Rates: e.rates()}
	if _, err := time.Parse(time.DateOnly, e.Updated); err == nil {
		l.Dated = e.Updated
	}
	if e.Status == "deprecated" {
		l.Note = "deprecated"
	}
	if l.Check() != nil { // more expensive than anything is
		l.Rates = nil
	}
	return l
}

// rates returns none where any part of the price is not known: half a price
// would be too low a price.
func (e entry) rates() []llm.Rate {
	if e.Cost == nil {
		return nil
	}
	base, ok := e.Cost.rate(0)
	if !ok {
		return nil
	}
	all := []llm.Rate{base}
	for _, t := range e.Cost.Tiers {
		r, ok := t.rate(t.Tier.Size)
		if t.Tier.Type != "context" || r.Above <= 0 || !ok {
			return nil
		}
		all = append(all, r)
	}
	if a := e.Cost.Above200k; a != nil && len(all) == 1 { // the older way to say the same
		r, ok := a.rate(200_000)
		if !ok {
			return nil
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b llm.Rate) int { return cmp.Compare(a.Above, b.Above) })
	return all
}

// rate returns false where input or output has no price. The cache costs as
// much as input where its price is not said.
func (c classes) rate(above float64) (llm.Rate, bool) {
	r := llm.Rate{Above: whole(above), Input: dollars(c.Input), Output: max(dollars(c.Output), dollars(c.Reasoning))}
	r.CacheRead, r.CacheWrite = cmp.Or(dollars(c.CacheRead), r.Input), cmp.Or(dollars(c.CacheWrite), r.Input)
	return r, r.Input > 0 && dollars(c.Output) > 0
}

func dollars(f *float64) nexus.Money {
	if f == nil {
		return 0
	}
	return nexus.Dollars(*f)
}

// whole returns a count of tokens, 0 for what is none.
func whole(f float64) int64 {
	if math.IsNaN(f) || f < 1 || f > 1e12 {
		return 0
	}
	return int64(f)
}
