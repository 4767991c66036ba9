package llm

import (
	"cmp"
	"errors"
	"net"
	"time"
)

// Policy says how a failed call is tried again. Its zero value waits from a
// second to a minute, has no jitter, tries four times what was damaged, twenty
// times what cannot be reached, and is patient with a provider that says
// itself that it cannot answer now.
type Policy struct {
	Tries   int              // most calls of one whose answer was damaged or never came; 0 means 4
	Reach   int              // most calls of one that never reached the provider; 0 means Tries, and 20 where that is 0, too
	First   time.Duration    // wait after the first failure, doubled each time; 0 means 1 s
	Most    time.Duration    // longest wait where tries are counted; 0 means 1 min. A provider that asks for more ends them
	Patient time.Duration    // longest wait otherwise, unless the provider asks for more; 0 means 5 min
	Asked   time.Duration    // the most that a provider may ask to be left alone, all in a row; 0 means a day
	Jitter  func() float64   // in [0, 1), spreads the waits over their second half; nil waits in full
	Now     func() time.Time // for a Retry-After that is a date; nil leaves such a date out
}

// LongestPause is the most that an account is left alone because its provider asks for that.
// Who asks for more, as a Retry-After of 100000000000000000000 does, is asked again by then.
const LongestPause = 24 * time.Hour

// enough is about the most that a provider is asked again which says for no time when.
const enough = 4 * time.Hour

// IsTransient reports whether a failure passes by itself and costs nothing to meet
// again: the provider is overloaded, out of quota, or said itself that it
// broke.
func (e *Error) IsTransient() bool {
	return e.Class == Overload || e.Class == Quota || e.Class == Transient && e.Status >= 500
}

// neverSent reports whether a call never got to the provider.
func (e *Error) neverSent() bool {
	o, ok := errors.AsType[*net.OpError](e.Cause)
	return e.Class == Transient && ok && o.Op == "dial"
}

// Wait returns how long to wait after the nth failure of a class in a row, and
// whether to try again at all: never for what a person must settle, nor for a
// request that is wrong. A provider that says itself that it cannot answer now
// is asked again for four hours, or as long as it asks for itself, up to a day.
func (p Policy) Wait(e *Error, n int) (time.Duration, bool) {
	tries, patient := cmp.Or(p.Tries, 4), e.IsTransient()
	if e.neverSent() {
		tries = cmp.Or(p.Reach, p.Tries, 20)
	}
	if !e.Class.Retryable() || !patient && n >= tries {
		return 0, false
	}
	most, limit := cmp.Or(p.Most, time.Minute), cmp.Or(p.Most, time.Minute)
	if patient {
		most, limit = cmp.Or(p.Patient, 5*time.Minute), cmp.Or(p.Asked, LongestPause)
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
	asked, ok := e.Wait(now)
	d = max(d, asked)
	if !patient {
		return d, d <= limit
	}
	total := min(limit, enough)
	if ok && asked > most {
		total = limit
	}
	return d, d <= total/time.Duration(n)
}
