package nexus

import "github.com/nexus-ai-builder/nexus/internal/nexus/money"

// Money is an amount of US dollars in billionths, see [money.Money].
type Money = money.Money

// Dollar is one US dollar.
const Dollar = money.Dollar

// Dollars returns the Money nearest to f dollars. It is for figures a person
// typed; NaN is zero and what does not fit is the largest amount.
func Dollars(f float64) Money { return money.Dollars(f) }

// Usage counts the tokens of model calls in disjoint classes: a token is in
// exactly one of them. CacheHour is no class but a part of one.
type Usage struct {
	Input      int64 `json:"input"`                // read at the full price
	Output     int64 `json:"output"`               // written, thinking included
	CacheRead  int64 `json:"cache_read,omitzero"`  // read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitzero"` // written to the provider's cache
	CacheHour  int64 `json:"cache_hour,omitzero"`  // of CacheWrite: what is kept for an hour, where the provider says so
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.CacheHour + v.CacheHour}
}

// Total returns all tokens, whatever their class.
func (u Usage) Total() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// Prompt returns the tokens that were sent.
func (u Usage) Prompt() int64 { return u.Input + u.CacheRead + u.CacheWrite }
