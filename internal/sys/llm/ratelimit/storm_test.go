package ratelimit_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/gemini"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/responses"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

const key = "sk-test-0123456789"

// wires are the ways to ask, with the rules of each.
func wires() map[string]func(h *http.Client) (llm.Model, ratelimit.CallCountingRules) {
	const url = "http://inside.invalid"
	return map[string]func(h *http.Client) (llm.Model, ratelimit.CallCountingRules){
		"anthropic": func(h *http.Client) (llm.Model, ratelimit.CallCountingRules) {
			return anthropic.NewProvider(anthropic.Config{Key: key, BaseURL: url, HTTP: h}), ratelimit.CountingRulesOf("anthropic", true)
		},
		"responses": func(h *http.Client) (llm.Model, ratelimit.CallCountingRules) {
			return responses.NewProvider(responses.Config{Key: key, BaseURL: url + "/v1", HTTP: h}), ratelimit.CountingRulesOf("responses", true)
		},
		"chat": func(h *http.Client) (llm.Model, ratelimit.CallCountingRules) {
			return openai.NewProvider(openai.Config{Key: key, BaseURL: url + "/v1", HTTP: h}), ratelimit.CountingRulesOf("openai", false)
		},
		"gemini": func(h *http.Client) (llm.Model, ratelimit.CallCountingRules) {
			return gemini.NewProvider(gemini.Config{Key: key, BaseURL: url, HTTP: h}), ratelimit.CountingRulesOf("gemini", true)
		},
	}
}

// concurrencyLimiter is what came of many workers that ask for as long as they may.
type concurrencyLimiter struct {
	refused int   // 429
	served  []int // answers of each worker
	all     int
}

// work lets so many workers ask an account for a while, each one call after
// the other, with a try again as the table of reactions says.
func work(t *testing.T, wire string, n int, lasts time.Duration, a llmtest.AccountLimits, limited bool) (c concurrencyLimiter) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, err := llmtest.NewServer(llmtest.Script{Account: &a, Default: &llmtest.ScriptTurn{Say: "Well, that is done.", Delay: 300 * time.Millisecond}}, llmtest.Options{Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		client, wait := conform.NewHandlerClient(server)
		model, rules := wires()[wire](client)
		if limited {
			model = ratelimit.NewAccountLimiters(time.Now).AccountFor(ratelimit.AccountKey{Kind: wire}, rules).LimitModel(model)
		}
		ctx, stop := context.WithTimeoutCause(t.Context(), lasts, errors.New("enough"))
		defer stop()
		c.served = make([]int, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() { c.served[i] = ask(ctx, t, model) })
		}
		wg.Wait()
		wait()
		for _, s := range server.Requests() {
			if s.Status == http.StatusTooManyRequests {
				c.refused++
			}
			if s.Paid {
				c.all++
			}
		}
	})
	return c
}

func ask(ctx context.Context, t *testing.T, m llm.Model) (served int) {
	t.Helper()
	for failures := 0; ctx.Err() == nil; {
		_, err := m.Stream(ctx, conform.NewRequest("c"), nil)
		if err == nil {
			served, failures = served+1, 0
			continue
		}
		e, ok := errors.AsType[*llm.ModelCallError](err)
		if !ok {
			t.Errorf("no class: %v", err)
			return served
		}
		failures++
		rest, _ := llm.CallRetryPolicy{Now: time.Now}.RetryWait(e, failures)
		select {
		case <-time.After(max(rest, time.Second)):
		case <-ctx.Done():
		}
	}
	return served
}

// TestWithinTheLimits lets 32 workers loose on accounts that allow less than
// they could use, for ten minutes: asked as fast as they like the accounts
// turn many calls down, and kept within the limits hardly any, with as many
// answers, and for every worker its share.
func TestWithinTheLimits(t *testing.T) {
	const lasts = 10 * time.Minute
	for _, c := range []struct {
		name  string
		wires []string
		llmtest.AccountLimits
		part float64 // of the calls that may be turned down
	}{
		{"requests", []string{"anthropic", "responses", "chat"}, llmtest.AccountLimits{Requests: 60}, 0},
		{"requests at the end", []string{"anthropic", "chat"}, llmtest.AccountLimits{Requests: 60, Fixed: true}, 0},
		{"few requests", []string{"responses"}, llmtest.AccountLimits{Requests: 5}, 0},
		{"tokens", []string{"responses", "chat"}, llmtest.AccountLimits{Tokens: 30_000}, 0},
		{"input and output", []string{"anthropic"}, llmtest.AccountLimits{Tokens: 12_000, Output: 1000}, 0.1},
		{"concurrency", []string{"anthropic", "chat", "gemini"}, llmtest.AccountLimits{Concurrency: 8}, 0.03},
		{"unsaid", []string{"gemini"}, llmtest.AccountLimits{Requests: 60}, 1},
		{"silent", []string{"chat"}, llmtest.AccountLimits{Requests: 60, Silent: true}, 1},
	} {
		if testenv.IsRaceEnabled() {
			c.wires = c.wires[:1] // without it, all are
		}
		for _, wire := range c.wires {
			t.Run(c.name+"/"+wire, func(t *testing.T) {
				loose := work(t, wire, 32, lasts, c.AccountLimits, false)
				kept := work(t, wire, 32, lasts, c.AccountLimits, true)
				t.Logf("asked at will: %d answers, %d refused; kept: %d answers, %d refused, %d to %d for each",
					loose.all, loose.refused, kept.all, kept.refused, slices.Min(kept.served), slices.Max(kept.served))
				if loose.refused < 100 {
					t.Errorf("the account refused %d calls, which shows nothing", loose.refused)
				}
				if most := c.part * float64(kept.all); float64(kept.refused) > most {
					t.Errorf("%d calls were refused, more than %.0f", kept.refused, most)
				}
				if 10*kept.all < 9*loose.all {
					t.Errorf("%d answers, and %d were allowed", kept.all, loose.all)
				}
				if fair := kept.all / len(kept.served); 2*slices.Min(kept.served) < fair && fair > 2 && c.part < 1 { // else who is turned down is the account's choice
					t.Errorf("one worker had %d answers, with %d a fair share", slices.Min(kept.served), fair)
				}
			})
		}
	}
}
