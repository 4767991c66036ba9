package llm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"
)

// How calls with the same beginning are staggered.
const (
	maxHeadStart  = 3 * time.Second // limit of the wait for another call
	cacheWarmTime = 4 * time.Minute // providers cache for at least five minutes
)

// StaggerForCache returns m with calls of the same beginning staggered: while their system prompt and
// tools are not in the provider's cache, the first call is sent, and the others wait until its
// answer begins, so that they can read the cache that it wrote. They wait three seconds at most.
// Calls of models without a cache are sent at once.
func (a ModelCapabilityTable) StaggerForCache(m Model, provider string, now func() time.Time) Model {
	return &cacheStaggeredModel{Model: m, able: a, provider: provider, now: now, ahead: map[[sha256.Size]byte]*sharedPromptPrefix{}}
}

type cacheStaggeredModel struct {
	Model
	able     ModelCapabilityTable
	provider string
	now      func() time.Time

	mu    sync.Mutex // guards ahead and its values
	ahead map[[sha256.Size]byte]*sharedPromptPrefix
}

// sharedPromptPrefix is the state of a common beginning of calls.
type sharedPromptPrefix struct {
	warm  time.Time     // end of its time in the cache
	going chan struct{} // closed when others need not wait for the first call any longer; nil without one
}

// Stream implements [Model].
func (s *cacheStaggeredModel) Stream(ctx context.Context, r Request, heard func(AnswerDelta)) (Response, error) {
	if !s.able.traitsOf(s.provider + "/" + r.Model).Caches {
		return s.Model.Stream(ctx, r, heard)
	}
	key := prefixHash(r)
	first, err := s.waitForPromptCache(ctx, key)
	if err != nil {
		return Response{}, &ModelCallError{Class: Fatal, Cause: err}
	}
	var once sync.Once
	begun := func(warm bool) { once.Do(func() { s.releaseWaitingCalls(key, first, warm) }) }
	resp, err := s.Model.Stream(ctx, r, func(d AnswerDelta) {
		begun(true)
		if heard != nil {
			heard(d)
		}
	})
	begun(err == nil)
	return resp, err
}

// waitForPromptCache waits until a call may be sent, and reports whether it is the first.
func (s *cacheStaggeredModel) waitForPromptCache(ctx context.Context, key [sha256.Size]byte) (first bool, _ error) {
	var most <-chan time.Time
	for {
		going, first := s.joinCallQueue(key)
		if going == nil {
			return first, nil
		}
		if most == nil {
			t := time.NewTimer(maxHeadStart)
			defer t.Stop()
			most = t.C
		}
		select {
		case <-going: // its answer begins, or another call becomes the first
		case <-most:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// joinCallQueue returns the channel that a call must wait for, or nil, and whether it is the first.
func (s *cacheStaggeredModel) joinCallQueue(key [sha256.Size]byte) (going <-chan struct{}, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ahead[key]
	if l == nil {
		l = &sharedPromptPrefix{}
		s.ahead[key] = l
	}
	if l.going != nil {
		return l.going, false
	}
	if s.now().Before(l.warm) {
		return nil, false
	}
	l.going = make(chan struct{})
	return nil, true
}

// releaseWaitingCalls releases the calls that wait for a call: its answer begins, or it has failed.
func (s *cacheStaggeredModel) releaseWaitingCalls(key [sha256.Size]byte, first, warm bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ahead[key]
	if warm {
		l.warm = s.now().Add(cacheWarmTime)
	}
	if first {
		close(l.going)
		l.going = nil
	}
}

// prefixHash returns the hash of the part that sibling requests have in common.
func prefixHash(r Request) [sha256.Size]byte {
	data, err := json.Marshal([]any{r.Model, r.Tools, r.System})
	if err != nil { // an invalid schema, which the provider will report
		data = []byte(r.Model)
	}
	return sha256.Sum256(data)
}
