package ratelimit

import (
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// maxPatience limits the wait of a call for a window. A longer wait fails as out of quota, so that
// all calls avoid the account until then.
const maxPatience = 90 * time.Second

// limitWindowPool has the windows that some models share.
type limitWindowPool struct {
	windows []trackedLimitWindow
	closed  time.Time        // the provider asked to wait until then
	why     string           // reason for that
	out     callLimitUse     // needs of running calls whose responses have not begun
	rates   [2]tokensPerByte // of first and of further calls in a conversation
	said    float64          // tokens of a typical answer

	round int64 // last round in which its line had to wait
	rests bool  // its line waits for the end of a window
}

// callLimitUse is the part of the windows that a call uses.
type callLimitUse struct{ calls, in, out int64 }

func (n callLimitUse) plus(m callLimitUse) callLimitUse {
	return callLimitUse{n.calls + m.calls, n.in + m.in, n.out + m.out}
}

func (n callLimitUse) minus(m callLimitUse) callLimitUse {
	return callLimitUse{n.calls - m.calls, n.in - m.in, n.out - m.out}
}

// amountFor returns the part that a window of this name counts, and false if its kind is unknown.
func (n callLimitUse) amountFor(name string) (int64, bool) {
	switch {
	case strings.HasPrefix(name, "priority-"), strings.HasPrefix(name, "unified-"):
		return 0, false // limited separately
	case strings.Contains(name, "request"):
		return n.calls, true
	case strings.Contains(name, "input"):
		return n.in, true
	case strings.Contains(name, "output"):
		return n.out, true
	case strings.Contains(name, "token"):
		return n.in + n.out, true
	default:
		return 0, false
	}
}

// tokensPerByte is the tokens per byte of a request. It rises at once and falls slowly.
type tokensPerByte float64

func (r *tokensPerByte) learnRatio(tokens, bytes int64) {
	if bytes <= 0 {
		return
	}
	seen := tokensPerByte(tokens) / tokensPerByte(bytes)
	if seen < *r {
		seen = *r - (*r-seen)/4
	}
	*r = min(seen, 1)
}

// defaultAnswerTokens is the estimated number of tokens in an answer before any was observed.
const defaultAnswerTokens = 1000

func newLimitWindowPool() *limitWindowPool {
	return &limitWindowPool{rates: [2]tokensPerByte{1.0 / 3, 1.0 / 3}, said: defaultAnswerTokens}
}

// furtherIndex returns 0 for the first call of a conversation, and 1 for a later one.
func furtherIndex(r llm.Request) int {
	for _, m := range r.Messages {
		if m.From == llm.Assistant {
			return 1
		}
	}
	return 0
}

// estimateNeed returns the need of a request with this number of bytes.
func (p *limitWindowPool) estimateNeed(bytes int64, further int, most int64, rules CallCountingRules) callLimitUse {
	n := callLimitUse{calls: 1, in: int64(float64(bytes)*float64(p.rates[further])) + 1, out: most}
	if !rules.Ahead {
		n.out = min(n.out, int64(p.said)+1)
	}
	return n
}

// learnUsage updates the rates from the usage of a call.
func (p *limitWindowPool) learnUsage(bytes int64, further int, u nexus.Usage, rules CallCountingRules) {
	in := u.PromptTokens()
	if rules.Cached {
		in -= u.CacheRead
	}
	p.rates[further].learnRatio(in, bytes)
	p.said += (float64(u.Output) - p.said) / 4
}

// callWaitReason is the reason why a call has to wait. The zero hold lets it start.
type callWaitReason struct {
	until time.Time // zero: until an event
	why   string
	end   bool // it waits for the end of a window
}

// waitReasonFor returns the hold of a call with need n.
func (p *limitWindowPool) waitReasonFor(n callLimitUse, now time.Time) (longest callWaitReason) {
	if now.Before(p.closed) {
		return callWaitReason{p.closed, p.why, true}
	}
	for i := range p.windows {
		w := &p.windows[i]
		takes, known := n.amountFor(w.name)
		out, _ := p.out.amountFor(w.name)
		if !known {
			continue
		}
		h := w.waitReasonFor(takes, out, now)
		if h.why != "" && (longest.why == "" || !longest.end && h.end || h.end == longest.end && h.until.After(longest.until)) {
			longest = h
		}
	}
	return longest
}

// observeWindows updates the windows from the headers of a response.
func (p *limitWindowPool) observeWindows(all []llm.AccountLimitWindow, now time.Time) {
	for _, x := range all {
		if _, known := (callLimitUse{}).amountFor(x.Name); !known {
			continue
		}
		wait, ok := x.UntilReset(now)
		if !ok {
			continue // without an end there is nothing to wait for
		}
		next := trackedLimitWindow{name: x.Name, limit: x.Limit, left: x.Left, end: now.Add(min(wait, maxWindowLength)), at: now}
		p.putWindow(next, now)
	}
}

func (p *limitWindowPool) putWindow(next trackedLimitWindow, now time.Time) {
	for i := range p.windows {
		if p.windows[i].name == next.name {
			p.windows[i].mergeReport(next, now)
			return
		}
	}
	if len(p.windows) < maxWindows {
		next.from = limitWindowReport{next.left, next.at, next.end}
		p.windows = append(p.windows, next)
	}
}

// maxWindows limits the windows of a server.
const maxWindows = 16

// blockCallsUntil blocks all calls for as long as the provider asked, up to a day.
func (p *limitWindowPool) blockCallsUntil(e *llm.ModelCallError, now time.Time) {
	wait, ok := e.RetryWait(now)
	why := "the provider asked for a pause"
	if wait > llm.LongestPause {
		why += ", which Nexus keeps for at most " + strings.TrimSuffix(llm.LongestPause.String(), "0m0s")
	}
	wait = min(wait, llm.LongestPause)
	if e.Class == llm.Overload {
		wait = min(wait, maxPatience)
	}
	if until := now.Add(wait); ok && wait > 0 && until.After(p.closed) {
		p.closed, p.why = until, why
		p.rests = p.rests || wait >= noticeAfter
	}
}
