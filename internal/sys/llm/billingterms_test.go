package llm_test

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// TestBill holds what calls cost on the terms on which they were answered.
func TestBill(t *testing.T) {
	p := prices(t, nil)
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	u := nexus.Usage{Input: 100_000, Output: 10_000}
	for _, c := range []struct {
		model string
		terms llm.BillingTerms
		want  string
	}{
		{"anthropic/claude-sonnet-5-5", llm.BillingTerms{}, "0.3"},
		{"anthropic/claude-sonnet-5-5", llm.BillingTerms{Service: "standard", Region: "global"}, "0.3"},
		{"anthropic/claude-sonnet-5-5", llm.BillingTerms{Service: "batch"}, "0.15"},
		{"anthropic/claude-sonnet-5-5", llm.BillingTerms{Region: "us"}, "0.33"},
		{"anthropic/claude-sonnet-5-5", llm.BillingTerms{Searches: 3}, "0.33"},
		{"anthropic/claude-sonnet-5-5", llm.BillingTerms{Service: "of-tomorrow"}, "0.3"},
		{"openai/gpt-6-sol", llm.BillingTerms{Service: "default"}, "0.3"},
		{"openai/gpt-6-sol", llm.BillingTerms{Service: "flex"}, "0.15"},
		{"openai/gpt-6-sol", llm.BillingTerms{Service: "priority"}, "0.6"},
		{"openai/gpt-6-sol", llm.BillingTerms{Service: "fast"}, "0.6"},
		{"openai/gpt-6-sol", llm.BillingTerms{Service: "ultrafast"}, "0.6"}, // the most expensive that is known
		{"openai/gpt-6-sol", llm.BillingTerms{Service: "priority", Region: "eu.api.openai.com"}, "0.66"},
		{"gemini/gemini-3.8-flash", llm.BillingTerms{Service: "ON_DEMAND_PRIORITY"}, "0.2025"},
		{"gemini/gemini-3.8-flash", llm.BillingTerms{Service: "on_demand"}, "0.1125"},
	} {
		if got, ok := p.PriceOnTerms(c.model, u, c.terms, at); !ok || got != money(t, c.want) {
			t.Errorf("%s on %+v costs %s, want %s", c.model, c.terms, got, c.want)
		}
	}
	if got, ok := p.PriceOnTerms("anthropic/claude-of-tomorrow", u, llm.BillingTerms{Searches: 1}, at); ok || got != 0 {
		t.Errorf("an unknown model costs %s", got)
	}
}

// TestWorstOfTheTime holds that prices of other days and hours are left out,
// and that a call on whose way the price changes takes the more expensive one.
func TestWorstOfTheTime(t *testing.T) {
	rate := func(dollars nexus.Money, r llm.TokenPriceRate) llm.TokenPriceRate {
		r.Input, r.Output = dollars*nexus.Dollar, dollars*nexus.Dollar
		return r
	}
	p := prices(t, map[string]llm.ModelTableEntry{
		"mine/falls": {Rates: []llm.TokenPriceRate{rate(9, llm.TokenPriceRate{}), rate(1, llm.TokenPriceRate{From: "2026-12-01"})}},
		"mine/rises": {Rates: []llm.TokenPriceRate{rate(1, llm.TokenPriceRate{}), rate(9, llm.TokenPriceRate{From: "2026-12-01"})}},
		"mine/night": {Rates: []llm.TokenPriceRate{rate(9, llm.TokenPriceRate{}), rate(1, llm.TokenPriceRate{Hours: [][2]int{{2, 4}}})}},
		"mine/long":  {Rates: []llm.TokenPriceRate{rate(9, llm.TokenPriceRate{}), rate(1, llm.TokenPriceRate{Above: 500})}}, // cheaper when long
		"mine/later": {Rates: []llm.TokenPriceRate{rate(1, llm.TokenPriceRate{From: "2027-01-01"})}},
	})
	r := llm.Request{System: string(make([]byte, 1000)), MaxTokens: 1000}
	tokens := nexus.Money(llm.EstimateRequest(r) + r.MaxTokens)
	dear, cheap := tokens*9*1000, tokens*1000
	for _, c := range []struct {
		model, at string
		want      nexus.Money
	}{
		{"mine/falls", "2026-11-30T12:00:00Z", dear},
		{"mine/falls", "2026-11-30T23:59:00Z", dear},
		{"mine/falls", "2026-12-01T00:00:00Z", cheap},
		{"mine/rises", "2026-11-30T22:59:00Z", cheap},
		{"mine/rises", "2026-11-30T23:30:00Z", dear},
		{"mine/night", "2026-11-30T01:30:00Z", dear},
		{"mine/night", "2026-11-30T02:30:00Z", cheap},
		{"mine/night", "2026-11-30T03:30:00Z", dear},
		{"mine/long", "2026-11-30T03:30:00Z", dear},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.WorstCost(c.model, r, llm.BillingTerms{}, at); !ok || got != c.want {
			t.Errorf("%s at %s costs at most %s, want %s", c.model, c.at, got, c.want)
		}
		if got, _ := p.WorstCost(c.model, r, llm.BillingTerms{Service: "flex"}, at); got != c.want {
			t.Errorf("%s: what answered for less last time need not again", c.model)
		}
	}
	if got, ok := p.WorstCost("mine/later", r, llm.BillingTerms{}, time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)); ok {
		t.Errorf("a price that does not hold yet: %s", got)
	}
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	usual, _ := p.WorstCost("openai/gpt-6-sol", r, llm.BillingTerms{}, at)
	if got, _ := p.WorstCost("openai/gpt-6-sol", r, llm.BillingTerms{Service: "priority"}, at); got != 2*usual {
		t.Errorf("%s at priority, %s else", got, usual)
	}
}
