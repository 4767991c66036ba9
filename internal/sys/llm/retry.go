package llm

import (
	"cmp"
	"errors"
	"net"
	"time"
)

// CallRetryPolicy configures retries of a failed call. Its zero value waits from a second to a minute
// without jitter, makes four attempts at calls with a damaged answer and twenty at an unreachable
// provider, and is patient with a provider that reports that it cannot answer now.
type CallRetryPolicy struct {
	Tries   int              // attempts at a call whose answer was damaged or missing; 0 means 4
	Reach   int              // attempts at a call that never reached the provider; 0 means Tries, or 20 if that is 0, too
	First   time.Duration    // wait after the first failure, doubled each time; 0 means 1 s
	Most    time.Duration    // longest wait with counted attempts; 0 means 1 min. If a provider asks for more, there are no more attempts
	Patient time.Duration    // longest wait without counted attempts, unless the provider asks for more; 0 means 5 min
	Asked   time.Duration    // limit of the waits, in a row, that a provider asks for; 0 means a day
	Jitter  func() float64   // in [0, 1), spreads the waits over their second half; nil: full waits
	Now     func() time.Time // for a Retry-After with a date; nil: such a date is ignored
}

// LongestPause limits the wait that a provider may ask for. After it, the provider is called again
// even if it asked for more, such as a Retry-After of 100000000000000000000.
const LongestPause = 24 * time.Hour

// maxRetryTime limits, approximately, the retries of a provider that does not name a time.
const maxRetryTime = 4 * time.Hour

// IsTransient reports whether a failure disappears by itself and a retry costs nothing: the
// provider is overloaded, out of quota, or reported a failure of its own.
func (e *ModelCallError) IsTransient() bool {
	return e.Class == Overload || e.Class == Quota || e.Class == Transient && e.Status >= 500
}

// neverReachedProvider reports whether a call never reached the provider.
func (e *ModelCallError) neverReachedProvider() bool {
	o, ok := errors.AsType[*net.OpError](e.Cause)
	return e.Class == Transient && ok && o.Op == "dial"
}

// RetryWait returns the wait after the nth consecutive failure of a class, and whether to retry at all:
// never if a person must fix the cause, nor for an invalid request. A provider that reports that
// it cannot answer now is called again for four hours, or for the time that it asks for, up to a
// day.
func (p CallRetryPolicy) RetryWait(e *ModelCallError, n int) (time.Duration, bool) {
	tries, patient := cmp.Or(p.Tries, 4), e.IsTransient()
	if e.neverReachedProvider() {
		tries = cmp.Or(p.Reach, p.Tries, 20)
	}
	if !e.Class.IsRetryable() || !patient && n >= tries {
		return 0, false
	}
	most, limit := cmp.Or(p.Most, time.Minute), cmp.Or(p.Most, time.Minute)
	if patient {
		most, limit = cmp.Or(p.Patient, 5*time.Minute), cmp.Or(p.Asked, LongestPause)
	}
	d := most
	if first := cmp.Or(p.First, time.Second); n < 20 { // else the shift overflows
		d = min(first<<(n-1), most)
	}
	if p.Jitter != nil {
		d = d/2 + time.Duration(p.Jitter()*float64(d/2))
	}
	var now time.Time
	if p.Now != nil {
		now = p.Now()
	}
	asked, ok := e.RetryWait(now)
	d = max(d, asked)
	if !patient {
		return d, d <= limit
	}
	total := min(limit, maxRetryTime)
	if ok && asked > most {
		total = limit
	}
	return d, d <= total/time.Duration(n)
}
