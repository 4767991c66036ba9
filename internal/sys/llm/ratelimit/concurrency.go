package ratelimit

import "time"

// How many calls may be under way at once.
const (
	first   = 4   // before anything is known
	most    = 256 // nobody has more workers
	near    = 0.9 // of where it failed last: up to there, growth is fast
	careful = 16  // rounds that it takes to grow by one from there, then half as many, and so on to one
)

// concurrency is how many calls are under way, and how many may be.
type concurrency struct {
	limit float64
	wall  float64   // growth is fast below it
	slow  float64   // rounds that growing by one takes now
	in    int       // calls under way
	cut   time.Time // when the limit was lowered last
}

func newConcurrency() concurrency { return concurrency{limit: first, wall: most, slow: 1} }

// full reports whether nobody may come in.
func (c *concurrency) full() bool { return c.in >= int(c.limit) }

// grow makes room after an answer has started, if the room that there is was
// used.
func (c *concurrency) grow() {
	if c.in < int(c.limit) {
		return
	}
	if c.limit < c.wall {
		c.limit = min(c.limit+1, c.wall)
		return
	}
	before := int(c.limit)
	c.limit = min(c.limit+1/(c.slow*c.limit), most)
	if int(c.limit) > before {
		c.slow = max(c.slow/2, 1)
	}
}

// shrink halves the room after a call failed for want of it. Those that began
// before the last time tell nothing new.
func (c *concurrency) shrink(begun, now time.Time) {
	if begun.Before(c.cut) {
		return
	}
	used := min(c.limit, float64(c.in))
	c.wall, c.slow = max(min(near*used, used-1), 1), careful
	c.limit = max(used/2, 1)
	c.cut = now
}

// restart lets calls in one by one again: what they find is not known.
func (c *concurrency) restart() {
	c.wall = max(min(c.wall, c.limit), 2)
	c.limit = 1
}
