// Package ratelimit keeps calls within the limits of a provider's account: of requests and tokens
// in a window, and of concurrent calls.
//
// The rest of the windows is known from the headers of every response, and a call that does not
// fit waits for the end of the window instead of being refused. The limit of concurrent calls is
// found by trials: it rises a little after each answer that begins, is halved after a failure from
// overload, and restarts at one after a window was used up.
//
//	Enter --> queue, first come first served --> Permit --> Stream --> headers, end
//	            ^                                                         |
//	            +---------- windows, concurrent calls, time <-------------+
package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// AccountKey identifies an account.
type AccountKey struct {
	Kind string // API of the provider
	Base string // URL; empty for the provider's own
	Key  string // result of [HashKey], never the key itself
}

// HashKey returns a text that identifies a key without revealing it.
func HashKey(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("nexus account\x00" + key))
	return hex.EncodeToString(sum[:8])
}

// CallCountingRules define how a provider counts a call. The zero Rules count sent and answered tokens, in
// separate windows for each model.
type CallCountingRules struct {
	Shared bool // all models share the windows
	Cached bool // tokens from the provider's cache do not count
	Ahead  bool // the maximum of the answer counts when the call begins
}

// CountingRulesOf returns the rules of a kind of provider. For a compatible server it is unknown which
// models share a window.
func CountingRulesOf(kind string, own bool) CallCountingRules {
	switch kind {
	case "anthropic":
		return CallCountingRules{Cached: true}
	case "gemini":
		return CallCountingRules{}
	case "responses":
		return CallCountingRules{Ahead: true}
	default:
		return CallCountingRules{Ahead: true, Shared: !own}
	}
}

// AccountLimiters are the accounts of this process. Create them with [NewAccountLimiters].
type AccountLimiters struct {
	now func() time.Time

	mu  sync.Mutex // guards all
	all map[AccountKey]*AccountLimiter
}

// NewAccountLimiters returns accounts without any known state.
func NewAccountLimiters(now func() time.Time) *AccountLimiters {
	return &AccountLimiters{now: now, all: map[AccountKey]*AccountLimiter{}}
}

// AccountFor returns the account of a name, always the same one, with the rules of the first caller.
func (a *AccountLimiters) AccountFor(n AccountKey, r CallCountingRules) *AccountLimiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[n] == nil {
		a.all[n] = &AccountLimiter{now: a.now, rules: r, crowd: newConcurrencyLimiter(), pools: map[string]*limitWindowPool{}}
	}
	return a.all[n]
}

// LimitModel returns m with its calls kept within the account's limits.
func (a *AccountLimiter) LimitModel(m llm.Model) *AccountLimitedModel {
	return &AccountLimitedModel{Model: m, account: a}
}
