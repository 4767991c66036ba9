package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// Account is the known state of one account's limits.
type Account struct {
	now   func() time.Time
	rules Rules

	mu    sync.Mutex // guards the fields below; never held while waiting
	crowd concurrency
	pools map[string]*pool // by model
	line  []*Permit        // waiting calls, in the order of arrival
	round int64
	timer *time.Timer // for the next end of a window that the line waits for
}

// Permit is the permission for one call.
type Permit struct {
	account *Account
	pool    *pool
	bytes   int64 // of the request
	further int   // 1 if it continues a conversation, else 0
	need    need
	begun   time.Time

	// The fields below are guarded by the account's mutex.
	state state
	hold  hold
	ready chan struct{} // closed when it need not wait any longer
	err   error         // why it must not wait
}

// state is the progress of a call.
type state int

const (
	waits   state = iota
	entered       // it counts as running
	counted       // and the provider has counted it
	over
)

// Hold is the reason why a call waits.
type Hold struct {
	Wait time.Duration // expected time until it may continue; 0 if unknown
	Why  string
}

// Waits that are reported to the caller.
const (
	worth  = time.Second     // a wait that is known to be at least this long
	unsure = 5 * time.Second // after this time, a wait of unknown length
)

// admitIfFree admits a call if it need not wait.
func (a *Account) admitIfFree(p *Permit, now time.Time) bool {
	if p.pool.round == a.round && len(a.line) > 0 || a.crowd.full() { // behind earlier calls
		return false
	}
	if p.hold = p.pool.holds(p.need, now); p.hold.why != "" {
		return false
	}
	a.admit(p, now)
	return true
}

// admit counts a call as running.
func (a *Account) admit(p *Permit, now time.Time) {
	if p.pool.rests {
		p.pool.rests = false
		a.crowd.restart()
	}
	p.state, p.begun = entered, now
	a.crowd.in++
	p.pool.out = p.pool.out.plus(p.need)
}

// admitWaiting admits the waiting calls that fit, in the order of arrival. A call that must wait
// blocks the later ones that use the same windows.
func (a *Account) admitWaiting(now time.Time) {
	a.round++
	var next time.Time
	kept := a.line[:0]
	for _, p := range a.line {
		if p.pool.round == a.round {
			kept = append(kept, p)
			continue
		}
		h := p.pool.holds(p.need, now)
		switch wait := h.until.Sub(now); {
		case h.why == "" && a.crowd.full():
			p.hold = hold{why: fmt.Sprintf("%d calls are in progress", a.crowd.in)}
		case h.why == "":
			a.admit(p, now)
			close(p.ready)
			continue
		case h.end && wait > patience:
			p.state, p.err, p.pool.rests = over, waitTooLongError(h, wait), true
			close(p.ready)
			continue
		default:
			p.hold, p.pool.round = h, a.round
			p.pool.rests = p.pool.rests || h.end && wait >= worth
			if h.end && (next.IsZero() || h.until.Before(next)) {
				next = h.until
			}
		}
		kept = append(kept, p)
	}
	clear(a.line[len(kept):])
	a.line = kept
	a.scheduleServe(next, now)
}

// waitTooLongError returns the error of a call that would have to wait too long.
func waitTooLongError(h hold, wait time.Duration) error {
	return &llm.Error{
		Class: llm.Quota, Code: "limit", Empty: true, After: strconv.FormatFloat(wait.Seconds(), 'f', 3, 64),
		Cause: errors.New("not asked: " + h.why),
	}
}

// scheduleServe schedules the next check of the line; zero for none.
func (a *Account) scheduleServe(at, now time.Time) {
	switch wait := at.Sub(now); {
	case at.IsZero() && a.timer != nil:
		a.timer.Stop()
	case at.IsZero():
	case a.timer == nil:
		a.timer = time.AfterFunc(wait, a.serveNow)
	default:
		a.timer.Reset(wait)
	}
}

func (a *Account) serveNow() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.admitWaiting(a.now())
}

// enter waits until a call may be made. If that takes long, it calls held once with the reason;
// held may be nil.
func (a *Account) enter(ctx context.Context, model string, r llm.Request, held func(Hold) error) (*Permit, error) {
	p := a.enqueueCall(model, r, true)
	if p.ready == nil {
		return p, nil
	}
	if err := p.wait(ctx, held); err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// enqueueCall admits a call at once, or queues it; if it is not to wait, it is not queued.
func (a *Account) enqueueCall(model string, r llm.Request, queue bool) *Permit {
	bytes, further := llm.Estimate(r), further(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.rules.Shared {
		model = ""
	}
	l := a.pools[model]
	if l == nil {
		l = newPool()
		a.pools[model] = l
	}
	p := &Permit{account: a, pool: l, bytes: bytes, further: further, need: l.estimateNeed(bytes, further, r.MaxTokens, a.rules)}
	if !a.admitIfFree(p, now) && queue {
		p.ready = make(chan struct{})
		a.line = append(a.line, p)
		a.admitWaiting(now)
	}
	return p
}

// wait waits in the line.
func (p *Permit) wait(ctx context.Context, held func(Hold) error) error {
	var tell <-chan time.Time
	if held != nil {
		if h := p.currentHold(); h.Wait >= worth {
			if err := held(h); err != nil {
				return err
			}
		} else {
			t := time.NewTimer(unsure)
			defer t.Stop()
			tell = t.C
		}
	}
	for {
		select {
		case <-p.ready:
			return p.err // it was set before
		case <-tell:
			if err := held(p.currentHold()); err != nil {
				return err
			}
		case <-ctx.Done():
			return &llm.Error{Class: llm.Fatal, Cause: context.Cause(ctx)}
		}
	}
}

// currentHold returns the reason why the call waits now.
func (p *Permit) currentHold() Hold {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	h := p.hold
	if h.why == "" { // it waits behind others
		h = a.ahead(p)
	}
	if h.until.IsZero() || p.state != waits {
		return Hold{Why: h.why}
	}
	return Hold{max(h.until.Sub(a.now()), 0), h.why}
}

// ahead returns the hold of the first waiting call that uses the same windows.
func (a *Account) ahead(p *Permit) hold {
	for _, q := range a.line {
		if q.pool == p.pool && q.hold.why != "" {
			return q.hold
		}
	}
	return hold{why: "others wait, too"}
}

// Release returns an unused permit. After the call it does nothing.
func (p *Permit) Release() {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	p.release()
	a.admitWaiting(a.now())
}

func (p *Permit) release() {
	a := p.account
	switch p.state {
	case waits:
		for i, q := range a.line {
			if q == p {
				a.line = append(a.line[:i], a.line[i+1:]...)
				break
			}
		}
	case entered:
		p.pool.out = p.pool.out.minus(p.need)
		a.crowd.in--
	case counted:
		a.crowd.in--
	case over:
	}
	p.state = over
}

// observeHeaders updates the account from the headers of a response.
func (p *Permit) observeHeaders(status int, all []llm.Window) {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if p.state == entered {
		p.state = counted
		p.pool.out = p.pool.out.minus(p.need)
	}
	if status < 300 && p.state == counted {
		a.crowd.grow()
	}
	p.pool.observeWindows(all, now)
	if len(a.line) > 0 {
		a.admitWaiting(now)
	}
}

// observeResult updates the account from the result of the call.
func (p *Permit) observeResult(resp llm.Response, err error) {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if err == nil && p.state == entered { // its headers were not observed
		a.crowd.grow()
	}
	switch e, ok := errors.AsType[*llm.Error](err); {
	case err == nil && !resp.Estimated:
		p.pool.learn(p.bytes, p.further, resp.Usage, a.rules)
	case ok && (e.Class == llm.Quota || e.Class == llm.Overload):
		a.crowd.shrink(p.begun, now)
		p.pool.close(e, now)
	}
	p.release()
	if len(a.line) > 0 {
		a.admitWaiting(now)
	}
}
