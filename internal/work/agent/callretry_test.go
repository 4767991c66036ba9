package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// busy is a provider that has too much to do for a while.
type busy struct {
	until time.Time
	errs  []*llm.ModelCallError // of the first calls; the others are overloaded
	calls int
	last  llm.Request
}

func (m *busy) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	m.calls++
	m.last = r
	switch {
	case m.calls <= len(m.errs):
		return llm.Response{Usage: nexus.Usage{Input: 10}}, m.errs[m.calls-1]
	case time.Now().Before(m.until):
		return llm.Response{}, &llm.ModelCallError{Class: llm.Overload, Status: 529, Cause: errors.New("overloaded")}
	}
	handin := json.RawMessage(`{"summary": "Done.", "status": "done"}`)
	return llm.Response{
		Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: "c1", Tool: "finish", Input: handin}}}},
		Stop:    llm.StopTools, Usage: nexus.Usage{Input: 10, Output: 1},
	}, nil
}

// TestOverloadIsWaitedFor lets a provider be overloaded for three hours: the
// session continues when it is not any more, as if no time had passed.
func TestOverloadIsWaitedFor(t *testing.T) {
	b := newBench(t, nexus.Coder, llmtest.Script{})
	b.brief.Limits.SessionTime = 10 * time.Minute
	b.brief.Retry = llm.CallRetryPolicy{}
	synctest.Test(t, func(t *testing.T) {
		quota := &llm.ModelCallError{Class: llm.Quota, Status: 429, After: "40", Cause: errors.New("slow down")}
		b.model = &busy{until: time.Now().Add(3 * time.Hour), errs: []*llm.ModelCallError{quota}}
		out, err := b.run(t.Context())
		if err != nil || out.Outcome != nexus.Accepted || out.Turns != 1 {
			t.Fatalf("%+v, %v", out, err)
		}
	})
	settled(t, b)
	var waits []time.Duration
	for _, f := range b.desk.RecordedFacts() {
		if f, ok := f.(nexus.ModelCallDelayed); ok {
			waits = append(waits, f.Wait)
			if f.Wait > 5*time.Minute || f.Why == "" || f.Said == "" {
				t.Errorf("%+v", f)
			}
		}
	}
	if len(waits) < 36 || len(waits) > 60 || waits[0] != 40*time.Second {
		t.Errorf("%d waits: %v", len(waits), waits)
	}
}

// TestStopInTheWaitBooksTheTryOnce ends the wait for the next try: the worker
// hears why at once, and what the failed try cost is booked once.
func TestStopInTheWaitBooksTheTryOnce(t *testing.T) {
	for name, hard := range map[string]bool{"let go": false, "cancelled": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nexus.Coder, llmtest.Script{})
			b.brief.Retry = llm.CallRetryPolicy{}
			synctest.Test(t, func(t *testing.T) {
				why := errors.New("the run drains")
				stop, cancel := context.WithCancelCause(t.Context())
				start := time.Now()
				time.AfterFunc(time.Minute, func() { cancel(why) })
				ctx := t.Context()
				b.brief.Spare = func(context.Context) (context.Context, context.CancelFunc) { return stop, func() {} }
				if hard {
					ctx, b.brief.Spare = stop, nil
				}
				b.model = &busy{errs: []*llm.ModelCallError{{Class: llm.Quota, Status: 429, After: "3600", Cause: errors.New("come back later")}}}
				if _, err := b.run(ctx); !errors.Is(err, why) || time.Since(start) != time.Minute {
					t.Errorf("after %s: %v", time.Since(start), err)
				}
				cancel(why)
			})
			settled(t, b)
			var booked []nexus.Money
			for _, f := range b.desk.RecordedFacts() {
				if f, ok := f.(nexus.BudgetSettled); ok {
					booked = append(booked, f.Money)
				}
			}
			if len(booked) != 1 || booked[0] != 10 {
				t.Errorf("booked %v", booked)
			}
		})
	}
}

// hiccup is a provider that cannot answer for a while.
type hiccup struct {
	busy
	err *llm.ModelCallError
}

func (m *hiccup) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	if time.Now().Before(m.until) {
		return llm.Response{}, m.err
	}
	return m.busy.Stream(ctx, r, heard)
}

// TestHiccupIsWaitedFor lets a provider be broken, or out of reach, for five
// minutes, with the shortest waits that may be drawn: the session continues.
func TestHiccupIsWaitedFor(t *testing.T) {
	for name, err := range map[string]*llm.ModelCallError{
		"500":     {Class: llm.Transient, Status: 500, Cause: errors.New("broke")},
		"502":     {Class: llm.Transient, Status: 502, Cause: errors.New("bad gateway")},
		"503":     {Class: llm.Overload, Status: 503, Cause: errors.New("unavailable")},
		"refused": {Class: llm.Transient, Code: "connection", Cause: &net.OpError{Op: "dial", Err: errors.New("refused")}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nexus.Coder, llmtest.Script{})
			b.brief.Limits.SessionTime = time.Minute
			b.brief.Retry = llm.CallRetryPolicy{Jitter: func() float64 { return 0 }}
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				b.model = &hiccup{busy: busy{until: start.Add(5 * time.Minute)}, err: err}
				out, err := b.run(t.Context())
				if took := time.Since(start); err != nil || out.Outcome != nexus.Accepted || took > 15*time.Minute {
					t.Fatalf("%+v after %s: %v", out, took, err)
				}
			})
			settled(t, b)
		})
	}
}
