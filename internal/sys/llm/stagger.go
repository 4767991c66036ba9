package llm

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"time"
)

// How calls that begin alike are staggered.
const (
	headStart = 3 * time.Second // longest that a call waits for another one
	warmFor   = 4 * time.Minute // providers keep what was read for five at least
)

// StaggerCalls returns m with calls that begin alike staggered: while nothing of
// their system prompt and tools is in the provider's cache, the first one goes
// ahead, and the others wait until its answer begins, so that they read from
// the cache what it wrote. They wait three seconds at most. Models that do
// not cache are asked at once.
func (a ModelCapabilities) StaggerCalls(m Model, provider string, now func() time.Time) Model {
	return &staggeredModel{Model: m, able: a, provider: provider, now: now, ahead: map[[sha256.Size]byte]*lead{}}
}

type staggeredModel struct {
	Model
	able     ModelCapabilities
	provider string
	now      func() time.Time

	mu    sync.Mutex // guards ahead and what it holds
	ahead map[[sha256.Size]byte]*lead
}

// lead is a beginning that calls have in common.
type lead struct {
	warm  time.Time     // until when it is in the cache
	going chan struct{} // closed when the call that goes ahead needs to be waited for no more; nil without one
}

// Stream implements [Model].
func (s *staggeredModel) Stream(ctx context.Context, r Request, heard func(Delta)) (Response, error) {
	if !s.able.traitsOf(s.provider + "/" + r.Model).Caches {
		return s.Model.Stream(ctx, r, heard)
	}
	key := beginning(r)
	first, err := s.queue(ctx, key)
	if err != nil {
		return Response{}, &Error{Class: Fatal, Cause: err}
	}
	var once sync.Once
	begun := func(warm bool) { once.Do(func() { s.begun(key, first, warm) }) }
	resp, err := s.Model.Stream(ctx, r, func(d Delta) {
		begun(true)
		if heard != nil {
			heard(d)
		}
	})
	begun(err == nil)
	return resp, err
}

// queue waits until a call may be made, and reports whether it goes ahead of
// others.
func (s *staggeredModel) queue(ctx context.Context, key [sha256.Size]byte) (first bool, _ error) {
	var most <-chan time.Time
	for {
		going, first := s.enter(key)
		if going == nil {
			return first, nil
		}
		if most == nil {
			t := time.NewTimer(headStart)
			defer t.Stop()
			most = t.C
		}
		select {
		case <-going: // it begins, or the next one goes ahead
		case <-most:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

// enter returns what a call has to wait for, nil for nothing, and whether it
// goes ahead of others.
func (s *staggeredModel) enter(key [sha256.Size]byte) (going <-chan struct{}, first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ahead[key]
	if l == nil {
		l = &lead{}
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

// begun lets those continue that wait for a call: its answer begins, or it has
// failed.
func (s *staggeredModel) begun(key [sha256.Size]byte, first, warm bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.ahead[key]
	if warm {
		l.warm = s.now().Add(warmFor)
	}
	if first {
		close(l.going)
		l.going = nil
	}
}

// beginning names what requests of siblings have in common.
func beginning(r Request) [sha256.Size]byte {
	data, err := json.Marshal([]any{r.Model, r.Tools, r.System})
	if err != nil { // a schema that is no JSON, which the provider will say
		data = []byte(r.Model)
	}
	return sha256.Sum256(data)
}
