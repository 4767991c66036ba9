package llm

import (
	"bytes"
	"cmp"
	_ "embed" // the price table
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// models.json is maintained by hand. Prices are list prices in dollars for a million tokens.
//
//go:embed models.json
var pricesJSON []byte

// PriceTable has the prices and limits of models by "provider/model". An unknown model has no price,
// which is not a price of zero.
type PriceTable struct {
	Dated    string // date of the embedded table
	listed   map[string]ModelTableEntry
	pattern  []string                          // names with a star, longest first
	services map[string]map[string]int64       // percentage of the usual price, by provider and service tier
	regions  map[string]map[string]int64       // percentage by provider, and region or host
	fees     map[string]map[string]nexus.Money // for a thousand calls of a provider's own tools
	behind   func() map[string]ModelTableEntry // the fallback, see SetFallback; nil for none
}

// PriceSource is the source of a price.
type PriceSource string

// The sources, in the order of their priority.
const (
	PriceFromConfig PriceSource = "config"    // configured by a person
	PriceCurated    PriceSource = "curated"   // the embedded table
	PriceRefreshed  PriceSource = "refreshed" // the fetched public list
)

// ModelTableEntry is the entry of a model.
type ModelTableEntry struct {
	Context int64            `json:"context,omitzero"` // limit of prompt and answer in tokens; 0: unknown
	Output  int64            `json:"output,omitzero"`  // limit of an answer in tokens; 0: unknown
	Note    string           `json:"note,omitzero"`    // the uncertain facts
	Rates   []TokenPriceRate `json:"rates"`            // the last one that applies counts; none means no price
	Dated   string           `json:"dated,omitzero"`   // date of the prices, as 2026-11-21; empty: unknown
	Source  PriceSource      `json:"-"`
}

// TokenPriceRate is a price of a million tokens of each class, with the conditions under which it applies to
// the whole request, including its answer.
type TokenPriceRate struct {
	From       string      `json:"from,omitzero"`   // first day, UTC, as 2026-11-21; empty is always
	Above      int64       `json:"above,omitzero"`  // to prompts of more tokens than this
	Hours      [][2]int    `json:"hours,omitempty"` // from the first hour until before the second, UTC; empty: all day
	Input      nexus.Money `json:"input"`
	Output     nexus.Money `json:"output"`
	CacheRead  nexus.Money `json:"cache_read"`
	CacheWrite nexus.Money `json:"cache_write"`         // for some minutes
	CacheHour  nexus.Money `json:"cache_hour,omitzero"` // for an hour; 0: as for minutes
}

// LoadPrices reads the embedded table and replaces its models by those in more. A name may end in
// "/*" to match all models of a provider: "ollama/*".
func LoadPrices(more map[string]ModelTableEntry) (*PriceTable, error) {
	var t struct {
		Dated    string                            `json:"dated"`
		Note     string                            `json:"note"`
		Services map[string]map[string]int64       `json:"services"`
		Regions  map[string]map[string]int64       `json:"regions"`
		Fees     map[string]map[string]nexus.Money `json:"fees"`
		Models   map[string]ModelTableEntry        `json:"models"`
	}
	d := json.NewDecoder(bytes.NewReader(pricesJSON))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return nil, fmt.Errorf("price table: %w", err)
	}
	for name, l := range t.Models {
		l.Source, l.Dated = PriceCurated, t.Dated
		t.Models[name] = l
	}
	for name, l := range more {
		was := t.Models[name]
		l.Source, l.Context, l.Output = PriceFromConfig, cmp.Or(l.Context, was.Context), cmp.Or(l.Output, was.Output)
		t.Models[name] = l
	}
	p := &PriceTable{Dated: t.Dated, listed: t.Models, services: t.Services, regions: t.Regions, fees: t.Fees}
	for _, name := range slices.Sorted(maps.Keys(t.Models)) {
		if _, _, ok := SplitModelName(name); !ok {
			return nil, fmt.Errorf("price of %q: a model is named provider/model", name)
		}
		if err := t.Models[name].CheckRates(); err != nil {
			return nil, fmt.Errorf("price of %s: %w", name, err)
		}
		if strings.HasSuffix(name, "/*") {
			p.pattern = append(p.pattern, name)
		}
	}
	slices.SortStableFunc(p.pattern, func(a, b string) int { return len(b) - len(a) })
	return p, nil
}

// SetFallback sets a source for unknown models only, so that a public list cannot lower the price
// of a known model. It is read once, at its first use; invalid entries are left out.
func (p *PriceTable) SetFallback(read func() map[string]ModelTableEntry) {
	p.behind = sync.OnceValue(func() map[string]ModelTableEntry {
		kept := map[string]ModelTableEntry{}
		for name, l := range read() {
			if _, _, ok := SplitModelName(name); ok && l.CheckRates() == nil {
				l.Source = PriceRefreshed
				kept[name] = l
			}
		}
		return kept
	})
}

// CheckRates returns an error if the rates are invalid.
func (l ModelTableEntry) CheckRates() error {
	for _, r := range l.Rates {
		if _, err := time.Parse(time.DateOnly, r.From); r.From != "" && err != nil {
			return fmt.Errorf("%q is not a day", r.From)
		}
		for _, h := range r.Hours {
			if h[0] < 0 || h[0] >= h[1] || h[1] > 24 {
				return fmt.Errorf("%v are not hours of a day", h)
			}
		}
		if min(r.Input, r.Output, r.CacheRead, r.CacheWrite, r.CacheHour) < 0 || max(r.Input, r.Output, r.CacheRead, r.CacheWrite, r.CacheHour) > 1e6*nexus.Dollar {
			return errors.New("a price is below zero or above a dollar a token")
		}
	}
	return nil
}

// findListedModel returns the entry of a model without the fallback.
func (p *PriceTable) findListedModel(model string) (ModelTableEntry, bool) {
	if l, ok := p.listed[model]; ok {
		return l, true
	}
	for _, name := range p.pattern {
		if strings.HasPrefix(model, strings.TrimSuffix(name, "*")) {
			return p.listed[name], true
		}
	}
	return ModelTableEntry{}, false
}

// ModelNames returns the models with an entry of their own, sorted.
func (p *PriceTable) ModelNames() []string {
	all := maps.Clone(p.listed)
	if p.behind != nil {
		maps.Copy(all, p.behind())
	}
	return slices.Sorted(maps.Keys(all))
}

// FindModel returns the entry of a model. A configured price has no context limits, so these come from
// the model's other entries.
func (p *PriceTable) FindModel(model string) (ModelTableEntry, bool) {
	if l, ok := p.findListedModel(model); ok {
		if p.behind != nil && l.Source == PriceFromConfig && (l.Context == 0 || l.Output == 0) {
			public := p.behind()[model]
			l.Context, l.Output = cmp.Or(l.Context, public.Context), cmp.Or(l.Output, public.Output)
		}
		return l, true
	}
	if p.behind == nil {
		return ModelTableEntry{}, false
	}
	l, ok := p.behind()[model]
	return l, ok
}

// ServiceTiers returns the service tiers besides the usual ones, sorted.
func (p *PriceTable) ServiceTiers() []string {
	all := map[string]int64{}
	for _, s := range p.services {
		maps.Copy(all, s)
	}
	return slices.Sorted(maps.Keys(all))
}

// RateAt returns the rate of a call at the provider's service tier ("" for its usual one); prompt
// is the number of tokens in its prompt. It returns false if the model has no known price, or the
// provider no such tier.
func (p *PriceTable) RateAt(model, service string, prompt int64, at time.Time) (TokenPriceRate, bool) {
	l, _ := p.FindModel(model)
	found, ok := TokenPriceRate{}, false
	for _, r := range l.Rates {
		if r.appliesTo(prompt, at.UTC()) {
			found, ok = r, true
		}
	}
	if service == "" || !ok {
		return found, ok
	}
	provider, _, _ := SplitModelName(model)
	percent, ok := p.services[provider][service]
	if !ok {
		return TokenPriceRate{}, false
	}
	return found.scaleBy(percent), true
}

// PriceOnUsualTerms returns the cost of a call on the usual terms, and false for a model without a known
// price.
func (p *PriceTable) PriceOnUsualTerms(model string, u nexus.Usage, at time.Time) (nexus.Money, bool) {
	return p.PriceOnTerms(model, u, BillingTerms{}, at)
}

func (r TokenPriceRate) appliesTo(prompt int64, at time.Time) bool {
	if prompt <= r.Above && r.Above > 0 || at.Format(time.DateOnly) < r.From {
		return false
	}
	for _, h := range r.Hours {
		if h[0] <= at.Hour() && at.Hour() < h[1] {
			return true
		}
	}
	return len(r.Hours) == 0
}

// Cost returns the cost of the tokens, each class rounded up to a billionth of a dollar.
func (r TokenPriceRate) Cost(u nexus.Usage) nexus.Money {
	hour := min(u.CacheHour, u.CacheWrite)
	return tokenPrice(r.Input, u.Input) + tokenPrice(r.Output, u.Output) + tokenPrice(r.CacheRead, u.CacheRead) +
		tokenPrice(r.CacheWrite, u.CacheWrite-hour) + tokenPrice(max(r.CacheWrite, r.CacheHour), hour)
}

// tokenPrice returns the price of n tokens at m for a million. It splits m so that the product cannot
// overflow: m is at most a million dollars.
func tokenPrice(m nexus.Money, n int64) nexus.Money {
	const million = 1_000_000
	whole, rest := int64(m)/million, int64(m)%million
	n = min(n, 1e9) // no call has more
	return nexus.Money(whole*n + (rest*n+million-1)/million)
}
