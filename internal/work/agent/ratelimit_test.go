package agent_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// short is a provider whose account allows one request, and then another one
// after a while.
type short struct {
	busy
	reset string
}

func (m *short) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	h := http.Header{}
	h.Set("X-Ratelimit-Limit-Requests", "1")
	h.Set("X-Ratelimit-Remaining-Requests", "0")
	h.Set("X-Ratelimit-Reset-Requests", m.reset)
	llm.ReportHeaders(ctx, http.StatusOK, h)
	return m.busy.Stream(ctx, r, heard)
}

// spend makes a call of an account that leaves nothing for the next one.
func spend(ctx context.Context, t *testing.T, reset string) *ratelimit.AccountLimitedModel {
	t.Helper()
	m := ratelimit.NewAccountLimiters(time.Now).AccountFor(ratelimit.AccountKey{}, ratelimit.CallCountingRules{Shared: true}).LimitModel(&short{reset: reset})
	if _, err := m.Stream(ctx, llm.Request{Model: "b", MaxTokens: 1}, nil); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestNoMoneyInLine lets a session wait until its account allows a call: what
// it had set aside is given back before, and the wait is told.
func TestNoMoneyInLine(t *testing.T) {
	b := newBench(t, nexus.Coder, llmtest.Script{})
	b.brief.Limits.SessionTime = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		b.model = spend(t.Context(), t, "40s")
		start := time.Now()
		b.brief.Model = "a/b"
		out, err := b.run(t.Context())
		if err != nil || out.Outcome != nexus.Accepted || time.Since(start) != 40*time.Second {
			t.Fatalf("%+v after %s: %v", out, time.Since(start), err)
		}
	})
	settled(t, b)
	open, kinds := 0, []string{}
	for _, f := range b.desk.RecordedFacts() {
		switch f := f.(type) {
		case nexus.BudgetReserved:
			open++
		case nexus.BudgetSettled:
			open--
			if len(kinds) == 1 && (f.Money != 0 || f.Estimated || f.Usage != (nexus.Usage{})) {
				t.Errorf("a call that was not made costs %+v", f)
			}
		case nexus.ModelCallDelayed:
			if open > 0 || f.Try != 0 || f.Wait != 40*time.Second || f.Said != "0 of 1 requests are left" {
				t.Errorf("%+v with %d reservations", f, open)
			}
		default:
			continue
		}
		kinds = append(kinds, nexus.FactKind(f))
	}
	if len(kinds) != 5 || kinds[2] != "call.delayed" {
		t.Errorf("recorded %v", kinds)
	}
}

// TestDearerMeanwhile has a call that may cost more once it may be made: prices rose
// during the wait, or a person said something that makes the request longer.
func TestDearerMeanwhile(t *testing.T) {
	for name, c := range map[string]struct {
		rise     nexus.Money
		say      string
		unpriced bool // tokens are set aside instead
		want     int  // reservations
	}{
		"the same":         {want: 1},
		"cheaper":          {rise: -1, want: 1},
		"the price rose":   {rise: 1, want: 2},
		"a longer request": {say: "Mind the gap.", want: 2},
		"more tokens":      {say: "Mind the gap.", unpriced: true, want: 2},
		"the same tokens":  {unpriced: true, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nexus.Coder, script(done()))
			price := nexus.Money(2)
			b.brief.Worst = func(r llm.Request) nexus.Money { return price * nexus.Money(llm.EstimateRequest(r)) }
			if c.unpriced {
				b.brief.Worst, b.brief.Tokens = nil, llm.EstimateRequest
			}
			b.desk.Leave = func(n int) error {
				if n == 1 {
					price += c.rise
				}
				return nil
			}
			if c.say != "" {
				b.desk.Guidance = []agent.Guidance{{Seq: 9, Text: c.say}}
			}
			b.must(t)
			settled(t, b)
			var reserved []nexus.BudgetReserved
			for _, f := range b.desk.RecordedFacts() {
				switch f := f.(type) {
				case nexus.BudgetReserved:
					reserved = append(reserved, f)
				case nexus.BudgetSettled:
					if given := len(reserved) < c.want; given && f != (nexus.BudgetSettled{ID: reserved[0].ID}) || !given && f.Usage == (nexus.Usage{}) {
						t.Errorf("%d reserved, spent %+v", len(reserved), f)
					}
				default:
				}
			}
			if len(reserved) != c.want || len(b.server.Requests()) != 1 {
				t.Fatalf("%d reservations, %d requests", len(reserved), len(b.server.Requests()))
			}
			if first, last := reserved[0], reserved[len(reserved)-1]; c.want > 1 && last.Money+nexus.Money(last.Tokens) <= first.Money+nexus.Money(first.Tokens) {
				t.Errorf("set aside %+v, then %+v", first, last)
			}
		})
	}
}

// TestStopInLine lets the run drain while a session waits in line.
func TestStopInLine(t *testing.T) {
	b := newBench(t, nexus.Coder, llmtest.Script{})
	synctest.Test(t, func(t *testing.T) {
		b.model = spend(t.Context(), t, "40s")
		why := errors.New("the run drains")
		stop, cancel := context.WithCancelCause(t.Context())
		start := time.Now()
		time.AfterFunc(10*time.Second, func() { cancel(why) })
		b.brief.Spare = func(context.Context) (context.Context, context.CancelFunc) { return stop, func() {} }
		if _, err := b.run(t.Context()); !errors.Is(err, why) || time.Since(start) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
	settled(t, b)
}

// TestWallIsAFact lets headers say that nothing is left for an hour: that is
// recorded before the provider has turned anything down, and the desk is asked.
func TestWallIsAFact(t *testing.T) {
	b := newBench(t, nexus.Coder, llmtest.Script{})
	synctest.Test(t, func(t *testing.T) {
		b.brief.Now = time.Now
		start := time.Now()
		m := &short{reset: "1h0m0s"}
		b.model = ratelimit.NewAccountLimiters(time.Now).AccountFor(ratelimit.AccountKey{}, ratelimit.CallCountingRules{Shared: true}).LimitModel(m)
		_, _ = b.model.Stream(t.Context(), llm.Request{Model: "b", MaxTokens: 1}, nil)
		asked := 0
		b.desk.Leave = func(int) error {
			if asked++; asked == 2 { // the desk holds it until then
				time.Sleep(time.Until(start.Add(time.Hour)))
			}
			return nil
		}
		out, err := b.run(t.Context())
		if err != nil || out.Outcome != nexus.Accepted || m.calls != 2 {
			t.Fatalf("%+v, %d calls: %v", out, m.calls, err)
		}
		hits := 0
		for _, f := range b.desk.RecordedFacts() {
			if f, ok := f.(nexus.QuotaExhausted); ok {
				hits++
				if until := f.Until.Sub(start); until < 2*time.Minute || until > time.Hour+time.Second {
					t.Errorf("%+v: until %s", f, until)
				}
			}
		}
		if hits != 1 {
			t.Errorf("%d facts", hits)
		}
	})
	settled(t, b)
}
