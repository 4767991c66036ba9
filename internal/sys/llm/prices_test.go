package llm_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

func money(t *testing.T, dollars string) nexus.Money {
	t.Helper()
	var m nexus.Money
	if err := json.Unmarshal([]byte(dollars), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestRows holds the table against the published prices: for each model the
// five classes of a million tokens, at two moments, and for a prompt beyond
// its step if it has one.
func TestRows(t *testing.T) {
	p := prices(t, nil)
	left := map[string]bool{}
	for _, name := range p.ModelNames() {
		left[name] = true
	}
	type class [5]string // input, output, cache read, cache write, cache write for an hour
	const autumn, today, next, night = "2026-09-30T12:00:00Z", "2026-11-21T12:00:00Z", "2027-01-01T00:00:00Z", "2026-11-21T02:00:00Z"
	flash, dearer := class{"0.75", "3.75", "0.075", "0.75", "0.75"}, class{"1.5", "7.5", "0.15", "1.5", "1.5"}
	old := class{"5", "25", "0.5", "6.25", "10"}
	for _, c := range []struct {
		model  string
		at     string
		prompt int64
		want   class
	}{
		{"anthropic/claude-fable-5-2", today, 1e6, class{"8", "40", "0.2", "10", "16"}},
		{"anthropic/claude-fable-5-2", next, 1, class{"8", "40", "0.2", "10", "16"}},
		{"anthropic/claude-fable-5-1", today, 1, class{"10", "50", "0.25", "12.5", "20"}},
		{"anthropic/claude-mythos-5-2", today, 1, class{"8", "40", "0.2", "10", "16"}},
		{"anthropic/claude-mythos-5-1", today, 1, class{"10", "50", "0.25", "12.5", "20"}},
		{"anthropic/claude-opus-5-5", autumn, 1, class{"4", "20", "0.2", "5", "8"}},
		{"anthropic/claude-opus-5-5", today, 1e6, class{"4", "20", "0.2", "5", "8"}},
		{"anthropic/claude-opus-5", today, 1, old},
		{"anthropic/claude-opus-4-8", autumn, 1, old},
		{"anthropic/claude-opus-4-7", today, 1, old},
		{"anthropic/claude-opus-4-6", autumn, 1, old},
		{"anthropic/claude-opus-4-5", today, 1, old},
		{"anthropic/claude-sonnet-5-5", autumn, 1, class{"2", "10", "0.2", "2.5", "4"}},
		{"anthropic/claude-sonnet-5-5", today, 1, class{"2", "10", "0.1", "2.5", "4"}},
		{"anthropic/claude-sonnet-5", autumn, 1, class{"2", "10", "0.2", "2.5", "4"}},
		{"anthropic/claude-sonnet-5", today, 1, class{"2", "10", "0.2", "2.5", "4"}},
		{"anthropic/claude-sonnet-4-6", today, 1, class{"3", "15", "0.3", "3.75", "6"}},
		{"anthropic/claude-haiku-5-5", today, 100_000, class{"0.1", "0.5", "0.01", "0.125", "0.2"}},
		{"anthropic/claude-haiku-5-5", today, 100_001, class{"0.5", "2.5", "0.05", "0.625", "1"}},
		{"anthropic/claude-haiku-4-5", today, 200_000, class{"1", "5", "0.1", "1.25", "2"}},
		{"openai/gpt-6.2-astra", today, 272_000, class{"8", "40", "0.4", "10", "10"}},
		{"openai/gpt-6.2-astra", today, 272_001, class{"16", "60", "0.8", "20", "20"}},
		{"openai/gpt-6.2-sol", today, 272_000, class{"2", "10", "0.2", "2.5", "2.5"}},
		{"openai/gpt-6.2-sol", today, 272_001, class{"4", "15", "0.4", "5", "5"}},
		{"openai/gpt-6.1-sol", today, 1, class{"2", "10", "0.2", "2.5", "2.5"}},
		{"openai/gpt-6-astra", autumn, 272_000, class{"10", "50", "1", "12.5", "12.5"}},
		{"openai/gpt-6-astra", today, 272_001, class{"20", "75", "2", "25", "25"}},
		{"openai/gpt-6-sol", autumn, 272_000, class{"2", "10", "0.2", "2.5", "2.5"}},
		{"openai/gpt-6-sol", today, 272_001, class{"4", "15", "0.4", "5", "5"}},
		{"openai/gpt-6-luna", autumn, 272_000, class{"0.1", "0.5", "0.01", "0.125", "0.125"}},
		{"openai/gpt-6-luna", today, 272_001, class{"0.2", "0.75", "0.02", "0.25", "0.25"}},
		{"openai/gpt-5.6-sol", today, 1e6, class{"4", "20", "0.4", "5", "5"}},
		{"openai/gpt-5.6-terra", today, 1e6, class{"2", "12", "0.2", "2.5", "2.5"}},
		{"openai/gpt-5.6-luna", today, 1e6, class{"0.2", "1.2", "0.02", "0.25", "0.25"}},
		{"gemini/gemini-3.8-flash", today, 1, flash},
		{"gemini/gemini-3.8-flash", next, 1, dearer},
		{"gemini/gemini-3.7-flash", "2026-12-31T23:59:59Z", 1, flash},
		{"gemini/gemini-3.7-flash", next, 1, dearer},
		{"gemini/gemini-3.6-flash", today, 1, flash},
		{"gemini/gemini-3.6-flash", next, 1, dearer},
		{"gemini/gemini-3.5-flash", next, 1e6, class{"1.5", "9", "0.15", "1.5", "1.5"}},
		{"gemini/gemini-3.5-flash-lite", next, 1e6, class{"0.3", "2.5", "0.03", "0.3", "0.3"}},
		{"gemini/gemini-3.1-pro-preview", today, 200_000, class{"2", "12", "0.2", "2", "2"}},
		{"gemini/gemini-3.1-pro-preview", today, 200_001, class{"4", "18", "0.4", "4", "4"}},
		{"xai/grok-4.6", today, 200_000, class{"2", "6", "0.5", "2", "2"}},
		{"xai/grok-4.6", today, 200_001, class{"4", "12", "1", "4", "4"}},
		{"xai/grok-4.5", today, 200_000, class{"2", "6", "0.3", "2", "2"}},
		{"xai/grok-4.5", today, 200_001, class{"4", "12", "0.6", "4", "4"}},
		{"deepseek/deepseek-v4-pro", today, 1, class{"0.66", "1.98", "0.022", "0.66", "0.66"}},
		{"deepseek/deepseek-v4-pro", night, 1, class{"1.32", "3.96", "0.044", "1.32", "1.32"}},
		{"deepseek/deepseek-v4-flash", today, 1, class{"0.22", "0.66", "0.007", "0.22", "0.22"}},
		{"deepseek/deepseek-v4-flash", night, 1, class{"0.44", "1.32", "0.014", "0.44", "0.44"}},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		if err != nil {
			t.Fatal(err)
		}
		r, ok := p.RateAt(c.model, "", c.prompt, at)
		for i, u := range []nexus.Usage{{Input: 1e6}, {Output: 1e6}, {CacheRead: 1e6}, {CacheWrite: 1e6}, {CacheWrite: 1e6, CacheHour: 1e6}} {
			if got := r.Cost(u); !ok || got != money(t, c.want[i]) {
				t.Errorf("%s with %d tokens at %s: %+v costs %s, want %s", c.model, c.prompt, c.at, u, got, c.want[i])
			}
		}
		delete(left, c.model)
	}
	if len(left) > 0 {
		t.Errorf("nobody looks at %v", left)
	}
}

// TestServices holds that a tier of service changes every class, and that one
// that is unknown has no price.
func TestServices(t *testing.T) {
	p := prices(t, nil)
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ model, service, input, output, read string }{
		{"anthropic/claude-sonnet-5-5", "", "2", "10", "0.1"},
		{"anthropic/claude-sonnet-5-5", "batch", "1", "5", "0.05"},
		{"openai/gpt-6-sol", "flex", "1", "5", "0.1"},
		{"openai/gpt-6-sol", "priority", "4", "20", "0.4"},
		{"gemini/gemini-3.8-flash", "priority", "1.35", "6.75", "0.135"},
		{"gemini/gemini-3.8-flash", "batch", "0.375", "1.875", "0.0375"},
	} {
		r, ok := p.RateAt(c.model, c.service, 1, at)
		if !ok || r.Input != money(t, c.input) || r.Output != money(t, c.output) || r.CacheRead != money(t, c.read) {
			t.Errorf("%s at %q: %+v", c.model, c.service, r)
		}
	}
	for _, c := range [][2]string{{"anthropic/claude-sonnet-5-5", "flex"}, {"deepseek/deepseek-v4-pro", "batch"}, {"anthropic/claude-of-tomorrow", "batch"}} {
		if r, ok := p.RateAt(c[0], c[1], 1, at); ok {
			t.Errorf("%s at %s: %+v", c[0], c[1], r)
		}
	}
	if got := p.ServiceTiers(); !slices.Equal(got, []string{"batch", "flex", "priority"}) {
		t.Error(got)
	}
}

// TestBehind holds who wins: what a person set, then the table, then a list.
func TestBehind(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := prices(t, map[string]llm.ModelTableEntry{
		"mine/x": {Rates: []llm.TokenPriceRate{{Input: 3 * nexus.Dollar}}}, "own/*": {Rates: []llm.TokenPriceRate{{Input: 4 * nexus.Dollar}}},
		"anthropic/claude-opus-5": {Rates: []llm.TokenPriceRate{{Input: 6 * nexus.Dollar}}},
	})
	read := 0
	cheap := llm.ModelTableEntry{Context: 7, Dated: "2026-11-30", Rates: []llm.TokenPriceRate{{Input: 1}}}
	p.SetFallback(func() map[string]llm.ModelTableEntry {
		read++
		return map[string]llm.ModelTableEntry{
			"mine/x": cheap, "own/y": cheap, "anthropic/claude-opus-5": cheap, "anthropic/claude-opus-5-5": cheap, "new/z": cheap,
			"broken": cheap, "new/broken": {Rates: []llm.TokenPriceRate{{Input: -1}}},
		}
	})
	if _, _ = p.FindModel("anthropic/claude-opus-5-5"); read != 0 {
		t.Error("the list is read for a model of the table")
	}
	for name, want := range map[string]struct {
		source llm.PriceSource
		input  nexus.Money
	}{
		"mine/x": {llm.PriceFromConfig, 3 * nexus.Dollar}, "own/y": {llm.PriceFromConfig, 4 * nexus.Dollar}, "anthropic/claude-opus-5": {llm.PriceFromConfig, 6 * nexus.Dollar},
		"anthropic/claude-opus-5-5": {llm.PriceCurated, 4 * nexus.Dollar}, "new/z": {llm.PriceRefreshed, 1},
	} {
		l, _ := p.FindModel(name)
		if r, ok := p.RateAt(name, "", 1, at); !ok || r.Input != want.input || l.Source != want.source {
			t.Errorf("%s: %s of %s", name, r.Input, l.Source)
		}
	}
	if l, _ := p.FindModel("anthropic/claude-opus-5"); l.Context != 1_000_000 {
		t.Errorf("a price of one's own takes away what the table knows besides: %+v", l)
	}
	for _, name := range []string{"new/broken", "new/other", "broken"} {
		if _, ok := p.PriceOnUsualTerms(name, nexus.Usage{Input: 1}, at); ok {
			t.Errorf("%s has a price", name)
		}
	}
	if read != 1 {
		t.Errorf("the list was read %d times", read)
	}
}

// TestASetPriceLeavesTheRest sets the price of models that the table, and a
// public list, know more of.
func TestASetPriceLeavesTheRest(t *testing.T) {
	set := llm.ModelTableEntry{Rates: []llm.TokenPriceRate{{Input: 7 * nexus.Dollar}}}
	p, err := llm.LoadPrices(map[string]llm.ModelTableEntry{"anthropic/claude-haiku-5-5": set, "far/model": set, "new/*": set, "own/model": {Context: 5, Rates: set.Rates}})
	if err != nil {
		t.Fatal(err)
	}
	public := llm.ModelTableEntry{Context: 64_000, Output: 8_000, Rates: []llm.TokenPriceRate{{Input: nexus.Dollar}}}
	p.SetFallback(func() map[string]llm.ModelTableEntry {
		return map[string]llm.ModelTableEntry{"anthropic/claude-haiku-5-5": public, "far/model": public, "new/model": public, "own/model": public}
	})
	plain, err := llm.LoadPrices(nil)
	if err != nil {
		t.Fatal(err)
	}
	curated, _ := plain.FindModel("anthropic/claude-haiku-5-5")
	for name, want := range map[string][2]int64{
		"anthropic/claude-haiku-5-5": {curated.Context, curated.Output},
		"far/model":                  {64_000, 8_000}, "new/model": {64_000, 8_000}, "new/other": {0, 0}, "own/model": {5, 8_000},
	} {
		l, ok := p.FindModel(name)
		if !ok || l.Context != want[0] || l.Output != want[1] || l.Rates[0].Input != 7*nexus.Dollar || l.Source != llm.PriceFromConfig {
			t.Errorf("%s: %+v, want %v", name, l, want)
		}
	}
}
