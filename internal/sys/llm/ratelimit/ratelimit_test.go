package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
)

// provider is a model with a say in what becomes of each call. Its answers
// begin after a second and take four more.
type provider struct {
	say func(n int) (status int, h http.Header, err error)

	mu    sync.Mutex // guards what follows
	calls []time.Time
	in    int
	peak  int
}

func (p *provider) Stream(ctx context.Context, _ llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	p.mu.Lock()
	p.calls = append(p.calls, time.Now())
	n := len(p.calls)
	p.in++
	p.peak = max(p.peak, p.in)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.in--
	}()
	time.Sleep(time.Second)
	status, h, err := p.say(n)
	llm.ReportHeaders(ctx, status, h)
	if err != nil {
		return llm.Response{}, err
	}
	time.Sleep(4 * time.Second)
	return llm.Response{Usage: nexus.Usage{Input: 100, Output: 10}}, ctx.Err()
}

func fine(int) (int, http.Header, error) { return http.StatusOK, nil, nil }

func headers(lines ...string) http.Header {
	h := http.Header{}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	return h
}

func request() llm.Request {
	return llm.Request{Model: "m", MaxTokens: 100, Messages: []llm.Message{llm.UserMessage("Do it.")}}
}

func keep(m llm.Model, kind string) *ratelimit.AccountLimitedModel {
	return ratelimit.NewAccountLimiters(time.Now).AccountFor(ratelimit.AccountKey{Kind: kind}, ratelimit.CountingRulesOf(kind, true)).LimitModel(m)
}

// rush makes n calls at once and returns what became of them.
func rush(ctx context.Context, m llm.Model, n int) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = m.Stream(ctx, request(), nil) })
	}
	wg.Wait()
	return errs
}

// TestSlowStart lets a window of an hour be used up: nobody asks until it
// ends, and after that the calls go one by one at first, and all of them soon.
func TestSlowStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ends := begin.Add(time.Hour)
		p := &provider{say: func(int) (int, http.Header, error) {
			if time.Now().After(ends) {
				return http.StatusOK, nil, nil
			}
			return http.StatusTooManyRequests, nil, &llm.ModelCallError{Class: llm.Quota, Empty: true, After: fmt.Sprint(time.Until(ends).Seconds()), Cause: errors.New("used up")}
		}}
		m := keep(p, "anthropic")
		late := 0
		for _, err := range rush(t.Context(), m, 32) {
			if e, ok := errors.AsType[*llm.ModelCallError](err); ok && e.Class == llm.Quota && e.Empty {
				if wait, ok := e.RetryWait(time.Now()); ok && wait > 59*time.Minute {
					late++
				}
			}
		}
		if late != 32 || len(p.calls) != 4 {
			t.Fatalf("%d calls were made and %d of 32 told when to come back", len(p.calls), late)
		}
		time.Sleep(time.Until(ends)) // as the desk lets them wait
		p.calls, p.peak = nil, 0
		for _, err := range rush(t.Context(), m, 32) {
			if err != nil {
				t.Error(err)
			}
		}
		if first := p.calls[0].Sub(ends); first > time.Minute {
			t.Errorf("the first call came %s after the reset", first)
		}
		for i, most := range []int{1, 3, 4, 5, 7, 9, 13} { // begun within so many seconds
			n := 0
			for _, at := range p.calls {
				if at.Sub(ends) < time.Duration(i)*time.Second+time.Second {
					n++
				}
			}
			if n > most {
				t.Errorf("%d calls in the first %d seconds", n, i+1)
			}
		}
		if last := p.calls[31].Sub(ends); last > 2*time.Minute {
			t.Errorf("the last of 32 calls came after %s", last)
		}
	})
}

// TestPauseBeforeTheWall lets headers of successes say that little is left.
func TestPauseBeforeTheWall(t *testing.T) {
	for name, c := range map[string]struct {
		kind    string
		headers []string
		want    time.Duration // until the second call goes
		late    time.Duration // or until when it is told to come back
	}{
		"no requests":     {kind: "anthropic", headers: []string{"anthropic-ratelimit-requests-limit: 50", "anthropic-ratelimit-requests-remaining: 0", "anthropic-ratelimit-requests-reset: 2000-01-01T00:00:31Z"}, want: 26 * time.Second},
		"one request":     {kind: "anthropic", headers: []string{"anthropic-ratelimit-requests-limit: 50", "anthropic-ratelimit-requests-remaining: 1", "anthropic-ratelimit-requests-reset: 2000-01-01T00:00:31Z"}},
		"few tokens":      {kind: "responses", headers: []string{"x-ratelimit-limit-tokens: 30000", "x-ratelimit-remaining-tokens: 120", "x-ratelimit-reset-tokens: 59.76s"}, want: 59*time.Second + 760*time.Millisecond - 4*time.Second},
		"enough tokens":   {kind: "responses", headers: []string{"x-ratelimit-limit-tokens: 30000", "x-ratelimit-remaining-tokens: 250", "x-ratelimit-reset-tokens: 59.5s"}},
		"output counts":   {kind: "anthropic", headers: []string{"anthropic-ratelimit-output-tokens-limit: 8000", "anthropic-ratelimit-output-tokens-remaining: 5", "anthropic-ratelimit-output-tokens-reset: 2000-01-01T00:00:20Z"}, want: 15 * time.Second},
		"priority apart":  {kind: "anthropic", headers: []string{"anthropic-priority-input-tokens-remaining: 0", "anthropic-ratelimit-priority-input-tokens-remaining: 0", "anthropic-ratelimit-priority-input-tokens-reset: 2000-01-01T01:00:00Z"}},
		"no end":          {kind: "openai", headers: []string{"x-ratelimit-remaining-requests: 0"}},
		"no limit":        {kind: "openai", headers: []string{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 10"}, want: 6 * time.Second},
		"too large":       {kind: "openai", headers: []string{"x-ratelimit-limit-tokens: 50", "x-ratelimit-remaining-tokens: 20", "x-ratelimit-reset-tokens: 36s"}, want: 32 * time.Second},
		"far":             {kind: "openai", headers: []string{"x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1h0m0s"}, late: time.Hour - 4*time.Second},
		"far, and steady": {kind: "openai", headers: []string{"x-ratelimit-limit-requests: 200", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 4h0m0s"}, want: 72*time.Second - 4*time.Second + time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &provider{say: func(n int) (int, http.Header, error) {
					if n > 1 {
						return fine(n)
					}
					return http.StatusOK, headers(c.headers...), nil
				}}
				m := keep(p, c.kind)
				if _, err := m.Stream(t.Context(), request(), nil); err != nil {
					t.Fatal(err)
				}
				at := time.Now()
				var told []ratelimit.CallWait
				pass, err := m.WaitPermit(t.Context(), request(), func(h ratelimit.CallWait) error { told = append(told, h); return nil })
				if c.late > 0 {
					e, ok := errors.AsType[*llm.ModelCallError](err)
					wait, _ := e.RetryWait(time.Now())
					if !ok || e.Class != llm.Quota || !e.Empty || wait != c.late || time.Since(at) != 0 {
						t.Errorf("%v: %s after %s", err, wait, time.Since(at))
					}
					return
				}
				if err != nil || time.Since(at) != c.want {
					t.Fatalf("after %s: %v", time.Since(at), err)
				}
				if (len(told) == 1) != (c.want > 0) || c.want > 0 && (told[0].Wait != c.want || told[0].Why == "") {
					t.Errorf("told %+v", told)
				}
				pass.Release()
				pass.Release() // does no harm
			})
		})
	}
}

// TestModelsApart has windows for each model, and one limit of calls at once
// for all.
func TestModelsApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{say: func(int) (int, http.Header, error) {
			return http.StatusOK, headers("x-ratelimit-limit-requests: 9", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1m0s"), nil
		}}
		other := request()
		other.Model = "other"
		for kind, alone := range map[string]bool{"responses": true, "compatible": false} {
			a := ratelimit.NewAccountLimiters(time.Now).AccountFor(ratelimit.AccountKey{Kind: kind}, ratelimit.CountingRulesOf(kind, false))
			m := a.LimitModel(p)
			if _, err := m.Stream(t.Context(), request(), nil); err != nil {
				t.Fatal(err)
			}
			if pass := m.TryPermit(request()); pass != nil {
				t.Error("there is leave where nothing is left")
			}
			if pass := a.LimitModel(p).TryPermit(other); (pass != nil) != alone {
				t.Errorf("%s: another model has leave: %v", kind, pass != nil)
			}
		}
	})
}

// TestOverloadHalves lets a provider be overloaded by more than eight calls,
// then by none: the crowd settles at eight, and grows again when it may.
func TestOverloadHalves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var room int
		p := &provider{}
		failed := 0
		p.say = func(int) (int, http.Header, error) {
			p.mu.Lock()
			defer p.mu.Unlock()
			if room > 0 && p.in > room {
				failed++
				return 529, nil, &llm.ModelCallError{Class: llm.Overload, Status: 529, Cause: errors.New("overloaded")}
			}
			return http.StatusOK, nil, nil
		}
		m := keep(p, "anthropic")
		phase := func(now int, lasts time.Duration) (peak, errs, calls int) {
			p.mu.Lock()
			room, failed, p.peak, p.calls = now, 0, 0, nil
			p.mu.Unlock()
			ctx, stop := context.WithTimeoutCause(t.Context(), lasts, errors.New("enough"))
			defer stop()
			var wg sync.WaitGroup
			for range 32 {
				wg.Go(func() {
					for ctx.Err() == nil {
						if _, err := m.Stream(ctx, request(), nil); err != nil && ctx.Err() == nil {
							time.Sleep(time.Second)
						}
					}
				})
			}
			wg.Wait()
			return p.peak, failed, len(p.calls)
		}
		if peak, errs, _ := phase(0, 5*time.Minute); peak != 32 || errs > 0 {
			t.Errorf("%d calls at once without a limit, %d failures", peak, errs)
		}
		_, errs, calls := phase(8, 30*time.Minute)
		if allowed := 30 * 60 / 5 * 8; calls-errs < allowed*9/10 || errs > calls/20 {
			t.Errorf("%d of %d calls failed, and %d were allowed", errs, calls, allowed)
		}
		if peak, errs, _ := phase(0, 15*time.Minute); peak < 24 || errs > 0 {
			t.Errorf("%d calls at once after it recovered, %d failures", peak, errs)
		}
	})
}

// TestWaitsAreCancelled ends waits in line: who waits leaves it at once, and
// those behind continue.
func TestWaitsAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &provider{say: func(n int) (int, http.Header, error) {
			return http.StatusOK, headers("x-ratelimit-limit-requests: 1", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 20s"), nil
		}}
		m := keep(p, "openai")
		if _, err := m.Stream(t.Context(), request(), nil); err != nil {
			t.Fatal(err)
		}
		why, start := errors.New("gone"), time.Now()
		ctx, stop := context.WithTimeoutCause(t.Context(), 3*time.Second, why)
		defer stop()
		errs := make(chan error, 2)
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := m.WaitPermit(ctx, request(), nil)
			errs <- err
		})
		synctest.Wait()
		wg.Go(func() { _, _ = m.Stream(t.Context(), request(), nil) })
		if err := <-errs; !errors.Is(err, why) || time.Since(start) != 3*time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		wg.Wait()
		if len(p.calls) != 2 || p.calls[1].Sub(start) != 16*time.Second {
			t.Errorf("calls at %v", p.calls)
		}
		held := errors.New("the journal is full")
		if _, err := m.WaitPermit(t.Context(), request(), func(ratelimit.CallWait) error { return held }); !errors.Is(err, held) {
			t.Errorf("%v", err)
		}
		if pass := m.TryPermit(request()); pass != nil {
			t.Error("nothing is left, and there is leave")
		}
	})
}

// TestOneAccount shares limits between providers of the same key, and keeps
// the key to itself.
func TestOneAccount(t *testing.T) {
	all := ratelimit.NewAccountLimiters(time.Now)
	name := ratelimit.AccountKey{Kind: "anthropic", Base: "http://x", Key: ratelimit.HashKey("sk-secret")}
	a := all.AccountFor(name, ratelimit.CallCountingRules{})
	if b := all.AccountFor(ratelimit.AccountKey{Kind: "anthropic", Base: "http://x", Key: ratelimit.HashKey("sk-secret")}, ratelimit.CallCountingRules{}); a != b {
		t.Error("the same key has two accounts")
	}
	if b := all.AccountFor(ratelimit.AccountKey{Kind: "anthropic", Base: "http://x", Key: ratelimit.HashKey("sk-other")}, ratelimit.CallCountingRules{}); a == b {
		t.Error("two keys have one account")
	}
	if strings.Contains(fmt.Sprintf("%+v", name), "secret") || ratelimit.HashKey("") != "" {
		t.Errorf("%+v", name)
	}
}

// FuzzTold lets a server tell anything: a call is let in, or told to come
// back, and no account is closed for good.
func FuzzTold(f *testing.F) {
	f.Add("requests", "0", "10", "20s", "tokens", "-1", "5", "2000-01-01T00:00:31Z")
	f.Add("requests", "9999999999999999", "0", "1795262430", "input-tokens", "3", "2", "0")
	f.Fuzz(func(t *testing.T, n1, left1, limit1, reset1, n2, left2, limit2, reset2 string) {
		synctest.Test(t, func(t *testing.T) {
			h := http.Header{}
			for _, x := range [][4]string{{n1, left1, limit1, reset1}, {n2, left2, limit2, reset2}} {
				h["X-Ratelimit-Remaining-"+x[0]], h["X-Ratelimit-Limit-"+x[0]], h["X-Ratelimit-Reset-"+x[0]] = []string{x[1]}, []string{x[2]}, []string{x[3]}
			}
			p := &provider{say: func(n int) (int, http.Header, error) {
				if n > 2 {
					return fine(n)
				}
				return http.StatusOK, h, nil
			}}
			m := keep(p, "openai")
			_, _ = m.Stream(t.Context(), request(), nil)
			for range 3 {
				_, err := m.Stream(t.Context(), request(), nil)
				e, ok := errors.AsType[*llm.ModelCallError](err)
				if !ok {
					continue
				}
				wait, ok := e.RetryWait(time.Now())
				if !ok || e.Class != llm.Quota || wait <= time.Minute || wait > 32*24*time.Hour {
					t.Fatalf("%v: %s", err, wait)
				}
				time.Sleep(wait)
				if _, err := m.Stream(t.Context(), request(), nil); err != nil && len(p.calls) > 2 {
					t.Fatalf("after %s: %v", wait, err)
				}
			}
		})
	})
}

// BenchmarkCall measures what the limiter adds to a call, with 64 goroutines
// that share an account.
func BenchmarkCall(b *testing.B) {
	for name, h := range map[string]http.Header{"silent": nil, "windows": headers(
		"anthropic-ratelimit-requests-limit: 1000000000", "anthropic-ratelimit-requests-remaining: 999999999", "anthropic-ratelimit-requests-reset: 2030-01-01T00:00:00Z",
		"anthropic-ratelimit-input-tokens-limit: 100000000000", "anthropic-ratelimit-input-tokens-remaining: 99999999999", "anthropic-ratelimit-input-tokens-reset: 2030-01-01T00:00:00Z",
	)} {
		b.Run(name, func(b *testing.B) {
			m := keep(teller{h}, "anthropic")
			b.ReportAllocs()
			b.SetParallelism(64 / runtime.GOMAXPROCS(0))
			r := request()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := m.Stream(b.Context(), r, nil); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

type teller struct{ h http.Header }

func (t teller) Stream(ctx context.Context, _ llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	llm.ReportHeaders(ctx, http.StatusOK, t.h)
	return llm.Response{}, nil
}

// TestAnAbsurdPauseEnds: a provider that asks for three thousand years is asked again a day
// later, and people hear why nobody asks until then.
func TestAnAbsurdPauseEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := true
		p := &provider{say: func(int) (int, http.Header, error) {
			if !broken {
				return http.StatusOK, nil, nil
			}
			return http.StatusTooManyRequests, nil, &llm.ModelCallError{Class: llm.Quota, After: "100000000000000000000", Cause: errors.New("slow down")}
		}}
		m := keep(p, "openai")
		rush(t.Context(), m, 1)
		broken = false
		for _, err := range rush(t.Context(), m, 1) {
			if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || !strings.Contains(e.Error(), "which Nexus keeps for at most 24h") {
				t.Errorf("%v", err)
			}
		}
		time.Sleep(llm.LongestPause)
		for _, err := range rush(t.Context(), m, 1) {
			if err != nil {
				t.Error(err)
			}
		}
	})
}
