package acpserver

import (
	"context"
	"encoding/json"
	"errors"
)

// runningPrompt is a running prompt.
type runningPrompt struct {
	beside bool
	end    context.CancelCauseFunc
	done   chan struct{}
}

func (s *Server) promptSession(ctx context.Context, params json.RawMessage) (any, func(context.Context) (any, error), error) {
	var p struct {
		ID     string          `json:"sessionId"`
		Prompt json.RawMessage `json:"prompt"`
	}
	if err := decodeParams(params, &p); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.findSession(p.ID)
	if err != nil {
		return nil, nil, err
	}
	text, err := promptText(p.Prompt, one.dir)
	if err != nil {
		return nil, nil, err
	}
	t := &runningPrompt{beside: one.Beside(text), done: make(chan struct{})}
	for other := range one.turns {
		if !other.beside && !t.beside {
			return nil, nil, &rpcRequestError{Code: codeInvalid, Message: "a prompt is being worked on in this session; cancel it, or wait until it is done"}
		}
	}
	ctx, t.end = context.WithCancelCause(ctx)
	one.turns[t] = true
	return nil, func(context.Context) (any, error) {
		stop, err := one.Prompt(ctx, text)
		s.mu.Lock()
		delete(one.turns, t)
		s.mu.Unlock()
		close(t.done)
		cause := context.Cause(ctx)
		t.end(nil)
		if errors.Is(cause, ErrCancelled) || errors.Is(cause, ErrClosed) {
			return map[string]any{"stopReason": PromptCancelled}, nil
		}
		return map[string]any{"stopReason": stop}, err
	}, nil
}

func (s *Server) closeSession(_ context.Context, params json.RawMessage) (any, func(context.Context) (any, error), error) {
	var p struct {
		ID string `json:"sessionId"`
	}
	if err := decodeParams(params, &p); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, err := s.findSession(p.ID)
	if err != nil {
		return nil, nil, err
	}
	delete(s.sessions, p.ID)
	return nil, func(context.Context) (any, error) {
		s.mu.Lock()
		var all []*runningPrompt
		for t := range one.turns {
			t.end(ErrClosed)
			all = append(all, t)
		}
		s.mu.Unlock()
		for _, t := range all {
			<-t.done
		}
		return struct{}{}, nil
	}, nil
}

// endAllPrompts ends all prompts. Other requests are still answered: a client may close its sending end
// and continue to read.
func (s *Server) endAllPrompts(why error) (prompts int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.sessions {
		for t := range one.turns {
			t.end(why)
			prompts++
		}
	}
	return prompts
}
