package llm_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   llm.CallFailureClass
		code   string
	}{
		{"anthropic rate", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`, llm.Quota, "rate_limit_error"},
		{"anthropic overload", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, llm.Overload, "overloaded_error"},
		{"overload without a word", 529, ``, llm.Overload, ""},
		{"anthropic overload in a stream", 0, `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`, llm.Overload, "overloaded_error"},
		{"anthropic error in a stream", 200, `{"type":"error","error":{"type":"api_error","message":"x"}}`, llm.Transient, "api_error"},
		{"anthropic credit", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access"}}`, llm.Billing, "invalid_request_error"},
		{"anthropic long", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213 tokens > 200 maximum"}}`, llm.Context, "invalid_request_error"},
		{"anthropic with max_tokens", 400, `{"error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 1 + 2 > 2"}}`, llm.Context, "invalid_request_error"},
		{"anthropic wrong", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"messages: required"}}`, llm.Invalid, "invalid_request_error"},
		{"anthropic huge", 413, `{"type":"error","error":{"type":"request_too_large","message":"x"}}`, llm.Context, "request_too_large"},
		{"anthropic key", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`, llm.Auth, "authentication_error"},
		{"forbidden", 403, `{"type":"error","error":{"type":"permission_error","message":"no"}}`, llm.Auth, "permission_error"},
		{"no model", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: x"}}`, llm.Invalid, "not_found_error"},
		{"openai rate", 429, `{"error":{"message":"Rate limit reached","type":"tokens","code":"rate_limit_exceeded"}}`, llm.Quota, "rate_limit_exceeded"},
		{"openai quota", 429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, llm.Billing, "insufficient_quota"},
		{"openai overloaded", 429, `{"error":{"message":"The engine is currently overloaded","type":"server_error","code":null}}`, llm.Overload, "server_error"},
		{"openai long", 400, `{"error":{"message":"too much","type":"invalid_request_error","code":"context_length_exceeded"}}`, llm.Context, "context_length_exceeded"},
		{"openai policy", 400, `{"error":{"message":"no","type":"invalid_request_error","code":"content_policy_violation"}}`, llm.Safety, "content_policy_violation"},
		{"openai server", 500, `{"error":{"message":"oops","type":"server_error"}}`, llm.Transient, "server_error"},
		{"openrouter in a stream", 0, `{"error":{"code":502,"message":"provider went away"},"choices":[]}`, llm.Transient, "502"},
		{"openrouter credits", 402, `{"error":{"code":402,"message":"Insufficient credits"}}`, llm.Billing, "402"},
		{"openrouter rate in a stream", 200, `{"error":{"code":429,"message":"slow"}}`, llm.Quota, "429"},
		{"google", 429, `[{"error":{"code":429,"message":"Resource exhausted, check billing","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34s"}]}}]`, llm.Quota, "429"},
		{"google key", 400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, llm.Auth, "400"},
		{"google forbids", 403, `{"error":{"code":403,"message":"no","status":"PERMISSION_DENIED"}}`, llm.Auth, "403"},
		{"google billing", 403, `{"error":{"code":403,"message":"x","status":"PERMISSION_DENIED","details":[{"reason":"BILLING_DISABLED"}]}}`, llm.Billing, "403"},
		{"google prepaid", 429, `{"error":{"code":429,"message":"Your prepayment credits are depleted.","status":"RESOURCE_EXHAUSTED"}}`, llm.Billing, "429"},
		{"google long", 400, `{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed","status":"INVALID_ARGUMENT"}}`, llm.Context, "400"},
		{"google overload in a stream", 0, `{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}`, llm.Overload, "503"},
		{"google wrong", 400, `{"error":{"code":400,"message":"Function call is missing a thought_signature","status":"INVALID_ARGUMENT"}}`, llm.Invalid, "400"},
		{"anthropic filter", 400, `{"error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}`, llm.Safety, "invalid_request_error"},
		{"ollama", 400, `{"error":"invalid model name"}`, llm.Invalid, ""},
		{"fastapi", 422, `{"detail":[{"loc":["body"],"msg":"field required"}]}`, llm.Invalid, ""},
		{"llama.cpp long", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`, llm.Context, "400"},
		{"llama.cpp loading", 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, llm.Overload, "503"},
		{"proxy", 502, `<html><body>Bad Gateway</body></html>`, llm.Transient, ""},
		{"plain", 500, `it broke`, llm.Transient, ""},
		{"redirect", 302, ``, llm.Invalid, ""},
		{"timeout", 408, ``, llm.Transient, ""},
		{"closed", 499, ``, llm.Transient, ""},
		{"google cancelled", 499, `{"error":{"code":499,"message":"The operation was cancelled.","status":"CANCELLED"}}`, llm.Transient, "499"},
		{"google cancelled in a stream", 0, `{"error":{"code":499,"message":"The operation was cancelled.","status":"CANCELLED"}}`, llm.Transient, "499"},
		{"nothing", 0, ``, llm.Transient, ""},
	} {
		e := llm.ClassifyFailure(c.status, nil, []byte(c.body))
		if e.Class != c.want || e.Code != c.code || e.Cause.Error() == "" {
			t.Errorf("%s: got %s %q (%v), want %s %q", c.name, e.Class, e.Code, e, c.want, c.code)
		}
		if e.Code == "429" && c.name == "google" && e.After != "34s" {
			t.Errorf("%s: after %q", c.name, e.After)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(429, []byte(`{"error":{"code":1e300,"message":"x"}}`))
	f.Add(0, []byte(`[[]]`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := llm.ClassifyFailure(status, nil, body)
		if e.Class == "" || e.Error() == "" || len(e.Error()) > 3000 {
			t.Errorf("%+v", e)
		}
	})
}

func TestWait(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for after, want := range map[string]time.Duration{
		"3": 3 * time.Second, "0.25": 250 * time.Millisecond, "34s": 34 * time.Second,
		"Sat, 21 Nov 2026 12:00:30 GMT": 30 * time.Second, "Sat, 21 Nov 2026 11:00:00 GMT": 0,
		"": -1, "soon": -1, "-5": -1, "NaN": -1, "1e300": -1,
	} {
		got, ok := (&llm.ModelCallError{After: after}).RetryWait(now)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: got %s %t, want %s", after, got, ok, want)
		}
	}
	e := llm.ClassifyFailure(429, http.Header{"Retry-After-Ms": {"250"}, "Retry-After": {"1"}}, nil)
	if e.After != "0.25" {
		t.Errorf("after %q", e.After)
	}
}

func TestSplit(t *testing.T) {
	for name, want := range map[string][2]string{
		"anthropic/claude-opus-5-5": {"anthropic", "claude-opus-5-5"}, "openrouter/a/b": {"openrouter", "a/b"},
	} {
		if p, m, ok := llm.SplitModelName(name); !ok || p != want[0] || m != want[1] {
			t.Errorf("%s: %q %q %t", name, p, m, ok)
		}
	}
	for _, name := range []string{"", "x", "/x", "x/"} {
		if _, _, ok := llm.SplitModelName(name); ok {
			t.Errorf("%q is taken for a model", name)
		}
	}
}

// TestPolicy asks how long to wait after each of many failures of one class.
func TestPolicy(t *testing.T) {
	s := time.Second
	minute := make([]time.Duration, 19)
	for i := range minute {
		minute[i] = min(s<<i, time.Minute)
	}
	for name, c := range map[string]struct {
		class llm.CallFailureClass
		after string
		p     llm.CallRetryPolicy

		status int
		cause  error
		waits  []time.Duration // for as long as there is another try
	}{
		"passing":      {class: llm.Transient, waits: []time.Duration{s, 2 * s, 4 * s}},
		"capped":       {class: llm.Transient, p: llm.CallRetryPolicy{Most: 2 * s, Tries: 5}, waits: []time.Duration{s, 2 * s, 2 * s, 2 * s}},
		"jitter":       {class: llm.Transient, p: llm.CallRetryPolicy{Jitter: func() float64 { return 0.5 }, Tries: 2}, waits: []time.Duration{3 * s / 4}},
		"asked":        {class: llm.Transient, after: "20", p: llm.CallRetryPolicy{Tries: 2}, waits: []time.Duration{20 * s}},
		"asked less":   {class: llm.Transient, after: "0.1", p: llm.CallRetryPolicy{Tries: 2}, waits: []time.Duration{s}},
		"asked much":   {class: llm.Transient, after: "3600"},
		"broken":       {class: llm.Transient, status: 500, waits: []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 300 * s, 300 * s}},
		"broken, busy": {class: llm.Transient, status: 502, after: "90", waits: []time.Duration{90 * s, 90 * s, 90 * s}},
		"timed out":    {class: llm.Transient, status: 408, waits: []time.Duration{s, 2 * s, 4 * s}},
		"unreached":    {class: llm.Transient, cause: &net.OpError{Op: "dial", Err: errors.New("refused")}, waits: minute},
		"cut":          {class: llm.Transient, cause: &net.OpError{Op: "read", Err: errors.New("reset")}, waits: []time.Duration{s, 2 * s, 4 * s}},
		"overloaded":   {class: llm.Overload, waits: []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 300 * s, 300 * s}},
		"out of quota": {class: llm.Quota, after: "3600", waits: []time.Duration{3600 * s, 3600 * s, 3600 * s, 3600 * s, 3600 * s, 3600 * s}},
		"for ever":     {class: llm.Quota, after: "100000000"},
		"a date": {
			class: llm.Quota, after: "Sat, 01 Jan 2000 00:00:09 GMT",
			p: llm.CallRetryPolicy{Now: func() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }}, waits: []time.Duration{9 * s, 9 * s, 9 * s, 9 * s, 16 * s},
		},
		"billing": {class: llm.Billing}, "auth": {class: llm.Auth}, "invalid": {class: llm.Invalid},
		"context": {class: llm.Context}, "safety": {class: llm.Safety}, "fatal": {class: llm.Fatal},
	} {
		t.Run(name, func(t *testing.T) {
			e := &llm.ModelCallError{Class: c.class, After: c.after, Status: c.status, Cause: cmp.Or(c.cause, errors.New("planted"))}
			for n := 1; ; n++ {
				wait, again := c.p.RetryWait(e, n)
				patient := c.class == llm.Overload || c.status >= 500 || c.class == llm.Quota && c.after != "100000000"
				if n > len(c.waits) {
					if again != patient {
						t.Errorf("try %d: %s, %v", n, wait, again)
					}
					return
				}
				if !again || wait != c.waits[n-1] {
					t.Errorf("try %d: %s, %v", n, wait, again)
				}
			}
		})
	}
}

// TestPatienceEnds checks for how long a provider is asked again that says
// itself that it cannot answer now.
func TestPatienceEnds(t *testing.T) {
	for name, c := range map[string]struct {
		e     llm.ModelCallError
		p     llm.CallRetryPolicy
		calls int
		waits time.Duration
	}{
		"529":                      {llm.ModelCallError{Class: llm.Overload, Status: 529}, llm.CallRetryPolicy{}, 49, 8*time.Minute + 31*time.Second + 39*5*time.Minute},
		"500":                      {llm.ModelCallError{Class: llm.Transient, Status: 500}, llm.CallRetryPolicy{}, 49, 8*time.Minute + 31*time.Second + 39*5*time.Minute},
		"529 that asks for little": {llm.ModelCallError{Class: llm.Overload, After: "7"}, llm.CallRetryPolicy{}, 49, 0},
		"429 for an hour":          {llm.ModelCallError{Class: llm.Quota, After: "3600"}, llm.CallRetryPolicy{}, 25, 24 * time.Hour},
		"429 for a day":            {llm.ModelCallError{Class: llm.Quota, After: "86400"}, llm.CallRetryPolicy{}, 2, 24 * time.Hour},
		"429 for more":             {llm.ModelCallError{Class: llm.Quota, After: "86401"}, llm.CallRetryPolicy{}, 1, 0},
		"429 for ever":             {llm.ModelCallError{Class: llm.Quota, After: "99999999999999999999999"}, llm.CallRetryPolicy{}, 1, 0},
		"while somebody waits":     {llm.ModelCallError{Class: llm.Quota, After: "86400"}, llm.CallRetryPolicy{Asked: 15 * time.Minute}, 1, 0},
		"a minute, somebody waits": {llm.ModelCallError{Class: llm.Quota, After: "600"}, llm.CallRetryPolicy{Asked: 15 * time.Minute}, 2, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			c.e.Cause = errors.New("planted")
			calls, waits := 1, time.Duration(0)
			for {
				wait, again := c.p.RetryWait(&c.e, calls)
				if !again {
					break
				}
				if asked, ok := c.e.RetryWait(time.Time{}); ok && wait < asked {
					t.Fatalf("waits %s, asked for %s", wait, asked)
				}
				if calls, waits = calls+1, waits+wait; calls > 1000 {
					t.Fatal("without end")
				}
			}
			if calls != c.calls || c.waits > 0 && waits != c.waits {
				t.Errorf("%d calls in %s, want %d in %s", calls, waits, c.calls, c.waits)
			}
		})
	}
}

// TestRetryAfter reads the header as the standard of HTTP has it: digits or a
// date, and nothing else; the wait is never shorter than what was asked.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 6, 8, 49, 30, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"7": 7 * time.Second, " 7 ": 7 * time.Second, "0": 0, "0007": 7 * time.Second, "1.5": 1500 * time.Millisecond,
		"Fri, 06 Nov 2026 08:49:37 GMT": 7 * time.Second, "Friday, 06-Nov-26 08:49:37 GMT": 7 * time.Second, "Fri Nov  6 08:49:37 2026": 7 * time.Second,
		"Fri, 06 Nov 2026 08:49:00 GMT": 0, "120": 2 * time.Minute, "100000000000000": 1e9 * time.Second,
		"1e3": -1, "-7": -1, "+7": -1, "0x10": -1, "inf": -1, "NaN": -1, "1_0": -1, "7s": -1, "soon": -1, "": -1, ".": -1, "1.": -1, "7, 9": -1, "2026-11-06T08:49:37Z": -1,
	} {
		for clock, at := range map[string]time.Time{"": now, now.Format(http.TimeFormat): now.Add(time.Hour)} { // ours may be wrong where the provider tells its own
			h := http.Header{"Retry-After": {header}}
			if clock != "" {
				h.Set("Date", clock)
			}
			wait, ok := llm.ClassifyFailure(http.StatusServiceUnavailable, h, nil).RetryWait(at)
			if ok != (want >= 0) || ok && wait != want {
				t.Errorf("%q at %q: %s, %v", header, clock, wait, ok)
			}
			if d, again := (llm.CallRetryPolicy{Jitter: func() float64 { return 0 }, Now: func() time.Time { return at }}).RetryWait(llm.ClassifyFailure(http.StatusServiceUnavailable, h, nil), 1); again && d < want {
				t.Errorf("%q: the first wait is %s", header, d)
			}
		}
	}
	body := []byte(`{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"34.5s"}]}}`)
	if wait, ok := llm.ClassifyFailure(429, http.Header{"Retry-After": {"1e3"}}, body).RetryWait(now); !ok || wait != 34500*time.Millisecond {
		t.Errorf("garbage hides what the body asks for: %s", wait)
	}
	both := http.Header{"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"1s"}, "X-Ratelimit-Remaining-Tokens": {"0"}, "X-Ratelimit-Reset-Tokens": {"6m0s"}}
	if wait, ok := llm.ClassifyFailure(429, both, nil).RetryWait(now); !ok || wait != 6*time.Minute {
		t.Errorf("two windows are used up, and the wait is %s", wait)
	}
}

func prices(t *testing.T, more map[string]llm.ModelTableEntry) *llm.PriceTable {
	t.Helper()
	p, err := llm.LoadPrices(more)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPrice(t *testing.T) {
	p := prices(t, nil)
	day := func(d string) time.Time {
		at, err := time.Parse(time.RFC3339, d)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	now := day("2026-11-21T12:00:00Z")
	million := nexus.Usage{Input: 1e6, Output: 1e6, CacheRead: 1e6, CacheWrite: 1e6}
	for _, c := range []struct {
		model string
		u     nexus.Usage
		at    time.Time
		want  string
	}{
		{"anthropic/claude-opus-5-5", million, now, "29.2"},
		{"anthropic/claude-sonnet-5-5", million, now, "14.6"},
		{"anthropic/claude-sonnet-5-5", million, day("2026-10-06T23:59:59Z"), "14.7"},
		{"anthropic/claude-sonnet-5-5", million, day("2026-10-07T00:00:00Z"), "14.6"},
		{"anthropic/claude-haiku-5-5", nexus.Usage{Input: 100_000, Output: 1000}, now, "0.0105"},
		{"anthropic/claude-haiku-5-5", nexus.Usage{Input: 50_000, CacheRead: 50_000, CacheWrite: 1, Output: 1000}, now, "0.030000625"},
		{"openai/gpt-6-sol", nexus.Usage{Input: 272_000, Output: 1000}, now, "0.554"},
		{"openai/gpt-6-sol", nexus.Usage{Input: 272_001, Output: 1000}, now, "1.103004"},
		{"deepseek/deepseek-v4-flash", nexus.Usage{Input: 1e6}, day("2026-11-21T03:59:00Z"), "0.44"},
		{"deepseek/deepseek-v4-flash", nexus.Usage{Input: 1e6}, day("2026-11-21T04:00:00Z"), "0.22"},
		{"deepseek/deepseek-v4-flash", nexus.Usage{Input: 1e6}, day("2026-11-21T11:59:00+02:00"), "0.44"},
		{"deepseek/deepseek-v4-flash", nexus.Usage{CacheRead: 1}, now, "0.000000007"},
		{"gemini/gemini-3.8-flash", nexus.Usage{Input: 1e6}, day("2027-01-01T00:00:00Z"), "1.5"},
	} {
		got, ok := p.PriceOnUsualTerms(c.model, c.u, c.at)
		var want nexus.Money
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if !ok || got != want {
			t.Errorf("%s %+v: got %s %t, want %s", c.model, c.u, got, ok, want)
		}
	}
	for _, unknown := range []string{"", "claude-opus-5-5", "anthropic/claude-opus-9", "ollama/llama"} {
		if got, ok := p.PriceOnUsualTerms(unknown, million, now); ok || got != 0 {
			t.Errorf("%s costs %s", unknown, got)
		}
		if got, ok := p.WorstCost(unknown, llm.Request{MaxTokens: 10}, llm.BillingTerms{}, now); ok || got != 0 {
			t.Errorf("%s costs at most %s", unknown, got)
		}
	}
	if l, ok := p.FindModel("anthropic/claude-opus-4-5"); !ok || l.Context != 200_000 || l.Output != 128_000 {
		t.Errorf("%+v", l)
	}
}

func TestPriceOverrides(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	p := prices(t, map[string]llm.ModelTableEntry{
		"ollama/*":                  {Rates: []llm.TokenPriceRate{{}}},
		"ollama/big/*":              {Rates: []llm.TokenPriceRate{{Input: nexus.Dollar}}},
		"mine/x":                    {Context: 5},
		"anthropic/claude-opus-5-5": {Rates: []llm.TokenPriceRate{{Input: 7 * nexus.Dollar}}},
	})
	u := nexus.Usage{Input: 1e6}
	for model, want := range map[string]nexus.Money{"ollama/llama": 0, "ollama/big/x": nexus.Dollar, "anthropic/claude-opus-5-5": 7 * nexus.Dollar} {
		if got, ok := p.PriceOnUsualTerms(model, u, now); !ok || got != want {
			t.Errorf("%s: %s %t", model, got, ok)
		}
	}
	if _, ok := p.PriceOnUsualTerms("mine/x", u, now); ok {
		t.Error("a model without rates has a price")
	}
	for name, bad := range map[string]llm.ModelTableEntry{
		"x": {}, "a/neg": {Rates: []llm.TokenPriceRate{{Input: -1}}}, "a/day": {Rates: []llm.TokenPriceRate{{From: "soon"}}},
		"a/hours": {Rates: []llm.TokenPriceRate{{Hours: [][2]int{{5, 3}}}}},
	} {
		if _, err := llm.LoadPrices(map[string]llm.ModelTableEntry{name: bad}); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestWorst checks that no call of a request costs more than its worst case,
// whatever the provider counts as at most a token a byte.
func TestWorst(t *testing.T) {
	p := prices(t, nil)
	names := p.ModelNames()
	if len(names) < 20 {
		t.Fatalf("%d models", len(names))
	}
	rapid.Check(t, func(t *rapid.T) {
		model := rapid.SampledFrom(names).Draw(t, "model")
		r := llm.Request{MaxTokens: rapid.Int64Range(1, 128_000).Draw(t, "max"), System: string(make([]byte, rapid.IntRange(0, 400_000).Draw(t, "bytes")))}
		n := rapid.Int64Range(0, llm.EstimateRequest(r)).Draw(t, "prompt")
		u := nexus.Usage{Output: rapid.Int64Range(0, r.MaxTokens).Draw(t, "output")}
		u.CacheRead = rapid.Int64Range(0, n).Draw(t, "read")
		u.CacheWrite = rapid.Int64Range(0, n-u.CacheRead).Draw(t, "write")
		u.Input = n - u.CacheRead - u.CacheWrite
		if rapid.Bool().Draw(t, "fullest") {
			u = nexus.Usage{Output: r.MaxTokens, CacheWrite: llm.EstimateRequest(r)}
		}
		at := time.Unix(rapid.Int64Range(1_790_000_000, 1_830_000_000).Draw(t, "at"), 0)
		cost, ok := p.PriceOnUsualTerms(model, u, at)
		worst, known := p.WorstCost(model, r, llm.BillingTerms{}, at)
		if !ok || !known || cost > worst || cost < 0 {
			t.Fatalf("%s %+v costs %s of at most %s", model, u, cost, worst)
		}
	})
}

func TestEstimate(t *testing.T) {
	r := llm.Request{System: "abc", Messages: []llm.Message{llm.UserMessage("de"), {From: llm.Assistant, Parts: []llm.MessagePart{
		{Call: &llm.ToolCall{ID: "1", Tool: "t", Input: json.RawMessage("{}")}}, {Raw: json.RawMessage(`{"x":1}`)},
	}}, {From: llm.User, Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: "1", Text: "long text"}}}}}}
	before := llm.EstimateRequest(r)
	if before < 3+2+4+7+10 {
		t.Errorf("%d tokens", before)
	}
	r.Tools = []llm.ToolDescription{{Name: "t", Description: "d", Schema: json.RawMessage(`{}`)}}
	if after := llm.EstimateRequest(r); after <= before {
		t.Errorf("tools cost nothing: %d", after)
	}
}
