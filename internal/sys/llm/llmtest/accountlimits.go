package llmtest

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// AccountLimits sets the limits of an account, for each model. Zero means no limit. Each API reports and
// counts like its provider: Anthropic counts uncached tokens separately from those of answers,
// OpenAI counts all sent tokens and the maximum of the answer, and Google reports nothing before
// it refuses a call.
type AccountLimits struct {
	Requests    int64         `yaml:"requests"` // per window
	Tokens      int64         `yaml:"tokens"`   // per window
	Output      int64         `yaml:"output"`   // answer tokens per window, only for Anthropic
	Concurrency int           `yaml:"concurrency"`
	Every       time.Duration `yaml:"every"`  // length of a window; 0 is a minute
	Fixed       bool          `yaml:"fixed"`  // windows are refilled at once at their end, rather than steadily
	Silent      bool          `yaml:"silent"` // no headers, like many compatible servers
}

func (a *AccountLimits) check() error {
	if a.Requests < 0 || a.Tokens < 0 || a.Output < 0 || a.Concurrency < 0 || a.Every < 0 {
		return errors.New("account: a limit is below zero")
	}
	return nil
}

// accountUsageCounter counts the usage of an account. The zero counter has no limit.
type accountUsageCounter struct {
	now func() time.Time

	mu     sync.Mutex // guards the fields below
	used   map[string]*simulatedLimitUsage
	active int
}

// simulatedLimitUsage is the used part of a limit.
type simulatedLimitUsage struct {
	limit int64
	used  float64
	at    time.Time // time of used, or the start of a fixed window
}

// accountLimitCharge is one limit that applies to a call.
type accountLimitCharge struct {
	name string // name in the headers
	*simulatedLimitUsage
	takes int64
}

// admitCall counts a call, or returns the limit that refuses it, "" for none. It sets the headers
// about the remaining limits.
func (c *accountUsageCounter) admitCall(s *AccountLimits, said wireformat.ScriptedTurnContent, h http.Header) (over string, wait time.Duration, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	all := c.limitsForCall(s, said, now)
	for _, x := range all {
		if after := x.waitTime(s, now); after > wait || after > 0 && over == "" {
			over, wait = x.name, after
		}
	}
	if over == "" && s.Concurrency > 0 && c.active >= s.Concurrency {
		over = "concurrency"
	}
	if over == "" {
		c.active++
		for _, x := range all {
			x.used += float64(x.takes)
		}
	}
	if !s.Silent {
		for _, x := range all {
			x.writeHeaders(s, said.Wire, now, h)
		}
	}
	if over != "" {
		return over, wait, nil
	}
	return "", 0, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.active--
		if said.Wire == wireformat.Anthropic && s.Output > 0 {
			c.currentLimitUsage(said.Model+" output-tokens", s.Output, s, c.now()).used += float64(said.Usage.Output)
		}
	})
}

// limitsForCall returns the limits that apply to a call now.
func (c *accountUsageCounter) limitsForCall(s *AccountLimits, said wireformat.ScriptedTurnContent, now time.Time) []accountLimitCharge {
	var all []accountLimitCharge
	add := func(name string, limit, takes int64) {
		if limit > 0 {
			all = append(all, accountLimitCharge{name, c.currentLimitUsage(said.Model+" "+name, limit, s, now), takes})
		}
	}
	add("requests", s.Requests, 1)
	switch u := said.Usage; said.Wire {
	case wireformat.Anthropic:
		add("input-tokens", s.Tokens, u.Input+u.CacheWrite)
		add("output-tokens", s.Output, 1)
	case wireformat.Gemini:
		add("tokens", s.Tokens, u.PromptTokens())
	default:
		add("tokens", s.Tokens, u.PromptTokens()+said.Max)
	}
	return all
}

// currentLimitUsage returns the used part of a limit now.
func (c *accountUsageCounter) currentLimitUsage(name string, limit int64, s *AccountLimits, now time.Time) *simulatedLimitUsage {
	if c.used == nil {
		c.used = map[string]*simulatedLimitUsage{}
	}
	l := c.used[name]
	if l == nil {
		l = &simulatedLimitUsage{limit: limit, at: now}
		c.used[name] = l
	}
	every := cmp.Or(s.Every, time.Minute)
	switch passed := now.Sub(l.at); {
	case !s.Fixed:
		l.used, l.at = max(0, l.used-float64(limit)*passed.Seconds()/every.Seconds()), now
	case passed >= every:
		l.used, l.at = 0, now
	}
	return l
}

// waitTime returns the time that a call has to wait, or 0. A call above the limit uses all of it.
func (x accountLimitCharge) waitTime(s *AccountLimits, now time.Time) time.Duration {
	excess := x.used + float64(min(x.takes, x.limit)) - float64(x.limit)
	if excess <= 1e-6 {
		return 0
	}
	if s.Fixed {
		return x.refillTime(s, now)
	}
	return time.Duration(excess / float64(x.limit) * float64(cmp.Or(s.Every, time.Minute)))
}

// refillTime returns the time until the limit is full again.
func (x accountLimitCharge) refillTime(s *AccountLimits, now time.Time) time.Duration {
	every := cmp.Or(s.Every, time.Minute)
	if s.Fixed {
		return x.at.Add(every).Sub(now)
	}
	return time.Duration(x.used / float64(x.limit) * float64(every))
}

// writeHeaders writes the headers of the API's provider.
func (x accountLimitCharge) writeHeaders(s *AccountLimits, w wireformat.WireFormat, now time.Time, h http.Header) {
	limit, left := strconv.FormatInt(x.limit, 10), strconv.FormatInt(max(0, int64(math.Floor(float64(x.limit)-x.used+1e-6))), 10)
	switch w {
	case wireformat.Anthropic:
		h.Set("Anthropic-Ratelimit-"+x.name+"-Limit", limit)
		h.Set("Anthropic-Ratelimit-"+x.name+"-Remaining", left)
		h.Set("Anthropic-Ratelimit-"+x.name+"-Reset", now.Add(x.refillTime(s, now)+time.Second-1).UTC().Format(time.RFC3339))
	case wireformat.Gemini:
	default:
		h.Set("X-Ratelimit-Limit-"+x.name, limit)
		h.Set("X-Ratelimit-Remaining-"+x.name, left)
		h.Set("X-Ratelimit-Reset-"+x.name, x.refillTime(s, now).Round(time.Millisecond).String())
	}
}

// writeRateLimit refuses a call in the way of the API's provider, with the time to wait if a window is
// used up.
func writeRateLimit(w http.ResponseWriter, way wireformat.WireFormat, over string, wait time.Duration) {
	t, _ := RateLimit.errorReply(way, "")
	t.Text, t.Delay = "the account's limit of "+strings.ReplaceAll(over, "-", " ")+" is reached", ""
	if wait > 0 {
		seconds := strconv.FormatFloat(math.Ceil(wait.Seconds()), 'f', 0, 64)
		if t.Delay = seconds + "s"; way != wireformat.Gemini { // in Gemini, the body has it
			w.Header().Set("Retry-After", seconds)
		}
	}
	writeJSON(w, t.Status, wireformat.ErrorBody(way, t))
}
