package llm

import (
	"cmp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// BillingTerms are the conditions of a call's price besides its tokens. The zero Terms are the usual
// ones.
type BillingTerms struct {
	Service  string // service tier of the answer, as the provider names it
	Region   string // region of the computation: as the answer names it, or the host of the request
	Searches int64  // number of the provider's web searches
}

// isUsualTier reports whether a provider's name means its usual service tier.
func isUsualTier(service string) bool {
	switch service {
	case "", "default", "standard", "auto", "unspecified", "on_demand", "provisioned_throughput", "scale":
		return true
	default:
		return false
	}
}

// serviceTierName returns the table's name of a service tier.
func serviceTierName(service string) string {
	service = strings.TrimPrefix(strings.ToLower(service), "on_demand_")
	switch service {
	case "fast":
		return "priority"
	case "offpeak":
		return "flex"
	default:
		return service
	}
}

// pricePercent returns the cost of a call on these terms as a percentage of the usual price. An unknown
// tier costs as much as the most expensive known one, so that no price is too low.
func (p *PriceTable) pricePercent(model string, t BillingTerms) int64 {
	provider, _, _ := SplitModelName(model)
	whole := int64(100)
	if name := serviceTierName(t.Service); !isUsualTier(name) {
		known, ok := p.services[provider][name]
		if !ok {
			for _, n := range p.services[provider] {
				known = max(known, n, 100)
			}
		}
		whole = cmp.Or(known, 100)
	}
	return (whole*cmp.Or(p.regions[provider][strings.ToLower(t.Region)], 100) + 99) / 100
}

// PriceOnTerms returns the cost of a call on the terms of its answer, and false for a model without a
// known price.
func (p *PriceTable) PriceOnTerms(model string, u nexus.Usage, t BillingTerms, at time.Time) (nexus.Money, bool) {
	r, ok := p.RateAt(model, "", u.PromptTokens(), at)
	if !ok {
		return 0, false
	}
	provider, _, _ := SplitModelName(model)
	return r.scaleBy(p.pricePercent(model, t)).Cost(u) + p.fees[provider]["web_search"]*nexus.Money(min(max(t.Searches, 0), 1e6))/1000, true
}

// maxCallTime is a generous limit of a call's duration: prices may change with the hour and the day.
const maxCallTime = time.Hour

// WorstCost returns the maximum cost of a call of r at a time, on these terms, and false for a
// model without a known price. If the price changes during the call, the higher one counts. The
// prices of one-hour caching and of searches are left out, because our requests never use them.
func (p *PriceTable) WorstCost(model string, r Request, t BillingTerms, at time.Time) (nexus.Money, bool) {
	l, _ := p.FindModel(model)
	prompt, percent := EstimateRequest(r), max(p.pricePercent(model, t), p.pricePercent(model, BillingTerms{Region: t.Region}))
	var worst nexus.Money
	known := len(l.Rates) > 0
	for _, at := range []time.Time{at, at.Add(maxCallTime)} {
		rate, ok := p.RateAt(model, "", prompt, at)
		known = known && ok
		dearest := rate.worstRate()
		for _, step := range l.Rates { // the actual prompt may be shorter
			if step.Above > 0 && step.Above < prompt {
				rate, _ := p.RateAt(model, "", step.Above, at)
				dearest = dearest.higherPrices(rate.worstRate())
			}
		}
		worst = max(worst, dearest.scaleBy(percent).Cost(nexus.Usage{Input: prompt, Output: r.MaxTokens}))
	}
	return worst, known
}

// worstRate returns the rate with the most expensive input class for all input.
func (r TokenPriceRate) worstRate() TokenPriceRate {
	return TokenPriceRate{Input: max(r.Input, r.CacheRead, r.CacheWrite), Output: r.Output}
}

func (r TokenPriceRate) higherPrices(s TokenPriceRate) TokenPriceRate {
	return TokenPriceRate{Input: max(r.Input, s.Input), Output: max(r.Output, s.Output)}
}

// scaleBy returns the rate multiplied by a percentage.
func (r TokenPriceRate) scaleBy(percent int64) TokenPriceRate {
	for _, m := range []*nexus.Money{&r.Input, &r.Output, &r.CacheRead, &r.CacheWrite, &r.CacheHour} {
		*m = nexus.Money((int64(*m)*percent + 99) / 100)
	}
	return r
}
