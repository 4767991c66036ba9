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

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/dialect"
)

// Account is what the account of who asks allows, for each model. What is
// zero has no limit. Each wire tells and counts as its provider does:
// Anthropic counts tokens that no cache gave and apart from those of answers,
// OpenAI counts all that was sent and the most that the answer may have, and
// Google tells nothing before it turns a call down.
type Account struct {
	Requests    int64         `yaml:"requests"` // of a window
	Tokens      int64         `yaml:"tokens"`   // of a window
	Output      int64         `yaml:"output"`   // tokens of answers in a window, for Anthropic alone
	Concurrency int           `yaml:"concurrency"`
	Every       time.Duration `yaml:"every"`  // how long a window is; 0 is a minute
	Fixed       bool          `yaml:"fixed"`  // windows are filled up at once when they end, and not steadily
	Silent      bool          `yaml:"silent"` // it tells nothing, as many compatible servers
}

func (a *Account) check() error {
	if a.Requests < 0 || a.Tokens < 0 || a.Output < 0 || a.Concurrency < 0 || a.Every < 0 {
		return errors.New("account: a limit is below zero")
	}
	return nil
}

// counter counts what an account has used. The zero counter has no limit.
type counter struct {
	now func() time.Time

	mu     sync.Mutex // guards what follows
	used   map[string]*level
	active int
}

// level is how much of a limit is used.
type level struct {
	limit int64
	used  float64
	at    time.Time // of used, or the window's begin where it is fixed
}

// charge is one limit that a call counts against.
type charge struct {
	name string // as the headers name it
	*level
	takes int64
}

// enter counts a call, or returns the limit that turns it down, empty for
// none. The header tells what is left.
func (c *counter) enter(s *Account, said dialect.TurnContent, h http.Header) (over string, wait time.Duration, leave func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	all := c.charges(s, said, now)
	for _, x := range all {
		if after := x.after(s, now); after > wait || after > 0 && over == "" {
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
			x.tell(s, said.Wire, now, h)
		}
	}
	if over != "" {
		return over, wait, nil
	}
	return "", 0, sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.active--
		if said.Wire == dialect.Anthropic && s.Output > 0 {
			c.level(said.Model+" output-tokens", s.Output, s, c.now()).used += float64(said.Usage.Output)
		}
	})
}

// charges returns the limits that a call counts against, as of now.
func (c *counter) charges(s *Account, said dialect.TurnContent, now time.Time) []charge {
	var all []charge
	add := func(name string, limit, takes int64) {
		if limit > 0 {
			all = append(all, charge{name, c.level(said.Model+" "+name, limit, s, now), takes})
		}
	}
	add("requests", s.Requests, 1)
	switch u := said.Usage; said.Wire {
	case dialect.Anthropic:
		add("input-tokens", s.Tokens, u.Input+u.CacheWrite)
		add("output-tokens", s.Output, 1)
	case dialect.Gemini:
		add("tokens", s.Tokens, u.Prompt())
	default:
		add("tokens", s.Tokens, u.Prompt()+said.Max)
	}
	return all
}

// level returns how much of a limit is used now.
func (c *counter) level(name string, limit int64, s *Account, now time.Time) *level {
	if c.used == nil {
		c.used = map[string]*level{}
	}
	l := c.used[name]
	if l == nil {
		l = &level{limit: limit, at: now}
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

// after returns how long a call has to wait, 0 for not at all. One that is
// larger than the limit takes all of it.
func (x charge) after(s *Account, now time.Time) time.Duration {
	excess := x.used + float64(min(x.takes, x.limit)) - float64(x.limit)
	if excess <= 1e-6 {
		return 0
	}
	if s.Fixed {
		return x.end(s, now)
	}
	return time.Duration(excess / float64(x.limit) * float64(cmp.Or(s.Every, time.Minute)))
}

// end returns how long it is until all of the limit is there again.
func (x charge) end(s *Account, now time.Time) time.Duration {
	every := cmp.Or(s.Every, time.Minute)
	if s.Fixed {
		return x.at.Add(every).Sub(now)
	}
	return time.Duration(x.used / float64(x.limit) * float64(every))
}

// tell writes the headers as the wire's provider does.
func (x charge) tell(s *Account, w dialect.Wire, now time.Time, h http.Header) {
	limit, left := strconv.FormatInt(x.limit, 10), strconv.FormatInt(max(0, int64(math.Floor(float64(x.limit)-x.used+1e-6))), 10)
	switch w {
	case dialect.Anthropic:
		h.Set("Anthropic-Ratelimit-"+x.name+"-Limit", limit)
		h.Set("Anthropic-Ratelimit-"+x.name+"-Remaining", left)
		h.Set("Anthropic-Ratelimit-"+x.name+"-Reset", now.Add(x.end(s, now)+time.Second-1).UTC().Format(time.RFC3339))
	case dialect.Gemini:
	default:
		h.Set("X-Ratelimit-Limit-"+x.name, limit)
		h.Set("X-Ratelimit-Remaining-"+x.name, left)
		h.Set("X-Ratelimit-Reset-"+x.name, x.end(s, now).Round(time.Millisecond).String())
	}
}

// refuse turns a call down as the wire's provider does, and says when to come
// back where a window is used up.
func refuse(w http.ResponseWriter, way dialect.Wire, over string, wait time.Duration) {
	t, _ := RateLimit.trouble(way, "")
	t.Text, t.Delay = "the account's limit of "+strings.ReplaceAll(over, "-", " ")+" is reached", ""
	if wait > 0 {
		seconds := strconv.FormatFloat(math.Ceil(wait.Seconds()), 'f', 0, 64)
		if t.Delay = seconds + "s"; way != dialect.Gemini { // which says it in the body
			w.Header().Set("Retry-After", seconds)
		}
	}
	writeJSON(w, t.Status, dialect.Failure(way, t))
}
