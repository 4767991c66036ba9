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

// AccountLimiter is the known state of one account's limits.
type AccountLimiter struct {
	now   func() time.Time
	rules CallCountingRules

	mu    sync.Mutex // guards the fields below; never held while waiting
	crowd concurrencyLimiter
	pools map[string]*limitWindowPool // by model
	line  []*CallPermit               // waiting calls, in the order of arrival
	round int64
	timer *time.Timer // for the next end of a window that the line waits for
}

// CallPermit is the permission for one call.
type CallPermit struct {
	account *AccountLimiter
	pool    *limitWindowPool
	bytes   int64 // of the request
	further int   // 1 if it continues a conversation, else 0
	need    callLimitUse
	begun   time.Time

	// The fields below are guarded by the account's mutex.
	state callPermitState
	hold  callWaitReason
	ready chan struct{} // closed when it need not wait any longer
	err   error         // why it must not wait
}

// callPermitState is the progress of a call.
type callPermitState int

const (
	stateWaiting callPermitState = iota
	stateEntered                 // it counts as running
	stateCounted                 // and the provider has counted it
	stateOver
)

// CallWait is the reason why a call waits.
type CallWait struct {
	Wait time.Duration // expected time until it may continue; 0 if unknown
	Why  string
}

// Waits that are reported to the caller.
const (
	noticeAfter        = time.Second     // a wait that is known to be at least this long
	noticeUnknownAfter = 5 * time.Second // after this time, a wait of unknown length
)

// admitIfFree admits a call if it need not wait.
func (a *AccountLimiter) admitIfFree(p *CallPermit, now time.Time) bool {
	if p.pool.round == a.round && len(a.line) > 0 || a.crowd.isFull() { // behind earlier calls
		return false
	}
	if p.hold = p.pool.waitReasonFor(p.need, now); p.hold.why != "" {
		return false
	}
	a.admitCall(p, now)
	return true
}

// admitCall counts a call as running.
func (a *AccountLimiter) admitCall(p *CallPermit, now time.Time) {
	if p.pool.rests {
		p.pool.rests = false
		a.crowd.resetLimit()
	}
	p.state, p.begun = stateEntered, now
	a.crowd.in++
	p.pool.out = p.pool.out.plus(p.need)
}

// admitWaiting admits the waiting calls that fit, in the order of arrival. A call that must wait
// blocks the later ones that use the same windows.
func (a *AccountLimiter) admitWaiting(now time.Time) {
	a.round++
	var next time.Time
	kept := a.line[:0]
	for _, p := range a.line {
		if p.pool.round == a.round {
			kept = append(kept, p)
			continue
		}
		h := p.pool.waitReasonFor(p.need, now)
		switch wait := h.until.Sub(now); {
		case h.why == "" && a.crowd.isFull():
			p.hold = callWaitReason{why: fmt.Sprintf("%d calls are in progress", a.crowd.in)}
		case h.why == "":
			a.admitCall(p, now)
			close(p.ready)
			continue
		case h.end && wait > maxPatience:
			p.state, p.err, p.pool.rests = stateOver, waitTooLongError(h, wait), true
			close(p.ready)
			continue
		default:
			p.hold, p.pool.round = h, a.round
			p.pool.rests = p.pool.rests || h.end && wait >= noticeAfter
			if h.end && (next.IsZero() || h.until.Before(next)) {
				next = h.until
			}
		}
		kept = append(kept, p)
	}
	clear(a.line[len(kept):])
	a.line = kept
	a.scheduleQueueCheck(next, now)
}

// waitTooLongError returns the error of a call that would have to wait too long.
func waitTooLongError(h callWaitReason, wait time.Duration) error {
	return &llm.ModelCallError{
		Class: llm.Quota, Code: "limit", Empty: true, After: strconv.FormatFloat(wait.Seconds(), 'f', 3, 64),
		Cause: errors.New("not asked: " + h.why),
	}
}

// scheduleQueueCheck schedules the next check of the line; zero for none.
func (a *AccountLimiter) scheduleQueueCheck(at, now time.Time) {
	switch wait := at.Sub(now); {
	case at.IsZero() && a.timer != nil:
		a.timer.Stop()
	case at.IsZero():
	case a.timer == nil:
		a.timer = time.AfterFunc(wait, a.checkQueueNow)
	default:
		a.timer.Reset(wait)
	}
}

func (a *AccountLimiter) checkQueueNow() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.admitWaiting(a.now())
}

// waitForPermit waits until a call may be made. If that takes long, it calls held once with the reason;
// held may be nil.
func (a *AccountLimiter) waitForPermit(ctx context.Context, model string, r llm.Request, held func(CallWait) error) (*CallPermit, error) {
	p := a.enqueueCall(model, r, true)
	if p.ready == nil {
		return p, nil
	}
	if err := p.waitInQueue(ctx, held); err != nil {
		p.Release()
		return nil, err
	}
	return p, nil
}

// enqueueCall admits a call at once, or queues it; if it is not to wait, it is not queued.
func (a *AccountLimiter) enqueueCall(model string, r llm.Request, queue bool) *CallPermit {
	bytes, further := llm.EstimateRequest(r), furtherIndex(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if a.rules.Shared {
		model = ""
	}
	l := a.pools[model]
	if l == nil {
		l = newLimitWindowPool()
		a.pools[model] = l
	}
	p := &CallPermit{account: a, pool: l, bytes: bytes, further: further, need: l.estimateNeed(bytes, further, r.MaxTokens, a.rules)}
	if !a.admitIfFree(p, now) && queue {
		p.ready = make(chan struct{})
		a.line = append(a.line, p)
		a.admitWaiting(now)
	}
	return p
}

// waitInQueue waits in the line.
func (p *CallPermit) waitInQueue(ctx context.Context, held func(CallWait) error) error {
	var tell <-chan time.Time
	if held != nil {
		if h := p.currentWaitReason(); h.Wait >= noticeAfter {
			if err := held(h); err != nil {
				return err
			}
		} else {
			t := time.NewTimer(noticeUnknownAfter)
			defer t.Stop()
			tell = t.C
		}
	}
	for {
		select {
		case <-p.ready:
			return p.err // it was set before
		case <-tell:
			if err := held(p.currentWaitReason()); err != nil {
				return err
			}
		case <-ctx.Done():
			return &llm.ModelCallError{Class: llm.Fatal, Cause: context.Cause(ctx)}
		}
	}
}

// currentWaitReason returns the reason why the call waits now.
func (p *CallPermit) currentWaitReason() CallWait {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	h := p.hold
	if h.why == "" { // it waits behind others
		h = a.waitReasonOfFirst(p)
	}
	if h.until.IsZero() || p.state != stateWaiting {
		return CallWait{Why: h.why}
	}
	return CallWait{max(h.until.Sub(a.now()), 0), h.why}
}

// waitReasonOfFirst returns the hold of the first waiting call that uses the same windows.
func (a *AccountLimiter) waitReasonOfFirst(p *CallPermit) callWaitReason {
	for _, q := range a.line {
		if q.pool == p.pool && q.hold.why != "" {
			return q.hold
		}
	}
	return callWaitReason{why: "others wait, too"}
}

// Release returns an unused permit. After the call it does nothing.
func (p *CallPermit) Release() {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	p.releasePermit()
	a.admitWaiting(a.now())
}

func (p *CallPermit) releasePermit() {
	a := p.account
	switch p.state {
	case stateWaiting:
		for i, q := range a.line {
			if q == p {
				a.line = append(a.line[:i], a.line[i+1:]...)
				break
			}
		}
	case stateEntered:
		p.pool.out = p.pool.out.minus(p.need)
		a.crowd.in--
	case stateCounted:
		a.crowd.in--
	case stateOver:
	}
	p.state = stateOver
}

// observeHeaders updates the account from the headers of a response.
func (p *CallPermit) observeHeaders(status int, all []llm.AccountLimitWindow) {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if p.state == stateEntered {
		p.state = stateCounted
		p.pool.out = p.pool.out.minus(p.need)
	}
	if status < 300 && p.state == stateCounted {
		a.crowd.raiseLimit()
	}
	p.pool.observeWindows(all, now)
	if len(a.line) > 0 {
		a.admitWaiting(now)
	}
}

// observeResult updates the account from the result of the call.
func (p *CallPermit) observeResult(resp llm.Response, err error) {
	a := p.account
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if err == nil && p.state == stateEntered { // its headers were not observed
		a.crowd.raiseLimit()
	}
	switch e, ok := errors.AsType[*llm.ModelCallError](err); {
	case err == nil && !resp.Estimated:
		p.pool.learnUsage(p.bytes, p.further, resp.Usage, a.rules)
	case ok && (e.Class == llm.Quota || e.Class == llm.Overload):
		a.crowd.lowerLimit(p.begun, now)
		p.pool.blockCallsUntil(e, now)
	}
	p.releasePermit()
	if len(a.line) > 0 {
		a.admitWaiting(now)
	}
}
