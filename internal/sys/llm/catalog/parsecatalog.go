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

// catalogPrices are the prices of a million tokens, in dollars; nil: not listed.
type catalogPrices struct {
	Input      *float64 `json:"input"`
	Output     *float64 `json:"output"`
	Reasoning  *float64 `json:"reasoning"`
	CacheRead  *float64 `json:"cache_read"`
	CacheWrite *float64 `json:"cache_write"`
}

// catalogModel has the used fields of a model in the list.
type catalogModel struct {
	Updated string `json:"last_updated"`
	Status  string `json:"status"`
	Limit   struct {
		Context float64 `json:"context"`
		Output  float64 `json:"output"`
	} `json:"limit"`
	Cost *struct {
		catalogPrices

		Above200k *catalogPrices `json:"context_over_200k"`
		Tiers     []struct {
			catalogPrices

			Tier struct {
				Type string  `json:"type"`
				Size float64 `json:"size"`
			} `json:"tier"`
		} `json:"tiers"`
	} `json:"cost"`
}

// ParseCatalog parses the list of models.dev. It skips and counts entries that are not models or have
// unusable names. Entries whose price is missing, zero, or follows unknown rules have no price. It
// fails if no entry can be read.
func ParseCatalog(data []byte) (models map[string]llm.ModelTableEntry, skipped int, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, 0, fmt.Errorf("not a list of models: %w", err)
	}
	models = map[string]llm.ModelTableEntry{}
	for name, raw := range all {
		var p struct {
			Models map[string]json.RawMessage `json:"models"`
		}
		if json.Unmarshal(raw, &p) != nil || !isPlainName(name) || strings.Contains(name, "/") {
			skipped++
			continue
		}
		for id, raw := range p.Models {
			var e catalogModel
			if json.Unmarshal(raw, &e) != nil || !isPlainName(id) {
				skipped++
				continue
			}
			models[ownProviderName(name)+"/"+id] = e.toListedModel()
		}
	}
	if len(models) == 0 {
		return nil, skipped, fmt.Errorf("not a list of models: none of %d entries is one", len(all))
	}
	return models, skipped, nil
}

// ownProviderName returns our name of a provider.
func ownProviderName(provider string) string {
	if provider == "google" {
		return "gemini"
	}
	return provider
}

// isPlainName reports whether a name can be written on a line and has no special characters of patterns.
func isPlainName(name string) bool {
	if name == "" || len(name) > 200 {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '*' || r == '"' || r == '\\' })
}

func (e catalogModel) toListedModel() llm.ModelTableEntry {
	l := llm.ModelTableEntry{Context: tokenCount(e.Limit.Context), Output: tokenCount(e.Limit.Output), Rates: e.tokenRates()}
	if _, err := time.Parse(time.DateOnly, e.Updated); err == nil {
		l.Dated = e.Updated
	}
	if e.Status == "deprecated" {
		l.Note = "deprecated"
	}
	if l.CheckRates() != nil { // higher than any real price
		l.Rates = nil
	}
	return l
}

// tokenRates returns none if any part of the price is unknown: half a price would be too low a price.
func (e catalogModel) tokenRates() []llm.TokenPriceRate {
	if e.Cost == nil {
		return nil
	}
	base, ok := e.Cost.tokenRate(0)
	if !ok {
		return nil
	}
	all := []llm.TokenPriceRate{base}
	for _, t := range e.Cost.Tiers {
		r, ok := t.tokenRate(t.Tier.Size)
		if t.Tier.Type != "context" || r.Above <= 0 || !ok {
			return nil
		}
		all = append(all, r)
	}
	if a := e.Cost.Above200k; a != nil && len(all) == 1 { // an older field for the same
		r, ok := a.tokenRate(200_000)
		if !ok {
			return nil
		}
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b llm.TokenPriceRate) int { return cmp.Compare(a.Above, b.Above) })
	return all
}

// tokenRate returns false if input or output has no price. Without a cache price, the cache costs as
// much as input.
func (c catalogPrices) tokenRate(above float64) (llm.TokenPriceRate, bool) {
	r := llm.TokenPriceRate{Above: tokenCount(above), Input: toMoney(c.Input), Output: max(toMoney(c.Output), toMoney(c.Reasoning))}
	r.CacheRead, r.CacheWrite = cmp.Or(toMoney(c.CacheRead), r.Input), cmp.Or(toMoney(c.CacheWrite), r.Input)
	return r, r.Input > 0 && toMoney(c.Output) > 0
}

func toMoney(f *float64) nexus.Money {
	if f == nil {
		return 0
	}
	return nexus.MoneyFromDollars(*f)
}

// tokenCount returns a count of tokens, 0 for an invalid one.
func tokenCount(f float64) int64 {
	if math.IsNaN(f) || f < 1 || f > 1e12 {
		return 0
	}
	return int64(f)
}
