package llm

import (
	"cmp"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Terms are what the price of a call hangs on besides its tokens. The zero
// Terms are the usual ones.
type Terms struct {
	Service  string // the tier of service that answered, as the provider names it
	Region   string // where it was computed: a region that the answer names, or the host that was asked
	Searches int64  // web searches that the provider made
}

// isUsualTier are the names that providers have for their usual tier of service.
func isUsualTier(service string) bool {
	switch service {
	case "", "default", "standard", "auto", "unspecified", "on_demand", "provisioned_throughput", "scale":
		return true
	default:
		return false
	}
}

// tier returns the name that a tier of service has in the table.
func tier(service string) string {
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

// percent returns what a call on these terms costs, in hundredths of the
// usual price. A tier that is unknown costs as much as the most expensive that
// somebody knows, so that no price is too low.
func (p *Prices) percent(model string, t Terms) int64 {
	provider, _, _ := Split(model)
	whole := int64(100)
	if name := tier(t.Service); !isUsualTier(name) {
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

// Bill returns what a call cost on the terms on which it was answered, and
// false for a model without a known price.
func (p *Prices) Bill(model string, u nexus.Usage, t Terms, at time.Time) (nexus.Money, bool) {
	r, ok := p.RateAt(model, "", u.Prompt(), at)
	if !ok {
		return 0, false
	}
	provider, _, _ := Split(model)
	return r.times(p.percent(model, t)).Cost(u) + p.fees[provider]["web_search"]*nexus.Money(min(max(t.Searches, 0), 1e6))/1000, true
}

// lasting is how long a call may take, generously: from one hour of a day, and
// one day, to the next.
const lasting = time.Hour

// WorstCost returns the most that a call of r can cost that is asked of the model
// at a time, on these terms, and false for a model without a known price. A
// call on whose way the price changes takes the more expensive one. Nobody here asks a
// provider to keep a prompt for an hour or to search, so that is left out.
func (p *Prices) WorstCost(model string, r Request, t Terms, at time.Time) (nexus.Money, bool) {
	l, _ := p.Find(model)
	prompt, percent := Estimate(r), max(p.percent(model, t), p.percent(model, Terms{Region: t.Region}))
	var worst nexus.Money
	known := len(l.Rates) > 0
	for _, at := range []time.Time{at, at.Add(lasting)} {
		rate, ok := p.RateAt(model, "", prompt, at)
		known = known && ok
		dearest := rate.worst()
		for _, step := range l.Rates { // the prompt may turn out shorter
			if step.Above > 0 && step.Above < prompt {
				rate, _ := p.RateAt(model, "", step.Above, at)
				dearest = dearest.over(rate.worst())
			}
		}
		worst = max(worst, dearest.times(percent).Cost(nexus.Usage{Input: prompt, Output: r.MaxTokens}))
	}
	return worst, known
}

// worst returns the rate with the most expensive class of input for all input.
func (r Rate) worst() Rate {
	return Rate{Input: max(r.Input, r.CacheRead, r.CacheWrite), Output: r.Output}
}

func (r Rate) over(s Rate) Rate {
	return Rate{Input: max(r.Input, s.Input), Output: max(r.Output, s.Output)}
}

// times returns the rate at so many hundredths.
func (r Rate) times(percent int64) Rate {
	for _, m := range []*nexus.Money{&r.Input, &r.Output, &r.CacheRead, &r.CacheWrite, &r.CacheHour} {
		*m = nexus.Money((int64(*m)*percent + 99) / 100)
	}
	return r
}
