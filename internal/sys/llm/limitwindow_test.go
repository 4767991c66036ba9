package llm_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

func TestWindows(t *testing.T) {
	h := http.Header{}
	for _, line := range [][2]string{
		{"anthropic-ratelimit-requests-limit", "50"},
		{"anthropic-ratelimit-requests-remaining", "0"},
		{"anthropic-ratelimit-requests-reset", "2026-11-21T12:00:30Z"},
		{"x-ratelimit-remaining-tokens", "149984"},
		{"x-ratelimit-reset-tokens", "6m0s"},
		{"x-ratelimit-remaining-odd", "-1"},
		{"anthropic-ratelimit-unified-5h-status", "allowed"},
	} {
		h.Set(line[0], line[1])
	}
	want := []llm.AccountLimitWindow{
		{Name: "requests", Limit: 50, Left: 0, Reset: "2026-11-21T12:00:30Z"},
		{Name: "tokens", Limit: -1, Left: 149_984, Reset: "6m0s"},
	}
	if d := cmp.Diff(want, llm.ParseLimitWindows(h)); d != "" {
		t.Error(d)
	}
	e := llm.ClassifyFailure(http.StatusTooManyRequests, h, nil)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	if wait, ok := e.RetryWait(now); e.Class != llm.Quota || !e.Empty || !ok || wait != 30*time.Second {
		t.Errorf("%+v: %s %v", e, wait, ok)
	}
	if e := llm.ClassifyFailure(http.StatusServiceUnavailable, h, nil); e.Empty {
		t.Errorf("%+v", e)
	}
	body := `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"x","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProject"}]},{"retryDelay":"34s"}]}}`
	if e := llm.ClassifyFailure(http.StatusTooManyRequests, nil, []byte(body)); !e.Empty || e.After != "34s" {
		t.Errorf("%+v", e)
	}
}

func FuzzWindows(f *testing.F) {
	f.Add("x-ratelimit-remaining-tokens", "0", "6m0s")
	f.Add("anthropic-ratelimit-requests-remaining", "12", "2026-11-21T12:00:30Z")
	f.Fuzz(func(t *testing.T, key, left, reset string) {
		h := http.Header{}
		h.Set(key, left)
		h.Set(strings.Replace(key, "remaining", "reset", 1), reset)
		for _, w := range llm.ParseLimitWindows(h) {
			if w.Left < 0 || w.Name == "" || w.Limit < -1 {
				t.Errorf("%+v", w)
			}
			if wait, ok := w.UntilReset(time.Unix(0, 0)); ok && wait < 0 {
				t.Errorf("%+v waits %s", w, wait)
			}
		}
		e := llm.ClassifyFailure(http.StatusTooManyRequests, h, nil)
		if wait, ok := e.RetryWait(time.Unix(0, 0)); ok && wait < 0 {
			t.Errorf("waits %s", wait)
		}
	})
}

func TestWindowWait(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for reset, want := range map[string]time.Duration{
		"6m0s": 6 * time.Minute, "17ms": 17 * time.Millisecond, "2": 2 * time.Second, "2026-11-21T12:00:30Z": 30 * time.Second,
		"2026-11-21T11:00:00Z": 0, "1795262430": 30 * time.Second, "1795262430500": 30*time.Second + 500*time.Millisecond,
		"": -1, "soon": -1, "-3": -1,
	} {
		wait, ok := llm.AccountLimitWindow{Reset: reset}.UntilReset(now)
		if ok != (want >= 0) || ok && wait.Round(time.Millisecond) != want {
			t.Errorf("%s: %s, %v", reset, wait, ok)
		}
	}
	h := http.Header{}
	h.Set("Date", now.Add(-time.Hour).Format(http.TimeFormat)) // a clock that is late
	h.Set("X-Ratelimit-Remaining", "0")
	h.Set("X-Ratelimit-Reset", "2026-11-21T11:00:30Z")
	all := llm.ParseLimitWindows(h)
	if wait, ok := all[0].UntilReset(now); len(all) != 1 || all[0].Name != "requests" || !ok || wait != 30*time.Second {
		t.Errorf("%+v: %s %v", all, wait, ok)
	}
}
