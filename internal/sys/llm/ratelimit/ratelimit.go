// Package ratelimit keeps calls within what a provider allows an account: so many
// requests and tokens in a window, and so many calls at once.
//
// What is left of the windows is learned from the headers of every response,
// also of those that succeed, and a call that does not fit waits for the
// window's end instead of being turned down. How many calls may be under way
// is learned by trying: a little more after each answer that begins, half of
// it after a failure for want of room, one by one after a window was used up.
//
//	Enter --> queue, first come first served --> Pass --> Stream --> headers, end
//	            ^                                                       |
//	            +--------- windows, calls at once, time <---------------+
package ratelimit

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Name says whose limits count.
type Name struct {
	Kind string // of the provider's wire
	Base string // address; empty for the provider's own
	Key  string // as [Identity] makes it, never the key itself
}

// Identity tells keys apart without giving them away.
func Identity(key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("nexus account\x00" + key))
	return hex.EncodeToString(sum[:8])
}

// Rules say how a provider counts a call. The zero Rules count what was sent
// and what was answered, in windows of each model's own.
type Rules struct {
	Shared bool // all models have the same windows
	Cached bool // what is read from the provider's cache does not count
	Ahead  bool // the most that the answer may have counts when the call begins
}

// RulesOf returns the rules of a kind of provider. Behind the address of a
// compatible server nobody knows what models share.
func RulesOf(kind string, own bool) Rules {
	switch kind {
	case "anthropic":
		return Rules{Cached: true}
	case "gemini":
		return Rules{}
	case "responses":
		return Rules{Ahead: true}
	default:
		return Rules{Ahead: true, Shared: !own}
	}
}

// Accounts are the limits that everything in this process shares. Use [New].
type Accounts struct {
	now func() time.Time

	mu  sync.Mutex // guards all
	all map[Name]*Account
}

// New returns accounts of which nothing is known yet.
func New(now func() time.Time) *Accounts {
	return &Accounts{now: now, all: map[Name]*Account{}}
}

// Of returns the account of a name, always the same one. The first caller's
// rules hold.
func (a *Accounts) Of(n Name, r Rules) *Account {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all[n] == nil {
		a.all[n] = &Account{now: a.now, rules: r, crowd: newConcurrency(), pools: map[string]*pool{}}
	}
	return a.all[n]
}

// LimitModel returns m with its calls kept within the account's limits.
func (a *Account) LimitModel(m llm.Model) *Model { return &Model{Model: m, account: a} }
