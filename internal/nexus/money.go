package nexus

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Money is an amount of US dollars in billionths, so that a token's price is
// a whole number and sums never drift.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000

// MoneyFromDollars returns the Money nearest to f dollars. It is for amounts that a person typed. NaN
// becomes zero, and an amount that does not fit becomes the largest Money.
func MoneyFromDollars(f float64) Money {
	switch v := math.Round(f * float64(Dollar)); {
	case math.IsNaN(v):
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	default:
		return Money(v)
	}
}

// Dollars returns m in dollars, for display and ratios only.
func (m Money) Dollars() float64 { return float64(m) / float64(Dollar) }

// String formats m for people: "$1.23", with more digits below ten cents.
func (m Money) String() string {
	f := m.Dollars()
	if m != 0 && math.Abs(f) < 0.1 {
		return fmt.Sprintf("$%.4f", f)
	}
	return fmt.Sprintf("$%.2f", f)
}

// MarshalJSON writes m as an exact decimal number of dollars.
func (m Money) MarshalJSON() ([]byte, error) {
	sign, abs := "", uint64(m)
	if m < 0 {
		sign, abs = "-", -abs
	}
	s := fmt.Sprintf("%s%d.%09d", sign, abs/uint64(Dollar), abs%uint64(Dollar))
	return []byte(strings.TrimSuffix(strings.TrimRight(s, "0"), ".")), nil
}

// UnmarshalJSON reads a decimal number of dollars and keeps every digit down
// to a billionth.
func (m *Money) UnmarshalJSON(data []byte) error {
	if n, ok := parsePlainMoney(data); ok {
		*m = n
		return nil
	}
	if len(data) > 40 { // more digits than any amount has; an exponent could ask for gigabytes
		return fmt.Errorf("amount of %d characters is too long", len(data))
	}
	f, err := strconv.ParseFloat(string(data), 64)
	if err != nil || math.Abs(f) > math.MaxInt64 || strings.Trim(string(data), "-+.eE0123456789") != "" {
		return fmt.Errorf("%s is not an amount of dollars", data)
	}
	r, ok := new(big.Rat).SetString(string(data))
	if !ok {
		return fmt.Errorf("%s is not an amount of dollars", data)
	}
	r.Mul(r, new(big.Rat).SetInt64(int64(Dollar)))
	n := new(big.Int).Quo(r.Num(), r.Denom())
	if !n.IsInt64() {
		return fmt.Errorf("%s is not an amount of dollars", data)
	}
	*m = Money(n.Int64())
	return nil
}

// parsePlainMoney reads an amount that consists of at most nine digits before the point and nine after
// it, as nearly all amounts do.
func parsePlainMoney(data []byte) (Money, bool) {
	n, digits, behind, point := Money(0), 0, 0, false
	for i, c := range data {
		switch {
		case c >= '0' && c <= '9':
			if digits > 0 && n == 0 && !point && behind == 0 { // 01
				return 0, false
			}
			n, digits = n*10+Money(c-'0'), digits+1
			if point {
				behind++
			}
		case c == '.' && !point && i > 0 && i+1 < len(data):
			if digits > 9 {
				return 0, false
			}
			point = true
		default:
			return 0, false
		}
	}
	if digits == 0 || behind > 9 || digits-behind > 9 {
		return 0, false
	}
	for ; behind < 9; behind++ {
		n *= 10
	}
	return n, true
}

// Usage counts the tokens of model calls in disjoint classes: each token is in exactly one of
// them. CacheHour is not a class but a part of CacheWrite.
type Usage struct {
	Input      int64 `json:"input"`                // read at the full price
	Output     int64 `json:"output"`               // written, thinking included
	CacheRead  int64 `json:"cache_read,omitzero"`  // read from the provider's cache
	CacheWrite int64 `json:"cache_write,omitzero"` // written to the provider's cache
	// part of CacheWrite that is stored for an hour, if the provider reports it
	CacheHour int64 `json:"cache_hour,omitzero"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.CacheRead + v.CacheRead, u.CacheWrite + v.CacheWrite, u.CacheHour + v.CacheHour}
}

// TotalTokens returns all tokens, whatever their class.
func (u Usage) TotalTokens() int64 { return u.Input + u.Output + u.CacheRead + u.CacheWrite }

// PromptTokens returns the tokens that were sent.
func (u Usage) PromptTokens() int64 { return u.Input + u.CacheRead + u.CacheWrite }
