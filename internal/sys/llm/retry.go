package llm

import (
	"cmp"
	"time"
)

// Policy says how a failed call is tried again. Its zero value tries four
// times, waits from a second to a minute, has no jitter, and is patient with a
// provider that is overloaded or out of quota.
type Policy struct {
	Tries   int              // most calls of one that fails for no reason that passes by itself; 0 means 4
	First   time.Duration    // wait after the first failure, doubled each time; 0 means 1 s
	Most    time.Duration    // longest wait; 0 means 1 min. A provider that asks for more ends the tries
	Patient time.Duration    // longest wait for a provider that has too much to do, unless it asks for more; 0 means 5 min
	Jitter  func() float64   // in [0, 1), spreads the waits over their second half; nil waits in full
	Now     func() time.Time // for a Retry-After that is a date; nil leaves such a date out
}

// longest is the most that a provider may ask to be left alone.
const longest = 24 * time.Hour

// Wait returns how long to wait after the nth failure of a class in a row, and
// whether to try again at all: never for what a person must settle, nor for a
// request that is wrong. A provider that is overloaded or out of quota is
// asked again without end; the caller's own time ends that.
func (p Policy) Wait(e *Error, n int) (time.Duration, bool) {
	patient := e.Class == Overload || e.Class == Quota
	if !e.Class.Retryable() || !patient && n >= cmp.Or(p.Tries, 4) {
		return 0, false
	}
	most, limit := cmp.Or(p.Most, time.Minute), cmp.Or(p.Most, time.Minute)
	if patient {
		most, limit = cmp.Or(p.Patient, 5*time.Minute), longest
	}
	d := most
	if first := cmp.Or(p.First, time.Second); n < 20 { // else the shift runs over
		d = min(first<<(n-1), most)
	}
	if p.Jitter != nil {
		d = d/2 + time.Duration(p.Jitter()*float64(d/2))
	}
	var now time.Time
	if p.Now != nil {
		now = p.Now()
	}
	if asked, ok := e.Wait(now); ok {
		d = max(d, asked)
	}
	return d, d <= limit
}
