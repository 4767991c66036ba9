package ratelimit

import "time"

// Limits of concurrent calls.
const (
	initialLimit     = 4   // initial limit
	maxLimit         = 256 // nobody has more workers
	fastGrowthPart   = 0.9 // fraction of the last failed limit: below it, growth is fast
	slowGrowthRounds = 16  // rounds for growing by one from there, then half as many, and so on down to one
)

// concurrencyLimiter has the number of running calls and its limit.
type concurrencyLimiter struct {
	limit float64
	wall  float64   // growth is fast below this limit
	slow  float64   // rounds for growing by one now
	in    int       // running calls
	cut   time.Time // when the limit was last lowered
}

func newConcurrencyLimiter() concurrencyLimiter {
	return concurrencyLimiter{limit: initialLimit, wall: maxLimit, slow: 1}
}

// isFull reports whether no further call may start.
func (c *concurrencyLimiter) isFull() bool { return c.in >= int(c.limit) }

// raiseLimit raises the limit after an answer has started, if the current limit was fully used.
func (c *concurrencyLimiter) raiseLimit() {
	if c.in < int(c.limit) {
		return
	}
	if c.limit < c.wall {
		c.limit = min(c.limit+1, c.wall)
		return
	}
	before := int(c.limit)
	c.limit = min(c.limit+1/(c.slow*c.limit), maxLimit)
	if int(c.limit) > before {
		c.slow = max(c.slow/2, 1)
	}
}

// lowerLimit halves the limit after a call failed because of overload. Failures of calls that began
// before the last reduction are ignored.
func (c *concurrencyLimiter) lowerLimit(begun, now time.Time) {
	if begun.Before(c.cut) {
		return
	}
	used := min(c.limit, float64(c.in))
	c.wall, c.slow = max(min(fastGrowthPart*used, used-1), 1), slowGrowthRounds
	c.limit = max(used/2, 1)
	c.cut = now
}

// resetLimit sets the limit to one, because the capacity is unknown.
func (c *concurrencyLimiter) resetLimit() {
	c.wall = max(min(c.wall, c.limit), 2)
	c.limit = 1
}
